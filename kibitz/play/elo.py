"""Elo ratings from games: the model of Bradley and Terry with Davidson's draws, by maximum likelihood.

    P(i beats j) : P(draw) : P(j beats i)  =  sqrt(a / b) : ν : sqrt(b / a),  a = 10^(Elo_i / 400), b = 10^(Elo_j / 400)

(Davidson 1970.) The log-likelihood is concave in Elo and log ν, so Newton's method finds its unique maximum. Its
Hessian H is known exactly (the covariance of the three outcomes' exponents, summed over games). Games with the same
deal aren't independent, so the covariance of the ratings is H⁻¹ B H⁻¹, where B sums the squared gradients of deals, not
of games (the sandwich estimator), and the information of one more game for each pair of players, so that it is never 0.
Intervals are relative to the fixed player, by Student's t distribution.

The maximum is finite if a chain of wins leads from every player to every other. Where there is none (a player won all
games), each pair with wins in one direction only gets half a win more for either side: two players with W wins to 0 are
then 400 log10((W + 1/2) / (1/2)) apart. Intervals are then at least those of independent games, from H⁻¹ alone.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..core.names import BadInput, choose
from ..games.records import Record, read_records
from .play import round_of
from .statistics import Z, score_of, t_quantile

ELO = 400 / np.log(10)  # Elo points to a factor of e
VIRTUAL = 0.5  # wins added for either side


@dataclass(frozen=True)
class Rated:
    name: str
    elo: float
    low: float  # 95% interval
    high: float
    games: int
    score: float  # mean: a win is 1, a draw 1/2
    note: str  # "won all", "lost all" or nothing


@dataclass(frozen=True)
class Rating:
    game: str
    players: list[Rated]  # best first
    draws: float  # ν: probability of a draw between equal players, relative to that of a win
    helped: list[tuple[str, str]]  # pairs with added wins
    repeated: int = 0  # games that were left out, as the same game is there already


def read_games(folder: Path, game: str | None = None) -> list[Record]:
    """Read all records of one game in a folder and below."""
    if not folder.is_dir():
        raise BadInput(f"no folder {str(folder)!r}")
    records = [record for path in sorted(folder.rglob("games.jsonl")) for record in read_records(path)]
    if not records:
        raise BadInput(f"no games below {folder}: a match writes them to games.jsonl")
    of_two = [record for record in records if len(record.players) == 2]
    if game is None and of_two:
        records = of_two
    elif not of_two:
        raise BadInput(f"ratings are for two seats: {records[0].game} has {len(records[0].players)}")
    found = sorted({record.game for record in records})
    if game is None and len(found) > 1:
        raise BadInput(f"{folder} holds different games: {', '.join(found)}; choose one with --game")
    if game is not None:
        choose("game here", game, found)
    records = [record for record in records if record.game == (game or found[0])]
    if any(len(record.players) != 2 for record in records):
        raise BadInput(f"ratings are for two seats: {records[0].game} has {len(records[0].players)}")
    return records


def rate(records: Iterable[Record], fixed: str | None = None, at: float = 1500.0) -> Rating:
    """Rate all players in the records. The player `fixed`, by default the first by name, has the rating `at`.

    A game that is there twice, as a match was repeated with the same seed, counts once.
    """
    found = [record for record in records if record.players[0] != record.players[1]]
    records = list({record.line(): record for record in found}.values())
    names = sorted({name for record in records for name in record.players})
    if not names:
        raise BadInput("no player to rate: no game was played between two different players")
    place = {name: i for i, name in enumerate(names)}
    reference = place[choose("player", fixed if fixed is not None else names[0], names)]
    wins, draws = np.zeros((2, len(names), len(names)))  # wins[i, j]: of i over j; draws are symmetric
    met = np.array([[place[name] for name in record.players] for record in records])  # [games, seats]
    scores = np.array([score_of(record, 0) for record in records])
    for way in (1, -1):  # from the first seat, and from the second
        one, two = met[:, ::way].T
        np.add.at(wins, (one, two), scores == max(way, 0))
        np.add.at(draws, (one, two), scores == 0.5)
    played = wins + wins.T + draws
    groups = _groups(played, directed=False)
    if groups.max():
        parts = "; ".join(", ".join(np.array(names)[groups == k]) for k in range(groups.max() + 1))
        raise BadInput(f"these players are not connected by games, so they can't be compared: {parts}")
    sides = _groups(wins, directed=True)
    one_way = (played > 0) & (sides[:, None] != sides[None, :])
    elo, nu, inverse = fit(wins + VIRTUAL * one_way, draws, reference)
    deals = [(record.seed, round_of(record.number, 2)) for record in records]
    covariance, quantile = by_deals(elo, nu, inverse, met, scores, deals)
    if one_way.any():
        covariance = np.maximum(covariance, inverse)  # of which only the diagonal is used
    error = quantile * ELO * np.sqrt(np.diag(covariance))
    score, games = (wins + draws / 2).sum(axis=1) / played.sum(axis=1), played.sum(axis=1).astype(int)
    rated = [
        Rated(
            name,
            at + elo[i],
            at + elo[i] - error[i],
            at + elo[i] + error[i],
            int(games[i]),
            float(score[i]),
            {0.0: "lost all", 1.0: "won all"}.get(score[i], ""),
        )
        for i, name in enumerate(names)
    ]
    helped = [(names[i], names[j]) for i, j in np.argwhere(np.triu(one_way)).tolist()]
    order = sorted(rated, key=lambda each: -each.elo)
    return Rating(records[0].game, order, nu, helped, len(found) - len(records))


def _groups(edges: np.ndarray, directed: bool) -> np.ndarray:
    """The connected component of each player; strongly connected where edges have a direction."""
    import scipy.sparse

    graph = scipy.sparse.csr_array(edges)
    return scipy.sparse.csgraph.connected_components(graph, directed=directed, connection="strong")[1]


def fit(wins: np.ndarray, draws: np.ndarray, reference: int) -> tuple[np.ndarray, float, np.ndarray]:
    """Fit Elo ratings: return those relative to the reference, ν, and the inverse Hessian of the log-likelihood.

    The last is [players + 1, players + 1], by Elo / ELO and log ν; 0 for what is fixed. `wins[i, j]` counts wins of i
    over j; a chain of wins leads from every player to every other. `draws` is symmetric.
    """
    n = len(wins)
    one, two = np.triu_indices(n, 1)
    met = (wins + wins.T + draws)[one, two] > 0
    one, two = one[met], two[met]
    counts = np.array([wins[one, two], draws[one, two], wins[two, one]])  # [3, pairs]
    # The derivative of each outcome's exponent by each parameter: [3, pairs, parameters].
    exponents = np.zeros((3, len(one), n + 1))
    rows = np.arange(len(one))
    exponents[0, rows, one] = exponents[2, rows, two] = 0.5
    exponents[0, rows, two] = exponents[2, rows, one] = -0.5
    exponents[1, :, n] = 1  # log ν
    free = np.delete(np.arange(n + 1), [reference] if draws.any() else [reference, n])
    exponents, counts = (exponents, counts) if draws.any() else (exponents[::2], counts[::2])
    exponents = exponents[:, :, free]
    total = counts.sum(axis=0)

    def probs(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        powers = exponents @ x
        together = np.logaddexp.reduce(powers, axis=0)
        return np.exp(powers - together), powers - together

    def loss(x: np.ndarray) -> float:
        return -float((counts * probs(x)[1]).sum())

    def slope(x: np.ndarray) -> np.ndarray:
        return np.einsum("op,opk->k", probs(x)[0] * total - counts, exponents)

    def curvature(x: np.ndarray) -> np.ndarray:
        p = probs(x)[0]
        mean = np.einsum("op,opk->pk", p, exponents)
        return np.einsum("op,opk,opl->kl", p * total, exponents, exponents) - (mean * total[:, None]).T @ mean

    from scipy.optimize import minimize  # imported here, as that takes longer than many a command

    options = {"gtol": 1e-8 * total.sum(), "maxiter": 1000}
    found = minimize(loss, np.zeros(len(free)), jac=slope, hess=curvature, method="trust-exact", options=options)
    x, inverse = np.zeros(n + 1), np.zeros((n + 1, n + 1))
    x[free] = found.x
    inverse[np.ix_(free, free)] = np.linalg.inv(curvature(found.x))
    return ELO * x[:n], float(np.exp(x[n])) if draws.any() else 0.0, inverse


def by_deals(
    elo: np.ndarray, nu: float, inverse: np.ndarray, met: np.ndarray, scores: np.ndarray, deals: Sequence[Any]
) -> tuple[np.ndarray, float]:
    """The covariance of fitted ratings where games of the same deal depend on each other, and the quantile to use.

    Args:
        elo, nu, inverse: From `fit`.
        met: [games, 2]: the players of each game.
        scores: [games] f8: of the first of them.
        deals: Of each game; equal for games of the same chance outcomes.
    """
    numbers = {deal: i for i, deal in enumerate(dict.fromkeys(deals))}
    deal, (one, two) = np.array([numbers[each] for each in deals]), met.T
    half = (elo[one] - elo[two]) / (2 * ELO)
    win, draw, loss = np.exp(half), np.full(len(half), nu), np.exp(-half)
    win, draw, loss = (part / (win + draw + loss) for part in (win, draw, loss))
    slope = (scores - 0.5) - (win - loss) / 2  # by the rating of the first player
    gradient = np.zeros((len(numbers), len(inverse)))
    np.add.at(gradient, (deal, one), slope)
    np.add.at(gradient, (deal, two), -slope)
    gradient[:, -1] = np.bincount(deal, (scores == 0.5) - draw)
    count = len(numbers)
    if count < 2:
        return inverse, Z
    squares = gradient.T @ gradient * count / (count - 1)
    for game in np.unique(np.sort(met, axis=1), axis=0, return_index=True)[1]:  # one more game of each pair
        both = [one[game], two[game]]
        squares[np.ix_(both, both)] += ((win + loss) - (win - loss) ** 2)[game] / 4 * np.array([[1, -1], [-1, 1]])
    return inverse @ squares @ inverse, t_quantile(count - 1)
