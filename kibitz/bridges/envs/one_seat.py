"""The Gymnasium environment of one seat. `kibitz.gym.make` makes it; this module needs Gymnasium."""

from typing import Any

import gymnasium
import numpy as np

from ...core.names import BadInput
from ...core.trust import only_named
from ...games import OVER, Game, full_name, load, view_of
from ...play.play import check_legal
from ...play.players import label, make_for
from .table import RENDER_MODES, Table, spaces


class OneSeat(gymnasium.Env[dict[str, np.ndarray], np.int64]):
    """One seat against the players of the others. The arguments are those of `kibitz.gym.make`.

    If a game ends before the seat has had a turn, the first action does nothing and ends the episode with the payoff.
    """

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": 1}

    def __init__(
        self,
        game: Game | str,
        against: Any = "random",
        seat: int | None = 0,
        render_mode: str | None = None,
        trust: bool = False,
    ) -> None:
        given = against if isinstance(against, list) else [against]
        with only_named(game, *given, trust=trust):
            self.game = load(game)
            chosen = _one_per_seat(self.game, given)
            self.names = [label(each) for each in chosen]
            self.players = [make_for(each, self.game) for each in chosen]
        seats = self.game.facts.seats
        if seat is not None and seat not in range(seats):
            raise BadInput(f"seat {seat} should be 0 to {seats - 1}, or None")
        self._wanted = seat
        self.render_mode = render_mode
        self.table = Table(self.game, render_mode)
        self.observation_space, self.action_space = spaces(self.game)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        super().reset(seed=seed)
        seats = range(self.game.facts.seats)
        self.seat = int(self.np_random.integers(len(seats))) if self._wanted is None else self._wanted
        self.table.start(self.np_random)
        self.others = dict(zip((other for other in seats if other != self.seat), range(len(seats)), strict=False))
        for other, number in self.others.items():
            self.players[number].begin(self.game, other, int(self.np_random.integers(2**63)))
        self._to_own_turn()
        return self._seen()

    def step(self, action: Any) -> tuple[dict[str, np.ndarray], float, bool, bool, dict[str, Any]]:
        if self.table.turn == self.seat:
            self.table.play(action)
            self._to_own_turn()
        over = self.table.turn == OVER
        return (seen := self._seen())[0], self.table.payoffs[self.seat] if over else 0.0, over, False, seen[1]

    def _to_own_turn(self) -> None:
        """Let the other players move until it is this seat's turn."""
        while (turn := self.table.turn) not in (OVER, self.seat):
            number = self.others[turn]
            action = int(self.players[number].move(view_of(self.game, self.table.state.record, turn)))
            check_legal(self.names[number], action, self.table.state.legal_actions(), 0)
            self.table.play(action)

    def _seen(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        seen = self.table.observe(self.seat, idle=1)
        info = {"action_mask": seen["action_mask"].copy(), "seat": self.seat}
        if self.table.illegal is not None:
            info["illegal_action"] = True
        if self.render_mode == "human":
            self.render()
        return seen, info

    def render(self) -> Any:
        return self.table.render(self.seat)


def _one_per_seat(game: Game, players: list[Any]) -> list[Any]:
    """One player, by name or as an object, for each of the other seats."""
    others = game.facts.seats - 1
    if len(players) == 1 and isinstance(players[0], str):
        return players * others
    if len(players) != others:
        raise BadInput(f"{full_name(game)} has {others} other seats: against should be a name or a list of {others}")
    return players
