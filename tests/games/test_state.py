"""`State`: a position with methods plays as its record does, and a view hides what its seat does not know."""

import doctest

import numpy as np
import pytest

from kibitz import games, jit
from kibitz.core.names import BadInput
from kibitz.games import CHANCE, OVER, State, state

from .walks import all_steps, every_game, every_hidden_game, same, view_of, walk, world_of


@every_game
def test_a_random_game_is_the_same_through_a_state(game):
    played = game.initial(seed=3)
    for step in walk(game, 3):  # by sample_action and play on the record, with the generator of seed 3
        assert played.turn == step.turn
        assert (played.is_chance, played.is_over) == (step.turn == CHANCE, step.turn == OVER)
        assert same(played.record, step.state)
        assert played.legal_actions() == step.actions
        assert played.legal() == [game.action_to_string(step.state, action) for action in step.actions]
        if step.turn == CHANCE:
            outcomes = games.chance_outcomes(game, step.state)
            assert played.chance_outcomes() == [(game.action_to_string(step.state, a), p) for a, p in outcomes]
        if step.turn != OVER:
            played.sample()
            assert played.history[-1] == step.action
    assert played.payoffs == [game.payoff(step.state, seat) for seat in range(game.facts.seats)]


@every_game
def test_actions_are_played_by_number_and_by_name_and_undone(game):
    steps = walk(game, 1)
    by_number, by_name = game.initial(), game.initial()
    for step in steps[:-1]:
        assert by_number.play(np.int64(step.action)) is by_number
        assert by_name.play(game.action_to_string(step.state, step.action)) is by_name
        assert same(by_number.record, by_name.record)
    assert by_number.history == by_name.history == [step.action for step in steps[:-1]]
    for step in reversed(steps[:-1]):
        assert same(by_number.undo().record, step.state)
    assert by_number.history == []
    with pytest.raises(BadInput, match="no action to undo"):
        by_number.undo()


@every_game
def test_deal_leaves_the_turn_to_a_seat(game):
    dealt = game.initial(seed=1).deal()
    assert dealt.turn >= 0
    assert game.initial(seed=1).deal().history == dealt.history
    count = len(dealt.history)
    assert dealt.deal().history[count:] == []


@every_hidden_game
def test_states_that_look_the_same_to_a_seat_print_the_same(game):
    rng = jit.generators(14, 1)[0]
    for step in all_steps(game, 2):
        for seat in range(game.facts.seats):
            world = world_of(game, view_of(game, step.state, seat), seat, rng)
            one, two = (State(game, record).view(seat) for record in (step.state, world))
            assert str(one) == str(two) == game.show(view_of(game, step.state, seat), seat)
            assert same(one.record, two.record)
            assert one.history == []


def test_a_clone_is_independent_and_samples_the_same():
    one = games.load("leduc").initial(seed=5).deal()
    two = one.clone()
    assert two.history == one.history
    one.play("raise")
    assert len(two.history) == len(one.history) - 1
    two.play("raise")
    while not one.is_over:
        one.sample()
        two.sample()
    assert one.history == two.history
    assert one.payoffs == two.payoffs


def test_without_a_seed_two_states_sample_differently():
    games_played = {tuple(games.load("goofspiel:13").initial().sample().sample().sample().history) for _ in range(20)}
    assert len(games_played) > 5


def test_errors_are_one_line():
    kuhn = games.load("kuhn").initial(seed=1)
    with pytest.raises(BadInput, match=r"9 is illegal here: 0 \(J\), 1 \(Q\), 2 \(K\)"):
        kuhn.play(9)
    with pytest.raises(BadInput, match="not over"):
        kuhn.payoffs  # noqa: B018
    kuhn.deal()
    with pytest.raises(BadInput, match=r"'raise' is no move here: pass, bet"):
        kuhn.play("raise")
    with pytest.raises(BadInput, match="no chance turn"):
        kuhn.chance_outcomes()
    with pytest.raises(BadInput, match="seat 2 should be 0 to 1"):
        kuhn.view(2)
    kuhn.play("bet").play("bet")
    assert kuhn.legal() == []
    for act in (lambda: kuhn.play("bet"), kuhn.sample):
        with pytest.raises(BadInput, match="the game is over"):
            act()


def test_a_view_has_only_what_its_seat_knows():
    kuhn = games.load("kuhn").initial(seed=1).deal()
    mine, theirs = kuhn.view(0), kuhn.view(1)
    assert mine.legal() == ["pass", "bet"]
    assert "(you)" in str(mine)
    assert repr(mine) == "<View of seat 0 of kuhn: seat 0 to move>"
    assert repr(kuhn) == "<State of kuhn: seat 0 to move>"
    with pytest.raises(BadInput, match="seat 1 is not to move"):
        theirs.legal()
    for act in (lambda: mine.play("bet"), mine.sample, mine.chance_outcomes, lambda: mine.payoffs):
        with pytest.raises(BadInput, match="view of seat 0"):
            act()


def test_the_view_of_a_perfect_information_game_can_be_played_on():
    board = games.load("tic_tac_toe").initial().play("a1")
    seen = board.view(0)
    assert seen.history == [0]
    seen.play("b2")
    assert board.history == [0]


def test_the_example_of_the_docstring_is_true():
    assert doctest.testmod(state).attempted >= 4
    assert doctest.testmod(state).failed == 0


@pytest.mark.parametrize("action", [1.0, None, [1]])
def test_an_action_is_a_whole_number_or_a_name(action):
    with pytest.raises(BadInput, match="is no action: give its number, such as 0, or its name, such as 'J'"):
        games.load("kuhn").initial().play(action)
