"""Players that need nothing but the rules: random play, the game's own heuristic, and people."""

from typing import Any

import numpy as np

from ...core.names import BadInput
from ...games import Game, full_name, legal_actions
from ...games.game import heuristic
from ...jit import generators
from ...search.advice import Advice, fixed_advice
from ...search.policies import Uniform, heuristic_action
from .player import AdvisedPlayer, PolicyPlayer, player


@player("random")
class Random(PolicyPlayer):
    """Plays uniformly at random."""

    def policy_for(self, game: Game) -> Any:
        return Uniform()


@player("heuristic")
class HeuristicPlayer(AdvisedPlayer):
    """Plays by the rules of thumb that are part of the game, without search."""

    plays = "games that have a heuristic"

    def begin(self, game: Game, seat: int, seed: int) -> None:
        if type(game).heuristic is heuristic:
            raise BadInput(f"{full_name(game)} has no heuristic")
        super().begin(game, seat, seed)
        self.rng = generators(seed, 1)[0]

    def advise(self, view: Any) -> Advice:
        chosen = heuristic_action(self.game, view, self.rng)
        return fixed_advice(self.game, view, (np.array(legal_actions(self.game, view)) == chosen).astype(float))


@player("human")
class Human:
    """A person at the terminal, in a match like any other player. (`kibitz play` is the comfortable way to play.)"""

    advice: Advice | None = None

    def begin(self, game: Game, seat: int, seed: int) -> None:
        self.game, self.seat = game, seat

    def move(self, view: Any) -> int:
        legal = ", ".join(self.game.action_to_string(view, action) for action in legal_actions(self.game, view))
        print(f"\n{self.game.show(view, self.seat)}")
        while True:
            try:
                return self.game.parse_action(view, input(f"seat {self.seat + 1}, your move ({legal}): "))
            except BadInput as error:
                print(error)
            except EOFError:
                raise BadInput("the human has left the game") from None
