"""A slow twin of Breakthrough and Knightthrough, and what the rules of both imply."""

import numpy as np

from kibitz import games
from kibitz.games import OVER
from kibitz.games.bitboards import mask

from .walks import encoding_of, walks


class Race:
    """A direct implementation of the rules with a dictionary of pieces.

    `steps`: rows ahead, columns aside, whether an enemy there may be captured.
    """

    def __init__(self, rows, columns, steps):
        self.rows, self.columns, self.steps = rows, columns, steps
        home = {(row, column): 0 for row in range(2) for column in range(columns)}
        self.stones = home | {(rows - 1 - row, column): 1 for row, column in home}
        self.mover = 0

    def over(self):
        """The winner; None until there is one."""
        for column in range(self.columns):
            if self.stones.get((self.rows - 1, column)) == 0:
                return 0
            if self.stones.get((0, column)) == 1:
                return 1
        owners = set(self.stones.values())
        return owners.pop() if len(owners) == 1 else None

    def moves(self):
        """(from, to) of all moves, as cells."""
        found = []
        for (row, column), owner in self.stones.items():
            for ahead, aside, captures in self.steps if owner == self.mover else ():
                to = row + (ahead if owner == 0 else -ahead), column + aside
                if 0 <= to[0] < self.rows and 0 <= to[1] < self.columns:
                    there = self.stones.get(to)
                    if there is None or (captures and there != owner):
                        found.append((row * self.columns + column, to[0] * self.columns + to[1]))
        return sorted(found)

    def after(self, move):
        start, to = (divmod(cell, self.columns) for cell in move)
        next_one = Race(self.rows, self.columns, self.steps)
        next_one.stones = {cell: owner for cell, owner in self.stones.items() if cell != start}
        next_one.stones[to] = self.mover
        next_one.mover = 1 - self.mover
        return next_one

    def key(self):
        return self.mover, frozenset(self.stones.items())

    def perft(self, depth):
        if depth == 0 or self.over() is not None:
            return int(depth == 0)
        return sum(self.after(move).perft(depth - 1) for move in self.moves())

    def winner(self, known):
        if self.over() is not None:
            return self.over()
        if self.key() not in known:
            winners = (self.after(move).winner(known) for move in self.moves())
            known[self.key()] = self.mover if any(who == self.mover for who in winners) else 1 - self.mover
        return known[self.key()]


def agrees_with_race(game, steps, cells, count):
    """Random games of ours move by move; `cells` are the from and to of an action."""
    for walked in walks(game, count):
        twin = Race(game.rows, game.columns, steps)
        for step in walked:
            if step.turn == OVER:
                assert [game.payoff(step.state, seat) for seat in range(2)] == [[1, -1], [-1, 1]][twin.over()]
                continue
            assert twin.over() is None
            assert step.turn == twin.mover
            assert sorted(cells(game, action) for action in step.actions) == twin.moves()
            twin = twin.after(cells(game, step.action))


def mirrored(game, steps, action):
    """An action with left and right changed, where a piece has this number of steps, numbered from left to right."""
    cells = game.rows * game.columns
    block, start = divmod(action, cells)
    seat, step = divmod(block, steps)
    row, column = divmod(start, game.columns)
    return (steps * seat + steps - 1 - step) * cells + row * game.columns + game.columns - 1 - column


def both_seats_play_alike(game, cells_of):
    """Each position of random games, turned by half a turn with the seats changed, looks and plays the same."""
    cells = game.rows * game.columns
    for steps in walks(game, 4):
        for step in steps[:-1]:
            turned = step.state.copy()
            for seat in range(2):
                here = int(step.state.pieces[1 - seat])
                turned.pieces[seat] = mask(cells - 1 - cell for cell in range(cells) if here >> cell & 1)
            turned.to_move = 1 - step.turn
            for seat in range(2):
                assert np.array_equal(encoding_of(game, turned, seat), encoding_of(game, step.state, 1 - seat))
            moves = {cells_of(game, action) for action in step.actions}
            turned_moves = {cells_of(game, action) for action in games.legal_actions(game, turned)}
            assert turned_moves == {(cells - 1 - start, cells - 1 - to) for start, to in moves}


def position(game, mine, theirs, to_move=0):
    """With pieces on these cells, as players write them."""
    state = games.positions(game)[0]
    for seat, words in enumerate((mine, theirs)):
        state.pieces[seat] = mask(game.board().names.index(word) for word in words.split())
    state.to_move = to_move
    return state


def words(game, state):
    return sorted(game.action_to_string(state, action) for action in games.legal_actions(game, state))
