"""Who is better, and how sure is that? Matches of growing size, with 95% intervals.

Every deal is played twice with the seats exchanged. The two games of a pair share their cards, so the interval has to
be over pairs; and as luck cancels out within a pair, it is narrower than one over single games of the same number.

Run it: python examples/match_with_intervals.py
"""

import numpy as np

import kibitz
from kibitz.play.statistics import further_games, interval


def main(game="leduc", players=("net:models/leduc", "random"), sizes=(50, 200, 1000), within=0.05):
    for games in sizes:
        found = kibitz.match(game, list(players), games=games)
        payoff = found.payoff
        print(f"{games:>6,} games: {payoff.mean:+.3f} per game, 95% interval {payoff.span(1, '+.3f')}")
    print(found)

    # Deals that each seat plays once only: as many games, but luck stays in.
    single = kibitz.match(game, list(players), games=2 * games, seed=2).records[::2]
    naive = interval(np.array([record.payoffs[0] for record in single]), np.ones(len(single)))
    print(
        f"± {payoff.margin:.3f} over {games // 2:,} pairs, ± {naive.margin:.3f} over {len(single):,} deals played once"
    )
    more = further_games(found.result, 2, within)
    print(f"for ± {within} it needs {more:,} further games")
    return found, naive


if __name__ == "__main__":
    main()
