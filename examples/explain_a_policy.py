"""Explain a learned policy move by move: which patterns speak for a move, which against it.

The patterns of Yavalath ship with Kibitz. (A player with four in a row wins, with three in a row and no more loses.)
`kibitz explain models/yavalath` draws the same as a page for a browser.

Run it: python examples/explain_a_policy.py
"""

import kibitz


def main(model="models/yavalath", game="yavalath", moves=("e5", "d4", "e6", "d5", "e8"), top=3):
    player = f"features:{model}"
    state = kibitz.load(game).initial()
    for move in moves:
        state.play(move)
    print(state)

    best = sorted(kibitz.explain(game, state, player, most=4), key=lambda move: -move["prob"])[:top]
    for move in best:
        print(f"\n{move['move']}: {move['prob']:.1%}")
        for pattern in move["patterns"]:
            # A pattern that is active for other moves only distinguishes this one, too.
            unlike = "" if pattern["active"] else "unlike others, not "
            print(f"  {pattern['contribution']:+.2f}  {unlike}{pattern['words']}")

    # The policy is linear, so the explanation is exact: these are the probabilities of the player.
    advice = kibitz.advise(game, state, player)
    print(f"\n{player} plays {best[0]['move']} with probability {advice.policy.max():.4f}; ", end="")
    print(f"explained: {best[0]['prob']:.4f}")
    return best, advice


if __name__ == "__main__":
    main()
