"""Rules give the same numbers from the same seed, compiled and as plain Python."""

import numpy as np

from kibitz import jit
from kibitz.games import CHANCE, IST, OVER, PST

from .walks import every_game, packed


class Log(dict):
    """Column -> array, a row for each turn and seat; in the order of the kernel's parameters."""

    def __init__(self, game):
        rows, facts = game.facts.max_game_length + 1, game.facts
        width = max(facts.num_actions, facts.max_chance_outcomes)
        words = max(map(int, game.places())) // 64 + 1 if hasattr(game, "board") else 1
        super().__init__(
            states=np.zeros(rows, game.state),
            turns=np.zeros(rows, np.int64),
            actions=np.zeros((rows, width), np.int64),
            probs=np.zeros((rows, width)),
            keys=np.zeros((rows, facts.seats), np.uint64),
            views=np.zeros((rows, facts.seats), game.state),
            worlds=np.zeros((rows, facts.seats), game.state),
            notes=np.zeros((rows, facts.seats, facts.notes)),
            encodings=np.zeros((rows, facts.seats, facts.encoding), np.float32),
            keeps=np.zeros((rows, facts.seats, 2, width), np.bool_),
            ends=np.zeros((rows, width, 2), np.int64),
            stones=np.zeros((rows, facts.seats, words), np.uint64),
            results=np.zeros((2, facts.seats)),
        )


@jit.kernel
def play_and_log(
    game, rng, states, turns, actions, probs, keys, views, worlds, notes, encodings, keeps, ends, stones, results
):  # fmt: skip
    """One random game with every rule called at every turn; then `target` the last view of each seat."""
    row = 0
    game.start(states[0])
    while True:
        state = states[row]
        turn = game.turn(state)
        turns[row] = turn
        for seat in range(keys.shape[1]):
            keys[row, seat] = game.infoset(state, seat)
            game.observe(state, seat, encodings[row, seat])
            game.look(state, seat, views[row, seat])
            game.prepare(views[row, seat], seat, notes[row, seat])
            game.determinize(views[row, seat], seat, notes[row, seat], rng, worlds[row, seat])
            for word in range(stones.shape[2]):
                stones[row, seat, word] = game.pieces(state, seat, word)
        if turn == OVER:
            break
        n = game.actions(state, actions[row])
        if turn == CHANCE:
            game.chance_probs(state, actions[row], n, probs[row])
        else:
            for j in range(n):
                start, to = game.from_to(state, actions[row, j])
                ends[row, j, 0] = start
                ends[row, j, 1] = to
        action = game.sample_action(state, rng)
        row += 1
        states[row] = states[row - 1]
        game.play(states[row], action)
    for seat in range(keys.shape[1]):
        results[0, seat] = game.payoff(states[row], seat)
        results[1, seat] = game.reward(states[row], seat)
        for before in range(row):
            n = game.actions(states[before], actions[before])
            for mode in (PST, IST):
                game.target(states[before], views[row, seat], seat, mode, actions[before], n, keeps[before, seat, mode])
    return row


@every_game
def test_compiled_rules_give_what_plain_python_gives(game):
    plainly = getattr(play_and_log, "py_func", play_and_log)
    count = 1 if game.facts.notes > 1000 else 4  # plain Python takes its time over many notes
    for compiled_rng, plain_rng in zip(jit.generators(9, count), jit.generators(9, count), strict=True):
        compiled, plain = Log(game), Log(game)
        assert play_and_log(game, compiled_rng, *compiled.values()) == plainly(game, plain_rng, **plain)
        assert np.array_equal(compiled_rng, plain_rng)
        for name, column in plain.items():
            if column.dtype.names:
                assert np.array_equal(packed(compiled[name].ravel()), packed(column.ravel())), name
            else:
                assert np.array_equal(compiled[name], column), name
