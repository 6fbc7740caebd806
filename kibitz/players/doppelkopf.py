"""Players of Doppelkopf that use trained networks: without search, as priors of trees, and with rollouts."""

from typing import Annotated, Any, NamedTuple

import numpy as np

from ..games import Game, legal_actions
from ..jit import generators
from ..learn.doppelkopf import card_network, lstm
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
from .search import Playouts, by_worlds


class GuidedPlayer(EnsemblePlayer):
    """UCT on determinizations with the next-card LSTM as prior: UCT+LSTM of Obenaus' thesis."""

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

    class Options(NamedTuple):
        budget: Annotated[str, "worlds x simulations per world, such as 10x1000"]
        net: Annotated[str, "run folder of next-card, or its network file"]
        c: Annotated[float, "exploration constant, for rewards from -1 to 1"] = EXPLORATION
        playouts: Annotated[str, "playout policy", ("random", "usual")] = "random"
        exact: Annotated[int, "solve a world of at most this many positions exactly; 0: never"] = EXACT
        calls: Annotated[str, "announcements by the distribution of scores, or in the tree", CALLS] = "distribution"
        worlds: Annotated[int, "worlds sampled per announcement"] = 400
        margin: Annotated[float, "payoff that an announcement must gain"] = 0.0

    def __init__(self, options: Any) -> None:
        super().__init__(options)
        self.network = lstm.read_lstm(network_file(options.net))[0]

    def begin(self, game: Game, seat: int, seed: int) -> None:
        lstm.check_rules(game)
        super().begin(game, seat, seed)

    def new_search(self, game: Game) -> BatchedEnsemble:
        given = self.options
        names.at_least("exact", given.exact, 0)
        policy = Heuristic() if given.playouts == "usual" else None
        network, announcements = lstm.BatchedLstm(self.network), announcements_for(game, given)
        return BatchedEnsemble(game, network, 0, self.deals, given.c, given.exact, announcements, policy)


class CardPlayer(Advised):
    """Base of players without search: plays the legal card of the highest logit, announces as the heuristic does."""

    def begin(self, game: Game, seat: int, seed: int) -> None:
        super().begin(game, seat, seed)
        self.rng = generators(seed, 1)[0]

    def advise(self, view: Any) -> Advice:
        legal = legal_actions(self.game, view)
        if self.game.is_announcement(view):
            chosen = legal.index(heuristic_action(self.game, view, self.rng))
        else:
            chosen = int(np.argmax(self.logits(view)[legal]))
        return fixed_advice(self.game, view, np.eye(len(legal))[chosen])

    def logits(self, view: Any) -> np.ndarray:
        """[KINDS or more]: one per kind of card."""
        raise NotImplementedError


class FromNextCard(CardPlayer):
    """Plays the card that the next-card LSTM predicts for its own seat, without search."""

    class Options(NamedTuple):
        network: Annotated[str, "run folder of next-card, or its network file"]

    def __init__(self, options: Any) -> None:
        self.network = lstm.read_lstm(network_file(options.network))[0]

    def begin(self, game: Game, seat: int, seed: int) -> None:
        lstm.check_rules(game)
        super().begin(game, seat, seed)
        self.reader = lstm.LstmReader(self.network)

    def logits(self, view: Any) -> np.ndarray:
        return self.reader.next_logits(lstm.line_so_far(view, self.seat))


class FromCards(CardPlayer):
    """Plays the most likely card of a belief or policy network, without search."""

    class Options(NamedTuple):
        network: Annotated[str, "run folder of cards or exit-cards, or its network file"]
        part: Annotated[str, "network that plays", ("belief", "policy")] = "belief"
        iteration: Annotated[int, "iteration of the run; 0: the last"] = 0

    def __init__(self, options: Any) -> None:
        network, self.about = card_network.read_card_network(network_file(options.network, options.iteration))
        self.layers = getattr(network, options.part)

    def begin(self, game: Game, seat: int, seed: int) -> None:
        card_network.check_rules(game, self.about)
        super().begin(game, seat, seed)

    def logits(self, view: Any) -> np.ndarray:
        encoding = np.zeros(self.game.facts.encoding, np.float32)
        self.game.observe(view, self.seat, encoding)
        return logits(self.layers, encoding)


class DokoPlayer(Searching):
    """Rollouts of every card by the policy network, on worlds sampled by the belief network."""

    name = "doko"

    class Options(NamedTuple):
        network: Annotated[str, "run folder of cards or exit-cards, or its network file"]
        simulations: Annotated[int, "worlds per move; 0: no limit"] = 100
        seconds: Annotated[float, "seconds per move; 0: no limit"] = 0.0
        tree_simulations: Annotated[int, "PUCT simulations per world; 0: rollouts instead of trees"] = 0
        c: Annotated[float, "exploration constant of the trees"] = 2.5
        plies: Annotated[int, "cards per rollout before the value network evaluates, with value=network"] = 12
        determinization: Annotated[str, "how worlds are sampled", ("belief", "uniform")] = "belief"
        value: Annotated[str, "value of a rollout: playout to the end, or value network", ("playout", "network")] = (
            "playout"
        )
        others: Annotated[str, "networks that model the other seats, a run or file; none: its own"] = ""
        prior_weight: Annotated[float, "points per nat of the policy network's log probabilities"] = 0.02
        confidence: Annotated[float, "drop cards this many standard errors below the best"] = 1.75
        exact: Annotated[int, "solve a world of at most this many positions exactly; 0: never"] = 0
        calls: Annotated[str, "announcements by the distribution of scores, or as moves", CALLS] = "distribution"
        worlds: Annotated[int, "worlds sampled per announcement"] = 400
        margin: Annotated[float, "payoff that an announcement must gain"] = 0.0
        iteration: Annotated[int, "iteration of the run; 0: the last"] = 0

    def __init__(self, options: Any) -> None:
        super().__init__(options)
        names.at_least("plies", options.plies, 0)
        names.at_least("confidence", options.confidence, 0)
        self.network, self.about = card_network.read_card_network(network_file(options.network, options.iteration))
        self.others, self.about_others = None, None
        if options.others:
            self.others, self.about_others = card_network.read_card_network(network_file(options.others))
        self.own_seat = np.zeros(1, np.int64)

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
        self.own_seat[0] = seat
        super().begin(game, seat, seed)

    def new_search(self, game: Game) -> PolicyRollouts | EnsembleUct:
        card_network.check_rules(game, self.about)
        given = self.options
        policy: Any = card_network.card_policy(self.network)
        if self.others is not None:
            card_network.check_rules(game, self.about_others)
            policy = card_network.PerSeatPolicy(policy, card_network.card_policy(self.others), self.own_seat)
        determinizer = sample_worlds
        if given.determinization == "belief":
            determinizer = card_network.Beliefs(self.others or self.network)
        announcements = announcements_for(game, given)
        if given.tree_simulations:
            return EnsembleUct(
                game, 0, given.simulations, given.c, given.exact, announcements, determinizer, Puct, policy=policy
            )
        plies = given.plies if given.value == "network" else game.facts.max_game_length
        return PolicyRollouts(
            game, policy, 0, plies, given.exact, announcements, determinizer, given.prior_weight, given.confidence
        )

    def advise(self, view: Any) -> Advice:
        simulations = self.options.simulations * max(self.options.tree_simulations, 1)
        return self.search.advise(view, self.seat, simulations, self.options.seconds or math.inf)
