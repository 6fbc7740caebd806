"""Fanorona against a slow twin, and rule by rule."""

import itertools

import numpy as np
import pytest
from scipy.stats import chisquare

from kibitz import games, jit
from kibitz.core.names import BadInput
from kibitz.games import OVER
from kibitz.games.bitboards import mask
from kibitz.games.fanorona import LINES, cells_of
from kibitz.games.random_games import playouts

from .counted import perft, value
from .race_twin import position, words
from .replays import RARE
from .walks import encoding_of, walks

GAME = games.load("fanorona")
SIZES = list(itertools.product((3, 5), (3, 5, 7, 9)))


def sized(rows, columns, limit=300, compulsory=True):
    return games.load(f"fanorona:{rows},columns={columns},limit={limit},compulsory={'yes' if compulsory else 'no'}")


# ---------------------------------------------------------------- the twin

STEPS = [step for step in itertools.product((-1, 0, 1), repeat=2) if step != (0, 0)]


class Twin:
    """A direct implementation of the rules with a dictionary of pieces. A move is its string."""

    def __init__(self, rows, columns, limit, compulsory=True):
        self.rows, self.columns, self.limit, self.compulsory = rows, columns, limit, compulsory
        self.stones = {}
        for row, column in itertools.product(range(rows), range(columns)):
            if row != rows // 2:
                self.stones[row, column] = int(row > rows // 2)
            elif column != columns // 2:
                odd = (column - columns // 2) % 2 == 1
                self.stones[row, column] = int(odd == (column > columns // 2))
        self.mover, self.turns, self.path, self.last = 0, 0, [], None

    def neighbour(self, place, step):
        """The next point on a line, None where there is no line: diagonals only where row and column are both or
        neither odd."""
        if 0 not in step and sum(place) % 2:
            return None
        there = place[0] + step[0], place[1] + step[1]
        return there if 0 <= there[0] < self.rows and 0 <= there[1] < self.columns else None

    def in_line(self, place, step):
        """Enemies from the next point on, up to the first gap."""
        found = []
        while (place := self.neighbour(place, step)) is not None and self.stones.get(place) == 1 - self.mover:
            found.append(place)
        return found

    def steps(self, seat):
        """(from, to, step) onto empty points."""
        for place, owner in self.stones.items():
            for step in STEPS if owner == seat else ():
                to = self.neighbour(place, step)
                if to is not None and to not in self.stones:
                    yield place, to, step

    def moves(self):
        """Word -> from, to, step and who is captured; nothing for a stop."""
        captures, plain = {}, {}
        for start, to, step in self.steps(self.mover):
            if self.path and (start != self.path[-1] or to in self.path or step == self.last):
                continue
            word = f"{self.name(start)}-{self.name(to)}"
            ahead, behind = self.in_line(to, step), self.in_line(start, (-step[0], -step[1]))
            if ahead:
                captures[word + "A"] = start, to, step, ahead
            if behind:
                captures[word + "W"] = start, to, step, behind
            if not ahead and not behind:
                plain[word] = start, to, step, []
        if self.path:
            return captures | {"stop": None} if captures else {}
        return (captures or plain) if self.compulsory else captures | plain

    def name(self, place):
        return f"{'abcdefghi'[place[1]]}{place[0] + 1}"

    def winner(self):
        for seat in range(2):
            if seat not in self.stones.values():
                return 1 - seat
        if not self.path and not list(self.steps(self.mover)):
            return 1 - self.mover
        return None

    def over(self):
        return self.winner() is not None or (not self.path and self.turns == self.limit)

    def after(self, word):
        twin = object.__new__(Twin)
        twin.__dict__ = dict(self.__dict__, stones=dict(self.stones), path=list(self.path))
        twin.play(*self.moves()[word] or (None, None, None, []))
        return twin

    def play(self, start, to, step, captured):
        if start is not None:
            self.stones[to] = self.stones.pop(start)
            for place in captured:
                del self.stones[place]
        if captured:
            self.path = [*(self.path or [start]), to]
            self.last = step
            if self.winner() is not None or self.moves():
                return
        self.mover, self.turns, self.path, self.last = 1 - self.mover, self.turns + 1, [], None

    def perft(self, depth):
        if depth == 0 or self.over():
            return int(depth == 0)
        return sum(self.after(word).perft(depth - 1) for word in self.moves())

    def value(self, known):
        if self.over():
            return {None: 0, 0: 1, 1: -1}[self.winner()]
        key = self.mover, self.turns, frozenset(self.stones.items()), tuple(self.path)
        if key not in known:
            known[key] = (max, min)[self.mover](self.after(word).value(known) for word in self.moves())
        return known[key]


@pytest.mark.parametrize("compulsory", [True, False])
@pytest.mark.parametrize(
    ("rows", "columns", "limit", "count"),
    [(5, 9, 300, 24), (5, 9, 9, 12)] + [(rows, columns, limit, 12) for rows, columns in SIZES for limit in (3, 60)],
)
def test_random_games_agree_with_a_twin(rows, columns, limit, count, compulsory):
    game = sized(rows, columns, limit, compulsory)
    for steps in walks(game, count if compulsory else count // 4):
        twin = Twin(rows, columns, limit, compulsory)
        for step in steps:
            assert (step.turn == OVER) == twin.over()
            if step.turn == OVER:
                expected = {None: [0, 0], 0: [1, -1], 1: [-1, 1]}[twin.winner()]
                assert [game.payoff(step.state, seat) for seat in range(2)] == expected
                continue
            assert step.turn == twin.mover
            assert {game.action_to_string(step.state, action) for action in step.actions} == set(twin.moves())
            twin = twin.after(game.action_to_string(step.state, step.action))


@pytest.mark.parametrize(
    ("rows", "columns", "counts"),
    [
        (5, 9, [5, 17, 64, 337, 1496, 6884, 33162, 156196, 747936]),  # to 6,884 counted by the twin too
        (5, 5, [5, 12, 35, 126, 413, 1442, 4822, 15918, 51922, 163395]),  # to 4,822
        (3, 3, [4, 7, 13, 28, 63, 110, 291, 522, 1239, 2190, 4272, 6500]),  # to 1,239
    ],
)
def test_lines_of_play(rows, columns, counts):
    game = sized(rows, columns)
    assert [perft(game, depth) for depth in range(1, len(counts) + 1)] == counts


@pytest.mark.parametrize(("rows", "columns", "depth"), [(5, 9, 6), (5, 5, 7), (3, 3, 8), (3, 9, 6), (5, 3, 7)])
def test_a_twin_counts_as_many_lines_of_play(rows, columns, depth):
    assert perft(sized(rows, columns), depth) == Twin(rows, columns, 300).perft(depth)


@pytest.mark.parametrize(("rows", "columns", "turns"), [(3, 3, 11), (3, 5, 11), (5, 3, 13), (3, 7, 17)])
def test_the_first_player_wins_boards_with_three_rows_in_a_known_number_of_turns(rows, columns, turns):
    for limit, worth in ((turns - 2, 0), (turns, 1)):
        assert value(sized(rows, columns, limit)) == worth
        if (rows, columns) == (3, 3):
            assert Twin(rows, columns, limit).value({}) == worth


# ---------------------------------------------------------------- the board


@pytest.mark.parametrize(("rows", "columns"), SIZES)
def test_lines_are_those_of_alquerque(rows, columns):
    board, found = sized(rows, columns).board(), LINES[rows, columns]
    for cell, (row, column) in enumerate(board.places):
        ways = [direction for direction in range(8) if int(found[direction]) >> cell & 1]
        reached = {board.places[board.neighbours[cell, direction]] for direction in ways}
        twin = Twin(rows, columns, 1)
        assert reached == {twin.neighbour((row, column), step) for step in STEPS} - {None}
        assert len(ways) == len(reached)
    assert sum(int(each).bit_count() for each in found) < 2 * 128  # or moves couldn't be counted in bytes


def test_the_start_is_as_in_madagascar():
    assert GAME.show(games.positions(GAME)[0], 0).splitlines() == [
        "seat 1 (you): x, to move",
        "seat 2: o",
        "turns: 0 of 300",
        " 5 o o o o o o o o o",
        " 4 o o o o o o o o o",
        " 3 o x o x . o x o x",
        " 2 x x x x x x x x x",
        " 1 x x x x x x x x x",
        "   a b c d e f g h i",
    ]
    assert words(GAME, games.positions(GAME)[0]) == ["d2-e3A", "d3-e3A", "d3-e3W", "e2-e3A", "f2-e3A"]


# ---------------------------------------------------------------- symmetries


@pytest.mark.parametrize("changed", [False, True])
@pytest.mark.parametrize(("rows", "columns"), [(5, 9), (5, 5), (3, 7)])
def test_turned_and_mirrored_positions_have_turned_and_mirrored_moves(rows, columns, changed):
    game = sized(rows, columns)
    symmetries = game.board().symmetries.tolist()
    assert len(symmetries) == (8 if rows == columns else 4)
    for image in symmetries:
        for steps in walks(game, 2):
            for step in steps[:-1]:
                there = {cell: image[cell] for cell in range(rows * columns)} | {-1: -1}
                moves = {(there[start], there[to], kind) for start, to, kind in moves_of(game, step.state)}
                assert moves_of(game, imaged(game, step.state, image, changed)) == moves


def test_both_seats_see_the_board_from_their_side():
    for steps in walks(GAME, 4):
        for step in steps:
            turned = imaged(GAME, step.state, list(range(45))[::-1], changed=True)
            for seat in range(2):
                assert np.array_equal(encoding_of(GAME, turned, seat), encoding_of(GAME, step.state, 1 - seat))


def imaged(game, state, image, changed):
    """The position with every point moved to its image, and the seats changed if so."""
    moved, around = state.copy(), game.board().neighbours.tolist()
    for seat in range(2):
        moved.pieces[seat] = image_of(state.pieces[1 - seat if changed else seat], image)
    moved.visited = image_of(state.visited, image)
    if state.at >= 0:
        moved.at = image[state.at]
        came_from = around[state.at][(state.heading + 4) % 8]
        moved.heading = (around[moved.at].index(image[came_from]) + 4) % 8
    if changed and state.to_move != OVER:
        moved.to_move = 1 - state.to_move
    return moved


def image_of(cells, image):
    return mask(image[cell] for cell in range(len(image)) if int(cells) >> cell & 1)


def moves_of(game, state):
    """(from, to, A, W or nothing)"""
    return {
        (*cells_of(game, action), game.action_to_string(state, action)[5:])
        for action in games.legal_actions(game, state)
    }


# ---------------------------------------------------------------- rule by rule


def after(state, *moves, game=GAME):
    for move in moves:
        game.play(state, game.parse_action(state, move))
    return state


def standing(state, seat, game=GAME):
    return " ".join(name for cell, name in enumerate(game.board().names) if int(state.pieces[seat]) >> cell & 1)


def test_without_a_capture_pieces_step_along_lines_onto_empty_points():
    strong, weak = position(GAME, "c3 d4", "i5"), position(GAME, "b3", "i5")
    assert words(GAME, strong) == [
        *["c3-b2", "c3-b3", "c3-b4", "c3-c2", "c3-c4", "c3-d2", "c3-d3"],
        *["d4-c4", "d4-c5", "d4-d3", "d4-d5", "d4-e3", "d4-e4", "d4-e5"],
    ]
    assert words(GAME, weak) == ["b3-a3", "b3-b2", "b3-b4", "b3-c3"]
    assert GAME.turn(after(weak, "b3-a3")) == 1


def test_a_capture_may_be_optional():
    free = sized(5, 9, compulsory=False)
    state = position(free, "a1 e3", "g3 i5")
    steps = ["a1-a2", "a1-b1", "a1-b2", *(f"e3-{to}" for to in ("d2", "d3", "d4", "e2", "e4", "f2"))]
    assert words(free, state) == sorted([*steps, "e3-f3A", "e3-f4"])
    stepped = after(state.copy(), "e3-d3", game=free)
    assert (free.turn(stepped), standing(stepped, 1, free)) == (1, "g3 i5")
    taken = after(state.copy(), "e3-f3A", game=free)
    assert standing(taken, 1, free) == "i5"  # a step that captures does so: there is no plain e3-f3
    assert free.facts.num_actions == GAME.facts.num_actions


def test_a_player_who_captures_may_go_on_or_stop_where_captures_are_optional_too():
    free = sized(5, 9, compulsory=False)
    state = after(position(free, "c1 i1", "c3 e2 i5"), "c1-c2A", game=free)
    assert words(free, state) == ["c2-d2A", "stop"]


def test_optional_captures_are_another_game_by_name():
    assert games.full_name(sized(5, 9)) == "fanorona"
    assert games.full_name(sized(5, 9, compulsory=False)) == "fanorona:compulsory=False"


def test_captures_are_mandatory():
    assert words(GAME, position(GAME, "a1 e3", "g3 i5")) == ["e3-f3A"]
    assert words(GAME, position(GAME, "a1 e3", "g3 i5", 1)) == ["g3-f3A"]


def test_an_approach_takes_the_whole_line_up_to_a_gap():
    state = after(position(GAME, "b3 i1", "d3 e3 f3 h3"), "b3-c3A")
    assert standing(state, 1) == "h3"
    assert standing(state, 0) == "i1 c3"
    state = after(position(GAME, "b3 f3", "d3 e3 g3"), "b3-c3A")  # or up to a piece of one's own
    assert standing(state, 1) == "g3"


def test_a_withdrawal_takes_the_whole_line_behind():
    state = position(GAME, "d3 i1", "c3 b3 i5")
    assert words(GAME, state) == ["d3-e3W"]
    assert standing(after(state, "d3-e3W"), 1) == "i5"
    diagonal = position(GAME, "c3 a5", "d4 e5 i1")
    assert words(GAME, diagonal) == ["c3-b2W"]
    assert standing(after(diagonal, "c3-b2W"), 1) == "i1"


def test_no_diagonal_is_captured_from_a_weak_point():
    for enemy in ("d5", "c4"):
        assert words(GAME, position(GAME, "b3", f"{enemy} i1")) == ["b3-a3", "b3-b2", "b3-b4", "b3-c3"]


def test_the_player_chooses_between_approach_and_withdrawal():
    for move, left in (("d3-e3A", "c3"), ("d3-e3W", "f3 g3")):
        state = position(GAME, "d3 h1", "c3 f3 g3")
        assert words(GAME, state) == ["d3-e3A", "d3-e3W"]
        assert standing(after(state, move), 1) == left


def test_the_same_piece_may_capture_again_or_stop():
    state = after(position(GAME, "a1 i1", "a3 i5"), "a1-a2A")
    assert GAME.turn(state) == 1  # nothing more to take
    state = after(position(GAME, "c1 i1", "c3 e2 i5"), "c1-c2A")
    assert GAME.turn(state) == 0
    assert words(GAME, state) == ["c2-d2A", "stop"]
    assert GAME.show(state, 0).splitlines()[0] == "seat 1 (you): x, to move, may go on with c2"
    assert GAME.turn(after(state.copy(), "stop")) == 1
    assert standing(after(state.copy(), "c2-d2A"), 1) == "i5"
    assert int(after(state.copy(), "stop").turns) == int(after(state.copy(), "c2-d2A").turns) == 1


def test_a_piece_does_not_continue_in_the_direction_of_its_last_step():
    state = after(position(GAME, "c3 i1", "b3 f3 i5"), "c3-d3W")
    assert GAME.turn(state) == 1  # though d3-e3 would come near f3
    state = after(position(GAME, "c3 i1", "b3 f3 d1 i5"), "c3-d3W")
    assert words(GAME, state) == ["d3-d2A", "stop"]


def test_a_piece_does_not_return_to_a_point_of_its_turn():
    state = after(position(GAME, "b2 i1", "d2 c4 a3 b1 i5"), "b2-c2A", "c2-c3A", "c3-b3A")
    assert GAME.turn(state) == 1  # though b3-b2, where it began, would come near b1
    assert standing(state, 1) == "b1 i5"


def test_a_seat_without_pieces_has_lost():
    state = after(position(GAME, "a1 i1", "a3"), "a1-a2A")
    assert GAME.turn(state) == OVER
    assert [GAME.payoff(state, seat) for seat in range(2)] == [1, -1]


def test_a_seat_without_a_move_has_lost():
    state = after(position(GAME, "a1", "a2 a3 b1 c1 b3", 1), "b3-b2")
    assert GAME.turn(state) == OVER
    assert [GAME.payoff(state, seat) for seat in range(2)] == [-1, 1]


def test_turns_are_limited_not_captures():
    game = sized(5, 9, 1)
    state = position(game, "c1 i1", "c3 e2 i5")
    after(state, "c1-c2A", game=game)
    assert game.turn(state) == 0
    for move, left in (("stop", "e2 i5"), ("c2-d2A", "i5")):
        ended = after(state.copy(), move, game=game)
        assert game.turn(ended) == OVER
        assert [game.payoff(ended, seat) for seat in range(2)] == [0, 0]
        assert standing(ended, 1) == left
    winning = after(position(game, "a1 i1", "a3"), "a1-a2A", game=game)
    assert [game.payoff(winning, seat) for seat in range(2)] == [1, -1]


def test_moves_are_sampled_uniformly_where_captures_are_optional():
    free, rng = sized(5, 9, compulsory=False), jit.generators(2, 1)[0]
    state = position(free, "a1 e3", "g3 i5")
    drawn, counts = np.unique([free.sample_action(state, rng) for _ in range(2200)], return_counts=True)
    assert drawn.tolist() == games.legal_actions(free, state)
    assert chisquare(counts).pvalue > RARE


def test_moves_are_sampled_uniformly_during_and_without_captures():
    """The contract looks at the first turns only."""
    rng = jit.generators(2, 1)[0]
    steps = [step for steps in walks(GAME, 6) for step in steps if len(step.actions) > 1]
    going_on = [step for step in steps if step.state.at >= 0][::9][:3]
    plain = [step for step in steps if GAME.action_to_string(step.state, step.action)[-1].isdigit()][::9][:3]
    assert len(going_on) == len(plain) == 3
    for step in going_on + plain:
        draws = 200 * len(step.actions)
        drawn, counts = np.unique([GAME.sample_action(step.state, rng) for _ in range(draws)], return_counts=True)
        assert drawn.tolist() == step.actions
        assert chisquare(counts).pvalue > RARE


def test_an_action_is_origin_destination_and_kind():
    cells = 45
    for action in range(GAME.facts.num_actions - 1):
        direction, start = action // cells // 2, action % cells
        if int(LINES[5, 9, direction]) >> start & 1:
            assert cells_of(GAME, action) == (start, GAME.board().neighbours[start, direction])
    assert cells_of(GAME, GAME.facts.num_actions - 1) == (-1, -1)


@pytest.mark.parametrize("name", ["fanorona:4", "fanorona:5,columns=8", "fanorona:7"])
def test_boards_have_a_centre(name):
    with pytest.raises(BadInput, match="3 or 5"):
        games.load(name)


def test_no_kernel_counts_references():
    jit.counting.clear()
    playouts(GAME, 1)
    assert jit.counting == []


def test_a_finished_game_is_not_shown_as_one_that_may_go_on():
    ends = [steps[-1].state for steps in walks(sized(3, 3), 40)]
    within_a_turn = [state for state in ends if state.at >= 0]  # the last of several captures took the last piece
    assert within_a_turn
    assert not any("may go on" in sized(3, 3).show(state, 0) for state in within_a_turn)
