"""Centered RMSProp (Graves 2013): steps are divided by the standard deviation of the gradient, with momentum."""

import numpy as np


class RmsProp:
    def __init__(
        self,
        rate: float = 0.005,
        momentum: float = 0.9,
        decay: float = 0.9,
        epsilon: float = 1e-8,
        inside: bool = False,
    ) -> None:
        self.rate, self.momentum, self.decay, self.epsilon, self.inside = rate, momentum, decay, epsilon, inside
        self.square, self.mean, self.speed = np.zeros(0), np.zeros(0), np.zeros(0)

    def step(self, gradient: np.ndarray) -> np.ndarray:
        """Return the change of the weights for a gradient; the number of weights may have grown since the last step."""
        more = np.zeros(len(gradient) - len(self.speed))
        square, mean, speed = (np.append(part, more) for part in (self.square, self.mean, self.speed))
        self.square = self.decay * square + (1 - self.decay) * gradient**2
        self.mean = self.decay * mean + (1 - self.decay) * gradient
        varies = np.maximum(self.square - self.mean**2, 0.0)  # rounding may make it negative
        scale = np.sqrt(varies + self.epsilon) if self.inside else np.sqrt(varies) + self.epsilon
        self.speed = self.momentum * speed - self.rate * gradient / scale
        return self.speed

    def arrays(self) -> dict[str, np.ndarray]:
        return {"square": self.square, "mean": self.mean, "speed": self.speed}

    def set(self, arrays: dict[str, np.ndarray]) -> None:
        self.square, self.mean, self.speed = arrays["square"], arrays["mean"], arrays["speed"]
