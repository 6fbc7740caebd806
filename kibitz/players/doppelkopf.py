"""Players of Doppelkopf by networks that learned from games: in trees, alone, and looking ahead."""

import math
from typing import Annotated, Any, NamedTuple

import numpy as np

from ..core import names
from ..games import Game, legal_actions
from ..jit import generators
from ..learn.doppelkopf import card_network
from ..learn.doppelkopf.next_card import Reading, check_rules, line_so_far, read_network
from ..learn.doppelkopf.next_card_oracle import LineReader
from ..learn.mlp import logits
from ..learn.model_files import network_file
from ..search.advice import Advice, fixed_advice
from ..search.batched_ensemble import BatchedEnsemble
from ..search.blended import EXPLORATION
from ..search.determinization import sample_worlds
from ..search.ensemble_uct import EXACT, EnsembleUct
from ..search.policies import Heuristic, heuristic_action
from ..search.policy_rollouts import PolicyRollouts
from ..search.puct import Puct
from .player import AdvisedPlayer, player
from .search import CALLS, EnsemblePlayer, Searching, announcements_for


@player("uct-lstm")
class GuidedPlayer(EnsemblePlayer):
    """UCT on guesses, led by a network that foretells the next card: UCT+LSTM, as in the thesis."""

    name = "uct-lstm"

    class Options(NamedTuple):
        budget: Annotated[str, "guesses x simulations of each, as 10x1000"]
        net: Annotated[str, "a run folder of next-card, or its network file"]
        c: Annotated[float, "exploration, for rewards from -1 to 1"] = EXPLORATION
        playouts: Annotated[str, "at random, or as is usual in the game", ("random", "usual")] = "random"
        exact: Annotated[int, "a guess of so many positions or fewer is solved instead; 0: never"] = EXACT
        calls: Annotated[str, "what is said aside: by the scores that follow, or in the tree", CALLS] = "distribution"
        worlds: Annotated[int, "for what is said aside"] = 400
        margin: Annotated[float, "payoff that saying something must be worth"] = 0.0

    def __init__(self, options: Any) -> None:
        super().__init__(options)
        self.network = read_network(network_file(options.net))[0]

    def begin(self, game: Game, seat: int, seed: int) -> None:
        check_rules(game)
        super().begin(game, seat, seed)

    def new_search(self, game: Game) -> BatchedEnsemble:
        given = self.options
        names.at_least("exact", given.exact, 0)
        policy = Heuristic() if given.playouts == "usual" else None
        reader, announcements = LineReader(self.network), announcements_for(game, given)
        return BatchedEnsemble(game, reader, 0, self.deals, given.c, given.exact, announcements, policy)


class _PlaysCards(AdvisedPlayer):
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


@player("lstm")
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


@player("cards")
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


@player("doko")
class DokoPlayer(Searching):
    """Plays Doppelkopf by networks: what follows each card, on deals as likely as the network takes them to be."""

    name = "doko"

    class Options(NamedTuple):
        network: Annotated[str, "a run folder of cards, or its network file"]
        simulations: Annotated[int, "guesses a move, for the cards that stay in question; 0: no limit"] = 100
        seconds: Annotated[float, "time a move; 0: no limit"] = 0.0
        tree: Annotated[int, "simulations of a tree on each guess; 0: what follows each card is played out"] = 0
        c: Annotated[float, "exploration of the trees"] = 2.5
        plies: Annotated[int, "cards that are played on each guess, then it is judged"] = 12
        deals: Annotated[str, "guesses as the network weighs them, or all alike", ("weighted", "even")] = "weighted"
        value: Annotated[str, "what judges: the network, or a playout to the end", ("playout", "open")] = "playout"
        others: Annotated[str, "networks that learned how the others play, a run or file; none: as oneself"] = ""
        prior: Annotated[float, "points that a nat of the small network's odds counts"] = 0.02
        doubt: Annotated[float, "standard errors by which a card may lie behind and still be tried"] = 1.75
        exact: Annotated[int, "a guess of so many positions or fewer is solved instead; 0: never"] = 0
        calls: Annotated[str, "what is said aside: by the scores that follow, or as any move", CALLS] = "distribution"
        worlds: Annotated[int, "for what is said aside"] = 400
        margin: Annotated[float, "payoff that saying something must be worth"] = 0.0
        iteration: Annotated[int, "of a run; 0: its last"] = 0

    def __init__(self, options: Any) -> None:
        super().__init__(options)
        names.at_least("plies", options.plies, 0)
        names.at_least("doubt", options.doubt, 0)
        self.network, self.about = card_network.read_network(network_file(options.network, options.iteration))
        self.others: card_network.CardNetwork | None = None
        if options.others:
            self.others, self.about_others = card_network.read_network(network_file(options.others))
        self.seat_of_policy = np.zeros(1, np.int64)

    def begin(self, game: Game, seat: int, seed: int) -> None:
        self.seat_of_policy[0] = seat
        super().begin(game, seat, seed)

    def new_search(self, game: Game) -> PolicyRollouts | EnsembleUct:
        card_network.check_rules(game, self.about)
        given = self.options
        policy: Any = card_network.card_policy(self.network)
        if self.others:
            card_network.check_rules(game, self.about_others)
            policy = card_network.PerSeatPolicy(policy, card_network.card_policy(self.others), self.seat_of_policy)
        plies = given.plies if given.value == "open" else game.facts.max_game_length
        determinizer = card_network.Beliefs(self.others or self.network) if given.deals == "weighted" else sample_worlds
        if given.tree:
            return EnsembleUct(
                game,
                0,
                given.simulations,
                given.c,
                given.exact,
                announcements_for(game, given),
                determinizer,
                Puct,
                policy=policy,
            )
        announcements = announcements_for(game, given)
        return PolicyRollouts(
            game, policy, 0, plies, given.exact, announcements, determinizer, given.prior, given.doubt
        )

    def advise(self, view: Any) -> Advice:
        seconds = self.options.seconds or math.inf
        return self.search.advise(view, self.seat, self.options.simulations * max(self.options.tree, 1), seconds)
