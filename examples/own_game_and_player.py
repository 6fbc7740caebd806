"""A game and a player of your own, in one script: define, search, play a match and a tournament.

Run it: python examples/own_game_and_player.py
"""

from typing import NamedTuple

import kibitz
from kibitz import OVER, game, record


@game("nim", state=record(("left", "i1"), ("to_move", "i1")), num_actions=3, max_game_length=40, payoffs=(-1.0, 1.0))
class Nim(NamedTuple):
    """Nim with one heap: take one, two or three matches; who takes the last one wins."""

    matches: int = 10

    def start(self, state):
        state.left, state.to_move = self.matches, 0

    def turn(self, state):
        return int(state.to_move) if state.left > 0 else OVER

    def actions(self, state, out):
        n = min(3, int(state.left))
        for i in range(n):
            out[i] = i
        return n

    def play(self, state, action):
        state.left -= action + 1
        state.to_move = 1 - state.to_move

    def payoff(self, state, seat):
        return 1.0 if state.to_move != seat else -1.0  # the seat that took the last match is not to move

    def action_to_string(self, state, action):
        return f"take {action + 1}"


class Expert:
    """Leaves a multiple of four where it can."""

    def move(self, view):
        return max((int(view.left) % 4) - 1, 0)


def main():
    nim = Nim()
    state = nim.initial().play("take 1")
    print(state, state.legal(), sep="\n")
    print(kibitz.advise(nim, state, "uct:2000"))  # take 1, which leaves a multiple of four, is proven to win
    print(kibitz.match(nim, [Expert(), "uct:100"], games=20))
    print(kibitz.tournament(nim, [Expert(), "uct:1000", "random"], games=10))


if __name__ == "__main__":
    main()
