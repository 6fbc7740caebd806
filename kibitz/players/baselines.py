"""Players that need nothing but the rules: chance, habit, and people."""

from typing import Any, NamedTuple

import numpy as np

from ..core.names import BadInput
from ..games import Game, full_name, legal_actions
from ..games.game import heuristic
from ..jit import generators
from ..search.advice import Advice, fixed_advice
from ..search.policies import Uniform, heuristic_action
from .player import Advised, Weighing


class Random(Weighing):
    """Plays uniformly at random."""

    class Options(NamedTuple):
        pass

    def __init__(self, options: Any) -> None:
        pass

    def policy_for(self, game: Game) -> Any:
        return Uniform()


class HeuristicPlayer(Advised):
    """Plays what the game itself calls heuristic: rules of thumb, no search."""

    class Options(NamedTuple):
        pass

    def __init__(self, options: Any) -> None:
        pass

    def begin(self, game: Game, seat: int, seed: int) -> None:
        if type(game).heuristic is heuristic:
            raise BadInput(f"{full_name(game)} doesn't say what is heuristic")
        super().begin(game, seat, seed)
        self.rng = generators(seed, 1)[0]

    def advise(self, view: Any) -> Advice:
        chosen = heuristic_action(self.game, view, self.rng)
        return fixed_advice(self.game, view, (np.array(legal_actions(self.game, view)) == chosen).astype(float))


class DokoRules(HeuristicPlayer):
    """The same by the name that players of Doppelkopf know."""

    def begin(self, game: Game, seat: int, seed: int) -> None:
        if game.name != "doppelkopf":
            raise BadInput("doko-rules plays doppelkopf; heuristic plays any game that says what is heuristic")
        super().begin(game, seat, seed)


class Human:
    """A person at the terminal, in a match as any other player. (`kibitz play` is the comfortable way to play.)"""

    class Options(NamedTuple):
        pass

    advice: Advice | None = None

    def __init__(self, options: Any) -> None:
        pass

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
                raise BadInput("the human has left the table") from None
