"""Random play in pgx, in an interpreter of its own that has pgx and JAX: `python pgx_worker.py GAME BATCH`.

Reads numbers of steps of the whole batch, one per line, plays as many, and answers each with a line.
It is pinned to one core.
"""

import os
import sys

os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
os.environ["JAX_PLATFORMS"] = "cpu"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import pgx  # noqa: E402
from pgx.experimental import auto_reset  # noqa: E402


def main(name: str, batch: int) -> None:
    env = pgx.make(name)
    step_all = jax.vmap(auto_reset(env.step, env.init))

    @jax.jit
    def step(state, key):
        """A random legal action in each game, as in pgx's documentation, and the step, in one compiled function."""
        key, own, chance = jax.random.split(key, 3)
        logits = jnp.where(state.legal_action_mask, 0.0, -jnp.inf)
        actions = jax.random.categorical(own, logits, axis=1)
        return step_all(state, actions, jax.random.split(chance, batch)), key

    state = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.key(1), batch))
    carried = state, jax.random.key(2)
    for line in sys.stdin:
        for _ in range(int(line)):
            carried = step(*carried)
        jax.block_until_ready(carried)
        print("done", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
