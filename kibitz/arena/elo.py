"""Elo ratings from games: the model of Bradley and Terry with Davidson's draws, by maximum likelihood.

    P(i beats j) : P(draw) : P(j beats i)  =  sqrt(a / b) : ν : sqrt(b / a),  a = 10^(Elo_i / 400), b = 10^(Elo_j / 400)

(Davidson 1970.) The log-likelihood is concave in Elo and log ν, so Newton's method finds its unique maximum. Its
Hessian is known exactly (the covariance of the three outcomes' exponents, summed over games), and the inverse of the
Hessian gives the intervals: Elo ± 1.96 standard errors, relative to the fixed player.

The maximum is finite if a chain of wins leads from every player to every other. Where there is none (a player won all
games), each pair with wins in one direction only gets half a win more for either side: two players with W wins to 0 are
then 400 log10((W + 1/2) / (1/2)) apart.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..core.names import BadInput, choose
from ..games.records import Record, read_records
from .statistics import score_of

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
    """Rate all players in the records. The player `fixed`, by default the first by name, has the rating `at`."""
    records = [record for record in records if record.players[0] != record.players[1]]
    names = sorted({name for record in records for name in record.players})
    if not names:
        raise BadInput("no player to rate: no game was played between two different players")
    place = {name: i for i, name in enumerate(names)}
    reference = place[choose("player", fixed if fixed is not None else names[0], names)]
    wins, draws = np.zeros((2, len(names), len(names)))  # wins[i, j]: of i over j; draws are symmetric
    for record in records:
        one, two = (place[name] for name in record.players)
        score = score_of(record, 0)
        if score == 0.5:
            draws[one, two] += 1
            draws[two, one] += 1
        else:
            winner, loser = (one, two) if score else (two, one)
            wins[winner, loser] += 1
    played = wins + wins.T + draws
    groups = _groups(played, directed=False)
    if groups.max():
        parts = "; ".join(", ".join(np.array(names)[groups == k]) for k in range(groups.max() + 1))
        raise BadInput(f"these players are not connected by games, so they can't be compared: {parts}")
    sides = _groups(wins, directed=True)
    one_way = (played > 0) & (sides[:, None] != sides[None, :])
    elo, nu, covariance = fit(wins + VIRTUAL * one_way, draws, reference)
    error = 1.96 * np.sqrt(np.diag(covariance))
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
    return Rating(records[0].game, sorted(rated, key=lambda each: -each.elo), nu, helped)


def _groups(edges: np.ndarray, directed: bool) -> np.ndarray:
    """The connected component of each player; strongly connected where edges have a direction."""
    import scipy.sparse

    graph = scipy.sparse.csr_array(edges)
    return scipy.sparse.csgraph.connected_components(graph, directed=directed, connection="strong")[1]


def fit(wins: np.ndarray, draws: np.ndarray, reference: int) -> tuple[np.ndarray, float, np.ndarray]:
    """Fit Elo ratings: return those relative to the reference, ν, and the covariance of the ratings.

    `wins[i, j]` counts wins of i over j; a chain of wins leads from every player to every other. `draws` is symmetric.
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
    x, covariance = np.zeros(n + 1), np.zeros((n + 1, n + 1))
    x[free] = found.x
    covariance[np.ix_(free, free)] = np.linalg.inv(curvature(found.x))
    return ELO * x[:n], float(np.exp(x[n])) if draws.any() else 0.0, ELO**2 * covariance[:n, :n]
