"""Strength at equal simulations: our UCT against OpenSpiel's MCTSBot, through our arena."""

import numpy as np
import pyspiel
import pytest

from kibitz import games
from kibitz.games import legal_actions
from kibitz.games.breakthrough import cells_of
from kibitz.play.play import play_game
from kibitz.play.players import make_for
from kibitz.play.statistics import summary

from ..games.walks import same

PEERS = {
    "connect_four": "connect_four",
    "othello": "othello",
    "hex:7": "hex(board_size=7)",
    "breakthrough": "breakthrough(rows=8,columns=8)",
}


class MctsBot:
    """OpenSpiel's bot as a player. It follows the game by finding the move that led to each view."""

    advice = None

    def __init__(self, name, simulations):
        self.peer, self.simulations = pyspiel.load_game(PEERS[name]), simulations

    def begin(self, game, seat, seed):
        self.game, self.seat = game, seat
        self.ours, self.theirs = games.positions(game)[0], self.peer.new_initial_state()
        evaluator = pyspiel.RandomRolloutEvaluator(1, seed % 2**31)
        self.bot = pyspiel.MCTSBot(self.peer, evaluator, 2**0.5, self.simulations, 1000, True, seed % 2**31, False)

    def move(self, view):
        self.follow(view)
        theirs = self.bot.step(self.theirs)
        [ours] = [action for action in legal_actions(self.game, view) if self.number(action) == theirs]
        self.play(ours)
        return ours

    def follow(self, view):
        """The other may have moved several times (a pass between them)."""
        level = [((), self.ours)]
        while not any(same(state, view) for _, state in level):
            level = [
                ((*path, action), after(self.game, state, action))
                for path, state in level
                for action in (legal_actions(self.game, state) if self.game.turn(state) >= 0 else ())
            ]
        for action in next(path for path, state in level if same(state, view)):
            self.play(action)

    def play(self, action):
        self.theirs.apply_action(self.number(action))
        self.game.play(self.ours, action)

    def number(self, action):
        """An action as OpenSpiel numbers it: the same, but for Breakthrough, where its first player moves down."""
        if self.game.name != "breakthrough":
            return action
        columns, rows = self.game.columns, self.game.rows
        word = "".join(f"{'abcdefgh'[cell % columns]}{rows - cell // columns}" for cell in cells_of(self.game, action))
        legal = self.theirs.legal_actions()
        return next(each for each in legal if self.theirs.action_to_string(each).rstrip("*") == word)


def after(game, state, action):
    copy = np.array([state], game.state)[0]
    game.play(copy, action)
    return copy


def score(name, simulations, count):
    game = games.load(name)
    players, names = [make_for(f"uct:{simulations}", game), MctsBot(name, simulations)], ["ours", "theirs"]
    return summary([play_game(game, players, names, 1, number) for number in range(count)]).score


@pytest.mark.parametrize("name", PEERS)
def test_the_bot_plays_our_games(name):
    assert 0 <= score(name, 20, 2).mean <= 1


@pytest.mark.heavy
@pytest.mark.parametrize("name", PEERS)
def test_at_equal_simulations_we_are_no_weaker(name):
    found = score(name, 1000, 200)
    print(name, found)  # docs/results.md has it
    assert found.high >= 0.5
