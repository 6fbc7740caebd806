"""Centered RMSProp (Graves 2013): steps are divided by the standard deviation of the gradient, with momentum."""

import numpy as np

MOMENTUM = 0.9
DECAY = 0.9  # of the running means
EPSILON = 1e-8


class RmsProp:
    def __init__(self, rate: float = 0.005, inside: bool = False) -> None:
        """
        Args:
            rate: The learning rate.
            inside: Whether epsilon is added inside the square root.
        """
        self.rate, self.inside = rate, inside
        self.square, self.mean, self.speed = np.zeros(0), np.zeros(0), np.zeros(0)

    def step(self, gradient: np.ndarray) -> np.ndarray:
        """Return the change of the weights for a gradient; the number of weights may have grown since the last step."""
        more = np.zeros(len(gradient) - len(self.speed))
        square, mean, speed = (np.append(part, more) for part in (self.square, self.mean, self.speed))
        self.square = DECAY * square + (1 - DECAY) * gradient**2
        self.mean = DECAY * mean + (1 - DECAY) * gradient
        varies = np.maximum(self.square - self.mean**2, 0.0)  # rounding may make it negative
        scale = np.sqrt(varies + EPSILON) if self.inside else np.sqrt(varies) + EPSILON
        self.speed = MOMENTUM * speed - self.rate * gradient / scale
        return self.speed

    def arrays(self) -> dict[str, np.ndarray]:
        return {"square": self.square, "mean": self.mean, "speed": self.speed}

    def set(self, arrays: dict[str, np.ndarray]) -> None:
        self.square, self.mean, self.speed = arrays["square"], arrays["mean"], arrays["speed"]
