"""Whole games as readable text. A change of the rules, keys or encodings shows up as a change of these files.

Each file is made anew from its own two first lines, the game's name and a seed:
`python -m tests.games.test_golden` rewrites them all. To add one, write these two lines and run that.
"""

import random
from pathlib import Path

import numpy as np
import pytest

from kibitz import games
from kibitz.games import CHANCE, OVER

from .walks import encoding_of, view_of

FILES = sorted((Path(__file__).parent / "golden").glob("*.txt"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_game_goes_as_it_always_went(file):
    text = file.read_text(encoding="utf-8")
    assert playthrough(text) == text


def test_every_known_game_has_a_playthrough():
    assert {games.load(header(file.read_text(encoding="utf-8"))[0]).name for file in FILES} == set(games.known())


def header(text: str) -> tuple[str, int]:
    name, seed = (line.partition(": ")[2] for line in text.splitlines()[:2])
    return name, int(seed)


def playthrough(text: str) -> str:
    """The whole file, from the header of one."""
    name, seed = header(text)
    game = games.load(name)
    lines = [f"game: {name}", f"seed: {seed}", f"full name: {games.full_name(game)}", f"facts: {game.facts}"]
    # Python's own generator, so that a change of ours leaves these files alone.
    rng, state, turn, number = random.Random(seed), games.positions(game)[0], CHANCE, 0
    while turn != OVER:
        turn = game.turn(state)
        mover = {CHANCE: "chance", OVER: "over"}.get(turn, f"seat {turn + 1}")
        lines += ["", f"turn {number}: {mover}"]
        for seat in range(game.facts.seats):
            lines.append(f"  key {seat + 1}: {int(game.infoset(state, seat)):016x}")
            lines.append(f"  encoding {seat + 1}: {bits(encoding_of(game, state, seat))}")
        for seat in range(game.facts.seats):
            shown = game.show(view_of(game, state, seat), seat)
            lines += [f"  {seat + 1} sees | {line}" for line in shown.splitlines()]
        lines += [f"  in truth | {line}" for line in game.show(state, -1).splitlines()]
        if turn == OVER:
            payoffs = " ".join(f"{game.payoff(state, seat):g}" for seat in range(game.facts.seats))
            lines.append(f"  payoffs: {payoffs}")
        elif turn == CHANCE:
            odds = (f"{game.spell(state, outcome)} {odd:.6f}" for outcome, odd in games.chance_odds(game, state))
            lines.append(f"  outcomes: {', '.join(odds)}")
        else:
            lines.append(
                f"  moves: {', '.join(game.spell(state, legal) for legal in games.legal_actions(game, state))}"
            )
        if turn != OVER:
            action = rng.choice(games.legal_actions(game, state))
            lines.append(f"  plays: {game.spell(state, action)} ({action})")
            game.play(state, action)
            number += 1
    return "\n".join(lines) + "\n"


def bits(encoding: np.ndarray) -> str:
    """Zeros and ones without gaps, in tens."""
    digits = "".join(f"{value:g}" if value in (0, 1) else f"[{value:g}]" for value in encoding)
    return " ".join(digits[i : i + 10] for i in range(0, len(digits), 10))


if __name__ == "__main__":
    for file in FILES:
        file.write_text(playthrough(file.read_text(encoding="utf-8")), encoding="utf-8")
