"""The PettingZoo environments of all seats. `kibitz.pettingzoo` makes them; this module needs PettingZoo."""

from typing import Any

import numpy as np
from pettingzoo import AECEnv, ParallelEnv

from ...games import OVER, Game
from .table import RENDER_MODES, Table, spaces


class _AllSeats:
    """The part that both kinds of environments share: agents, spaces, rendering."""

    def __init__(self, game: Game, render_mode: str | None = None) -> None:
        self.game, self.render_mode = game, render_mode
        self.table = Table(game, render_mode)
        self.metadata = {
            "name": f"{game.name}_v0",
            "render_modes": list(RENDER_MODES),
            "render_fps": 1,
            "is_parallelizable": False,
        }
        self.possible_agents = [f"player_{seat}" for seat in range(game.facts.seats)]
        self.seat_of = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self.agents: list[str] = []
        self._spaces = {agent: spaces(game) for agent in self.possible_agents}
        self._generator = np.random.default_rng()

    def observation_space(self, agent: str) -> Any:
        return self._spaces[agent][0]

    def action_space(self, agent: str) -> Any:
        return self._spaces[agent][1]

    def _start(self, seed: int | None) -> None:
        if seed is not None:
            self._generator = np.random.default_rng(seed)
        self.agents = self.possible_agents.copy()
        self.table.start(self._generator)

    def _infos(self) -> dict[str, dict[str, Any]]:
        """Nothing, unless an agent has just ended the game with an illegal action."""
        return {
            agent: {"illegal_action": True} if self.table.illegal == self.seat_of[agent] else {}
            for agent in self.agents
        }

    def _payoffs(self) -> dict[str, float]:
        return {agent: self.table.payoffs[seat] for agent, seat in self.seat_of.items()}

    def _show(self) -> None:
        if self.render_mode == "human":
            self.render()

    def render(self) -> Any:
        return self.table.render()

    def close(self) -> None:
        """There is nothing to close."""


class SeatsInTurn(_AllSeats, AECEnv):
    """One game; each agent acts when it has the turn."""

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        self._start(seed)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = self._infos()
        self._next_agent()

    def step(self, action: Any) -> None:
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0.0
        self.table.play(action)
        self.infos = self._infos()
        self._next_agent()
        self._accumulate_rewards()

    def _next_agent(self) -> None:
        turn = self.table.turn
        if turn == OVER:
            self.rewards = self._payoffs()
            self.terminations = dict.fromkeys(self.agents, True)
            self.agent_selection = self.agents[0]
        else:
            self.agent_selection = self.possible_agents[turn]
        self._show()

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        return self.table.observe(self.seat_of[agent])


class EverySeatActs(_AllSeats, ParallelEnv):
    """All agents act in every step, and the action of the agent to move is played."""

    def __init__(self, game: Game, max_cycles: int | None = None, render_mode: str | None = None) -> None:
        super().__init__(game, render_mode)
        self.metadata["is_parallelizable"] = True
        self.max_cycles = max_cycles

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict, dict]:
        self._start(seed)
        self.cycles = 0
        self._show()
        return self._seen(), self._infos()

    def step(self, actions: dict[str, Any]) -> tuple[dict, dict, dict, dict, dict]:
        if (turn := self.table.turn) != OVER:
            self.table.play(actions[self.possible_agents[turn]])
        self.cycles += 1
        over, infos = self.table.turn == OVER, self._infos()
        rewards = self._payoffs() if over else dict.fromkeys(self.agents, 0.0)
        ends, truncated = over and self.max_cycles is None, self.cycles == self.max_cycles
        if over and not ends and not truncated:
            self.table.start(self._generator)
        self._show()
        found = (
            self._seen(), rewards, dict.fromkeys(self.agents, ends), dict.fromkeys(self.agents, truncated), infos
        )  # fmt: skip
        if ends or truncated:
            self.agents = []
        return found

    def _seen(self) -> dict[str, dict[str, np.ndarray]]:
        return {agent: self.table.observe(self.seat_of[agent], idle=1) for agent in self.agents}
