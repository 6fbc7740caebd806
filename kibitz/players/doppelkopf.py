"""Players of Doppelkopf by networks that learned from games: in trees, alone, and looking ahead."""

from typing import Annotated, Any, NamedTuple

import numpy as np

from ..core.names import Interval
from ..games import Game, legal_actions
from ..jit import generators
from ..learn.doppelkopf import card_network
from ..learn.doppelkopf.next_card import Reading, check_rules, line_so_far, read_network
from ..learn.doppelkopf.next_card_oracle import LineReader
from ..learn.mlp import logits
from ..learn.model_files import network_file
from ..search.advice import Advice, fixed_advice
from ..search.announcements import HowAnnounced, Margin, Worlds
from ..search.batched_ensemble import BatchedEnsemble
from ..search.determinization import sample_worlds
from ..search.ensemble_uct import EXACT, EnsembleUct, Exact
from ..search.mcts import Puct
from ..search.policies import heuristic_action
from ..search.policy_rollouts import PolicyRollouts
from ..search.search import Search
from ..search.selection import OBENAUS_C
from .player import Advised
from .search import Playouts, SearchPlayer, by_simulations, by_worlds, playout_policy


class GuidedPlayer(SearchPlayer):
    """UCT+LSTM (Obenaus 2017): Ensemble UCT with a network that predicts the next card as the prior."""

    def __init__(
        self,
        budget: Annotated[str, "worlds x simulations of each, such as 10x1000"],
        net: Annotated[str, "a run folder of next-card, or its network file"],
        c: Annotated[float, "exploration constant, for rewards from -1 to 1"] = OBENAUS_C,
        playouts: Playouts = "random",
        exact: Exact = EXACT,
        announcements: HowAnnounced = "distribution",
        worlds: Worlds = 400,
        margin: Margin = 0.0,
    ) -> None:
        simulations, seconds, settings = by_worlds(budget)
        network = read_network(network_file(net))[0]

        def new_search(game: Game) -> Search:
            check_rules(game)
            policy = playout_policy(game, playouts)
            reader = LineReader(network)
            return BatchedEnsemble(
                game, reader, 0, settings["determinizations"], c, exact, announcements, worlds, margin, policy
            )

        super().__init__(new_search, simulations, seconds)


class _PlaysCards(Advised):
    """Chooses a card at once, and says what is usual."""

    def begin(self, game: Game, seat: int, seed: int) -> None:
        check_rules(game)
        super().begin(game, seat, seed)
        self.rng = generators(seed, 1)[0]

    def advise(self, view: Any) -> Advice:
        legal = legal_actions(self.game, view)
        if self.game.is_announcement(view):
            chosen = legal.index(heuristic_action(self.game, view, self.rng))
        else:
            chosen = int(np.argmax(self.said(view)[legal]))
        return fixed_advice(self.game, view, np.eye(len(legal))[chosen])

    def said(self, view: Any) -> np.ndarray:
        """Of all kinds of cards: the highest is played."""
        raise NotImplementedError


class FromNextCard(_PlaysCards):
    """Plays the card that a network foretells for its own seat, without any search; speaks as is usual."""

    class Options(NamedTuple):
        network: Annotated[str, "a run folder of next-card, or its network file"]

    def __init__(self, options: Any) -> None:
        self.network = read_network(network_file(options.network))[0]

    def begin(self, game: Game, seat: int, seed: int) -> None:
        super().begin(game, seat, seed)
        self.reading = Reading(self.network)

    def said(self, view: Any) -> np.ndarray:
        return self.reading.next(line_so_far(view, self.seat))


class FromCards(_PlaysCards):
    """Plays the likeliest card of a network that sees what its seat does, without any search; speaks as is usual."""

    class Options(NamedTuple):
        network: Annotated[str, "a run folder of cards, or its network file"]
        part: Annotated[str, "which of its networks plays", ("view", "quick")] = "view"
        iteration: Annotated[int, "of a run; 0: its last"] = 0

    def __init__(self, options: Any) -> None:
        network, about = card_network.read_network(network_file(options.network, options.iteration))
        self.about, self.layers = about, getattr(network, options.part)

    def begin(self, game: Game, seat: int, seed: int) -> None:
        card_network.check_rules(game, self.about)
        super().begin(game, seat, seed)

    def said(self, view: Any) -> np.ndarray:
        encoding = np.zeros(self.game.facts.encoding, np.float32)
        self.game.observe(view, self.seat, encoding)
        return logits(self.layers, encoding)


class DokoPlayer(SearchPlayer):
    """Plays Doppelkopf by rollouts of networks, in worlds sampled by their beliefs."""

    def __init__(
        self,
        network: Annotated[str, "a run folder of cards, or its network file"],
        simulations: Annotated[int, "worlds per move, for the cards that are still in question; 0: no limit"] = 100,
        seconds: Annotated[float, "seconds per move; 0: no limit"] = 0.0,
        tree: Annotated[int, "simulations of a PUCT tree per world; 0: rollouts instead of trees"] = 0,
        c: Annotated[float, "exploration constant of the trees"] = 2.5,
        plies: Annotated[int, "cards per rollout, after which the position is evaluated", Interval(0)] = 12,
        deals: Annotated[
            str, "worlds weighted by the network's beliefs, or uniform", ("weighted", "even")
        ] = "weighted",
        value: Annotated[
            str, "evaluation: a playout to the end, or the value network", ("playout", "open")
        ] = "playout",
        others: Annotated[str, "networks that model the other seats, a run or file; none: as oneself"] = "",
        prior: Annotated[float, "points per nat of the policy network's log-probability"] = 0.02,
        doubt: Annotated[float, "standard errors by which a card may be behind and still be tried", Interval(0)] = 1.75,
        exact: Exact = 0,
        announcements: HowAnnounced = "distribution",
        worlds: Worlds = 400,
        margin: Margin = 0.0,
        iteration: Annotated[int, "iteration of a run; 0: its last"] = 0,
    ) -> None:
        by_simulations(simulations, seconds)
        networks, about = card_network.read_network(network_file(network, iteration))
        models = card_network.read_network(network_file(others)) if others else None
        self.seat_of_policy = np.zeros(1, np.int64)

        def new_search(game: Game) -> Search:
            card_network.check_rules(game, about)
            policy: Any = card_network.card_policy(networks)
            if models:
                card_network.check_rules(game, models[1])
                policy = card_network.PerSeatPolicy(policy, card_network.card_policy(models[0]), self.seat_of_policy)
            determinizer = (
                card_network.Beliefs(models[0] if models else networks) if deals == "weighted" else sample_worlds
            )
            announced: dict[str, Any] = {"announcements": announcements, "worlds": worlds, "margin": margin}
            if tree:
                return EnsembleUct(
                    game, 0, simulations, c, exact, policy=policy, determinizer=determinizer, tree=Puct, **announced
                )
            depth = plies if value == "open" else game.facts.max_game_length
            return PolicyRollouts(
                game, policy, 0, depth, exact, determinizer=determinizer, prior=prior, doubt=doubt, **announced
            )

        super().__init__(new_search, simulations * max(tree, 1), seconds)

    def begin(self, game: Game, seat: int, seed: int) -> None:
        self.seat_of_policy[0] = seat
        super().begin(game, seat, seed)
