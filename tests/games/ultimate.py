"""Ultimate Tic-Tac-Toe, as a user would write it: nine boards, each a cell of a larger one."""

from typing import Annotated, NamedTuple

import numpy as np

from kibitz import OVER, game, helper, record

STATE = record(
    ("cells", "i1", (9, 9)),
    ("boards", "i1", (9,)),
    ("forced", "i1"),
    ("mover", "i1"),
    ("winner", "i1"),
    ("moves", "i1"),
)
EMPTY, DRAWN, ANYWHERE = -1, 2, -1
LINES = np.array([(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)])


@helper
def has_line(cells, seat):
    for i in range(len(LINES)):
        if cells[LINES[i, 0]] == seat and cells[LINES[i, 1]] == seat and cells[LINES[i, 2]] == seat:
            return True
    return False


@helper
def is_full(cells):
    free = 0
    for i in range(9):
        free += int(cells[i] == EMPTY)
    return free == 0


@game("ultimate", state=STATE, num_actions=81, max_game_length=81, payoffs=(-1.0, 1.0))
class Ultimate(NamedTuple):
    """Action 9 * board + cell; the cell names the board of the next move, unless that one is decided."""

    draws: Annotated[bool, "whether a full board without a line is a draw, or goes to who has more boards"] = True

    def start(self, state):
        state.cells[:] = EMPTY
        state.boards[:] = EMPTY
        state.forced = ANYWHERE
        state.mover = 0
        state.winner = EMPTY
        state.moves = 0

    def turn(self, state):
        return OVER if state.winner != EMPTY else int(state.mover)

    def actions(self, state, out):
        n = 0
        for board in range(9):
            if state.boards[board] == EMPTY and (state.forced == ANYWHERE or state.forced == board):
                for cell in range(9):
                    if state.cells[board, cell] == EMPTY:
                        out[n] = 9 * board + cell
                        n += 1
        return n

    def play(self, state, action):
        board, cell = action // 9, action % 9
        mover = int(state.mover)
        state.cells[board, cell] = mover
        state.moves = int(state.moves) + 1
        if has_line(state.cells[board], mover):
            state.boards[board] = mover
        elif is_full(state.cells[board]):
            state.boards[board] = DRAWN
        if has_line(state.boards, mover):
            state.winner = mover
        elif is_full(state.boards):
            state.winner = DRAWN
            if not self.draws:
                lead = 0
                for i in range(9):
                    lead += int(state.boards[i] == 0) - int(state.boards[i] == 1)
                if lead != 0:
                    state.winner = 0 if lead > 0 else 1
        state.forced = cell if state.boards[cell] == EMPTY else ANYWHERE
        state.mover = 1 - mover

    def payoff(self, state, seat):
        if state.winner == DRAWN:
            return 0.0
        return 1.0 if state.winner == seat else -1.0

    def show(self, state, seat):
        rows = []
        for row in range(9):
            cells = [state.cells[3 * (row // 3) + column // 3, 3 * (row % 3) + column % 3] for column in range(9)]
            rows.append("".join(".xo"[int(cell) + 1] for cell in cells))
        return "\n".join(rows)

    def action_to_string(self, state, action):
        board, cell = divmod(int(action), 9)
        column, row = 3 * (board % 3) + cell % 3, 3 * (board // 3) + cell // 3
        return f"{'abcdefghi'[column]}{9 - row}"
