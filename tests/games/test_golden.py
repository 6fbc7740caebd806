"""Whole games as readable text. A change of the rules, keys or encodings shows up as a change of these files.

Each file is made anew from its own two first lines, the game's name and a seed:
`python -m tests.games.test_golden` rewrites them all. To add one, write these two lines and run that.
A third, `every: 8`, shows only each eighth position and the last of a long game, and of others the move.
"""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kibitz import games
from kibitz.games import CHANCE, OVER

from .facts import SHIPPED
from .walks import encoding_of, view_of

FILES = sorted((Path(__file__).parent / "golden").glob("*.txt"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_game_is_played_as_in_its_golden_file(file):
    text = file.read_text(encoding="utf-8")
    assert playthrough(text) == text


def test_every_known_game_has_a_playthrough():
    assert {games.load(header(file.read_text(encoding="utf-8"))[0]).name for file in FILES} == set(SHIPPED)


def header(text: str) -> tuple[str, int, int]:
    (_, name), (_, seed), (key, every) = (line.split(": ", 1) for line in [*text.splitlines(), "every: 1"][:3])
    return name, int(seed), int(every) if key == "every" else 1


def playthrough(text: str) -> str:
    """The whole file, from the header of one."""
    name, seed, every = header(text)
    game = games.load(name)
    lines = [f"game: {name}", f"seed: {seed}", *([f"every: {every}"] if every > 1 else [])]
    lines += [f"full name: {games.full_name(game)}", f"facts: {game.facts}"]
    # Python's own generator, so that a change of ours leaves these files alone.
    rng, state, turn, number = random.Random(seed), games.positions(game)[0], CHANCE, 0
    while turn != OVER:
        turn = game.turn(state)
        mover = {CHANCE: "chance", OVER: "over"}.get(turn, f"seat {turn + 1}")
        lines += ["", f"turn {number}: {mover}"]
        if number % every == 0 or turn == OVER:
            lines += position(game, state, turn)
        if turn != OVER:
            action = rng.choice(games.legal_actions(game, state))
            lines.append(f"  plays: {game.action_to_string(state, action)} ({action})")
            game.play(state, action)
            number += 1
    return "\n".join(lines) + "\n"


def position(game: games.Game, state: Any, turn: int) -> Iterator[str]:
    """Everything that the rules say about a position."""
    for seat in range(game.facts.seats):
        yield f"  key {seat + 1}: {int(game.infoset(state, seat)):016x}"
        yield f"  encoding {seat + 1}: {bits(encoding_of(game, state, seat))}"
    for seat in range(game.facts.seats):
        yield from (f"  {seat + 1} sees | {line}" for line in game.show(view_of(game, state, seat), seat).splitlines())
    yield from (f"  in truth | {line}" for line in game.show(state, -1).splitlines())
    if turn == OVER:
        yield f"  payoffs: {' '.join(f'{game.payoff(state, seat):g}' for seat in range(game.facts.seats))}"
    elif turn == CHANCE:
        probs = (
            f"{game.action_to_string(state, outcome)} {odd:.6f}" for outcome, odd in games.chance_outcomes(game, state)
        )
        yield f"  outcomes: {', '.join(probs)}"
    else:
        yield f"  moves: {', '.join(game.action_to_string(state, legal) for legal in games.legal_actions(game, state))}"


def bits(encoding: np.ndarray) -> str:
    """Zeros and ones without gaps, in tens."""
    digits = "".join(f"{value:g}" if value in (0, 1) else f"[{value:g}]" for value in encoding)
    return " ".join(digits[i : i + 10] for i in range(0, len(digits), 10))


if __name__ == "__main__":
    for file in FILES:
        file.write_text(playthrough(file.read_text(encoding="utf-8")), encoding="utf-8")
