"""Bots of OpenSpiel as players, in Kibitz's games and in OpenSpiel's own."""

from collections.abc import Callable
from typing import Annotated, Any

import numpy as np

from ..core.names import EXPLORATION, BadInput, Interval, choose
from ..games import Game, view_of
from ..games.openspiel import module
from ..jit import generators
from ..play.players.player import player
from ..search.advice import Advice
from ..search.determinization import sample_worlds

NewBot = Callable[[Any, int, int], Any]  # OpenSpiel's game, seat, seed -> bot


class BotPlayer:
    """A bot of OpenSpiel as a player: `BotPlayer(lambda game, seat, seed: ...)`.

    A bot expects a whole state, and a player knows its view only: where something is hidden the bot gets a sampled
    world that fits the view.
    """

    advice: Advice | None = None

    def __init__(self, new_bot: NewBot) -> None:
        self.new_bot = new_bot
        self.known: tuple[Game, Any] | None = None

    def begin(self, game: Game, seat: int, seed: int) -> None:
        module()
        from . import openspiel_adapter as adapter

        if self.known is None or self.known[0] is not game:
            self.known = game, adapter.spiel_game(game)
        self.adapter, self.game, self.seat = adapter, game, seat
        self.rng = generators(seed, 1)[0]
        self.bot = self.new_bot(self.known[1], seat, seed % 2**31)
        if hasattr(self.bot, "set_resampler"):
            self.bot.set_resampler(self.resampled)

    def move(self, view: Any) -> int:
        return int(self.bot.step(self.sampled(view, self.seat)))

    def sampled(self, view: Any, seat: int) -> Any:
        """A state of OpenSpiel that fits a view."""
        assert self.known is not None
        world = sample_worlds(self.game, view, seat, 1, self.rng)[0] if self.game.facts.hidden else view
        return self.adapter.state_of(self.known[1], self.game, world)

    def resampled(self, state: Any, seat: int) -> Any:
        """Another state that the seat can't tell from this one."""
        return self.sampled(view_of(self.game, self.adapter.record_of(self.game, state), seat), seat)


@player("openspiel-bot")
class OpenSpielBot(BotPlayer):
    """A bot of OpenSpiel, in Python and slow: mcts, ismcts, or one that is registered with OpenSpiel."""

    example = "mcts,simulations=100"

    def __init__(
        self,
        bot: Annotated[str, "mcts (sees one sampled world), ismcts, or a bot that is registered with OpenSpiel"],
        simulations: Annotated[int, "simulations per move of mcts and ismcts", Interval(1, 1e9)] = 1000,
        c: Annotated[float, "exploration constant of mcts and ismcts", EXPLORATION] = 2.0,
    ) -> None:
        module()
        choose("bot of OpenSpiel", bot, ["mcts", "ismcts", *module().registered_bots()])
        self.options = {"bot": bot, "simulations": simulations, "c": c}

        def new_bot(game: Any, seat: int, seed: int) -> Any:
            from open_spiel.python.algorithms import ismcts, mcts
            from open_spiel.python.bots.uniform_random import UniformRandomBot

            draws = np.random.RandomState(seed)
            evaluator = mcts.RandomRolloutEvaluator(1, draws)
            if bot == "mcts":
                return mcts.MCTSBot(game, c, simulations, evaluator, random_state=draws)
            if bot == "ismcts":
                if game.get_type().information == module().GameType.Information.PERFECT_INFORMATION:
                    raise BadInput("OpenSpiel's ismcts plays games with hidden information only: use mcts")
                return ismcts.ISMCTSBot(game, evaluator, c, simulations, random_state=draws)
            if bot == "uniform_random":  # the registered one ignores seeds
                return UniformRandomBot(seat, draws)
            try:
                return module().load_bot(bot, game, seat)
            except RuntimeError as error:
                raise BadInput(f"OpenSpiel refuses the bot {bot}: {' '.join(str(error).split())[:200]}") from None

        super().__init__(new_bot)
