"""Players of Doppelkopf that use trained networks: without search, as priors of trees, and with rollouts."""

from typing import Annotated, Any, NamedTuple

import numpy as np

from ..core.names import EXPLORATION, ITERATION, PATH, SECONDS, SIMULATIONS, BadInput, Interval
from ..games import Game, legal_actions
from ..jit import generators
from ..nets.mlp import logits
from ..nets.model_files import network_file
from ..play.players.measured import Fact, measured_facts
from ..play.players.player import AdvisedPlayer, player
from ..play.players.search import Playouts, SearchPlayer, by_simulations, by_worlds, playout_policy
from ..search.advice import Advice, fixed_advice
from ..search.announcements import CHOICES, HowAnnounced, Worlds
from ..search.batched_ensemble import BatchedEnsemble
from ..search.determinization import sample_worlds
from ..search.ensemble_uct import EXACT, EnsembleUct, Exact
from ..search.mcts import Puct
from ..search.policies import heuristic_action
from ..search.policy_rollouts import PolicyRollouts
from ..search.search import Search
from ..search.selection import OBENAUS_C
from .learn import card_network, lstm
from .policy_announcements import PolicyAnnouncements


@player("uct-lstm")
class GuidedPlayer(SearchPlayer):
    """UCT+LSTM (Obenaus 2017): Ensemble UCT with a network that predicts the next card as the prior."""

    plays = "doppelkopf with nines"
    example = "10x1000,net=runs/next-card"

    def __init__(
        self,
        budget: Annotated[str, "worlds x simulations of each, such as 10x1000"],
        net: Annotated[str, "a run folder of next-card, or its network file", PATH],
        c: Annotated[float, "exploration constant, for rewards from -1 to 1", EXPLORATION] = OBENAUS_C,
        playouts: Playouts = "random",
        exact: Exact = EXACT,
        announcements: HowAnnounced = "distribution",
        worlds: Worlds = 400,
    ) -> None:
        simulations, seconds, settings = by_worlds(budget)
        network = lstm.read_lstm(network_file(net))[0]

        def new_search(game: Game) -> Search:
            lstm.check_rules(game)
            policy = playout_policy(game, playouts)
            return BatchedEnsemble(
                game,
                lstm.BatchedLstm(network),
                0,
                settings["determinizations"],
                c,
                exact,
                announcements,
                worlds,
                policy,
            )

        super().__init__(new_search, simulations, seconds)


class CardPlayer(AdvisedPlayer):
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


@player("lstm")
class FromNextCard(CardPlayer):
    """Plays the card that the next-card LSTM predicts for its own seat, without search."""

    reads = "network.safetensors"  # of a run folder
    plays = "doppelkopf with nines"
    example = "runs/next-card"

    class Options(NamedTuple):
        network: Annotated[str, "run folder of next-card, or its network file", PATH]

    def __init__(self, options: Any) -> None:
        self.network = lstm.read_lstm(network_file(options.network))[0]

    def begin(self, game: Game, seat: int, seed: int) -> None:
        lstm.check_rules(game)
        super().begin(game, seat, seed)
        self.reader = lstm.LstmReader(self.network)

    def logits(self, view: Any) -> np.ndarray:
        return self.reader.next_logits(lstm.line_so_far(view, self.seat))


@player("cards")
class FromCards(CardPlayer):
    """Plays the most likely card of a belief or policy network, without search."""

    reads = "network.safetensors"  # of a run folder
    plays = "doppelkopf with nines"
    example = "models/doppelkopf"

    class Options(NamedTuple):
        network: Annotated[str, "run folder of cards or exit-rollouts, or its network file", PATH]
        part: Annotated[str, "network that plays", ("belief", "policy")] = "belief"
        iteration: Annotated[int, "iteration of the run; 0: the last", ITERATION] = 0

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


