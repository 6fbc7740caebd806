"""Players that need nothing but the rules: chance, habit, and people."""

from typing import Any, NamedTuple

import numpy as np

from ..games import Game, full_name, legal_actions
from ..games.protocol import usual
from ..jit import generators
from ..names import BadInput
from ..search.advice import Advice, fixed_advice
from ..search.policies import Uniform, usual_action
from .player import Advised, Weighing


class Random(Weighing):
    """Plays uniformly at random."""

    class Options(NamedTuple):
        pass

    def __init__(self, options: Any) -> None:
        pass

    def policy_for(self, game: Game) -> Any:
        return Uniform()


class AsUsual(Advised):
    """Plays what the game itself calls usual: rules of thumb, no search."""

    class Options(NamedTuple):
        pass

    def __init__(self, options: Any) -> None:
        pass

    def begin(self, game: Game, seat: int, seed: int) -> None:
        if type(game).usual is usual:
            raise BadInput(f"{full_name(game)} doesn't say what is usual")
        super().begin(game, seat, seed)
        self.rng = generators(seed, 1)[0]

    def advise(self, view: Any) -> Advice:
        chosen = usual_action(self.game, view, self.rng)
        return fixed_advice(self.game, view, (np.array(legal_actions(self.game, view)) == chosen).astype(float))


class DokoRules(AsUsual):
    """The same by the name that players of Doppelkopf know."""

    def begin(self, game: Game, seat: int, seed: int) -> None:
        if game.name != "doppelkopf":
            raise BadInput("doko-rules plays doppelkopf; usual plays any game that says what is usual")
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
        legal = ", ".join(self.game.spell(view, action) for action in legal_actions(self.game, view))
        print(f"\n{self.game.show(view, self.seat)}")
        while True:
            try:
                return self.game.read(view, input(f"seat {self.seat + 1}, your move ({legal}): "))
            except BadInput as error:
                print(error)
            except EOFError:
                raise BadInput("the human has left the table") from None
