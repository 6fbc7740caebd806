"""Explain a learned policy move by move: which patterns speak for a move, which against it.

The patterns of Yavalath ship with Kibitz. (A player with four in a row wins, with three in a row and no more loses.)
`kibitz explain models/yavalath` draws the same as a page for a browser.

Run it: python examples/explain_a_policy.py
"""

import kibitz
from kibitz.learn.model_files import network_file
from kibitz.learn.tspg.explain import Explainer, describe_pattern, read_explainable


def main(model="models/yavalath", moves=("e5", "d4", "e6", "d5", "e8"), top=3, policy="tspg"):
    game, features, _ = read_explainable(network_file(model))
    state = game.initial()
    for move in moves:
        state.play(move)
    print(state)

    seat, explainer = state.turn, Explainer(game, features)
    found, _ = explainer.explain(state.record, seat, features.weights(policy)[seat])
    best = sorted(found, key=lambda move: -move.prob)[:top]
    for move in best:
        print(f"\n{move.name}: {move.prob:.1%}")
        for each in move.contributions[:4]:
            # A pattern that is active for other moves only distinguishes this one, too.
            words = describe_pattern(features.patterns[seat][each.pattern], game.board())
            print(f"  {each.relative:+.2f}  {'' if each.adds else 'unlike others, not '}{words}")

    # The policy is linear, so the explanation is exact: these are the probabilities of the player.
    advice = kibitz.advise(game, state, f"features:{model},policy={policy}")
    name = game.action_to_string(state.record, advice.best)
    print(f"\nfeatures:{model} plays {name} with probability {advice.policy.max():.4f}; explained: {best[0].prob:.4f}")
    return best, advice


if __name__ == "__main__":
    main()