@player("doko")
class DokoPlayer(SearchPlayer):
    """Rollouts of every card by the policy network, on worlds sampled by the belief network.

    The policy network of a run of mmd knows announcements and solos too: it proposes them, and rollouts decide where it
    is in doubt.
    """

    reads = "network.safetensors"  # of a run folder
    plays = "doppelkopf with nines"
    example = "models/doppelkopf"

    def __init__(
        self,
        network: Annotated[str, "run folder of cards, exit-rollouts or mmd, or its network file", PATH],
        simulations: Annotated[int, "worlds per move; 0: no limit", SIMULATIONS] = 100,
        seconds: Annotated[float, "seconds per move; 0: no limit", SECONDS] = 0.0,
        tree_simulations: Annotated[int, "PUCT simulations per world; 0: rollouts instead of trees", SIMULATIONS] = 0,
        c: Annotated[float, "exploration constant of the trees", EXPLORATION] = 2.5,
        plies: Annotated[
            int, "cards per rollout before the value network evaluates, with value=network", Interval(0, 1e6)
        ] = 12,
        determinization: Annotated[str, "how worlds are sampled", ("belief", "uniform")] = "belief",
        value: Annotated[
            str, "value of a rollout: playout to the end, or value network", ("playout", "network")
        ] = "playout",
        others: Annotated[str, "networks that model the other seats, a run or file; none: its own", PATH] = "",
        prior_weight: Annotated[
            float, "points per nat of the policy network's log probabilities", Interval(0, 1e6)
        ] = 0.02,
        confidence: Annotated[float, "drop cards this many standard errors below the best", Interval(0, 1e6)] = 1.75,
        exact: Exact = 0,
        announcements: Annotated[
            str,
            "how to choose announcements: by the distribution of final scores, as cards are, or by the policy network "
            "and rollouts; auto: the last where the network knows them, else the first",
            ("auto", *CHOICES, "policy"),
        ] = "auto",
        worlds: Worlds = 400,
        beliefs: Annotated[
            str, "card networks whose belief and value networks a policy network of mmd is used with"
        ] = "models/doppelkopf",
        iteration: Annotated[int, "iteration of the run; 0: the last", ITERATION] = 0,
    ) -> None:
        by_simulations(simulations, seconds)
        own, about = card_network.read_policy(network_file(network, iteration), beliefs)
        models = card_network.read_policy(network_file(others), beliefs) if others else None
        known = card_network.knows_announcements(own)
        if announcements == "policy" and not known:
            raise BadInput(f"announcements=policy: the policy network of {network} knows cards only")
        if announcements == "auto":
            announcements = "policy" if known else "distribution"
        self.own_seat = np.zeros(1, np.int64)

        def new_search(game: Game) -> Search:
            card_network.check_rules(game, about)
            policy: Any = card_network.card_policy(own)
            if models:
                card_network.check_rules(game, models[1])
                policy = card_network.PerSeatPolicy(policy, card_network.card_policy(models[0]), self.own_seat)
            determinizer: Any = sample_worlds
            if determinization == "belief":
                determinizer = card_network.Beliefs(models[0] if models else own)
            announced: dict[str, Any] = {"announcements": announcements, "worlds": worlds}
            if announcements == "policy":
                announced = {"announcements": PolicyAnnouncements(game, policy, worlds, determinizer)}
            if tree_simulations:
                return EnsembleUct(
                    game, 0, simulations, c, exact, policy=policy, determinizer=determinizer, tree=Puct, **announced
                )
            depth = plies if value == "network" else game.facts.max_game_length
            return PolicyRollouts(
                game, policy, 0, depth, exact, determinizer=determinizer, prior=prior_weight, doubt=confidence,
                **announced,
            )  # fmt: skip

        super().__init__(new_search, simulations * max(tree_simulations, 1), seconds)

    def begin(self, game: Game, seat: int, seed: int) -> None:
        self.own_seat[0] = seat
        super().begin(game, seat, seed)


@measured_facts("doppelkopf")
def facts() -> tuple[Fact, ...]:
    return (
        Fact(
            "doko:models/doppelkopf",
            "doppelkopf",
            "wins 0.27 points per game from three of ensemble-uct:10x1000; what a best response wins is not known",
            "doppelkopf-networks.md",
            "| 4,000 | +0.27 (+0.13 to +0.42) |",
            "12 ms",
        ),
    )
