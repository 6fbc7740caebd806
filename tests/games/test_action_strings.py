"""Strings: every action has its own, and a view shows only what its seat knows."""

import re

import pytest

from kibitz import jit
from kibitz.core.names import BadInput
from kibitz.games import load

from .walks import all_steps, every_game, every_hidden_game, same, view_of, world_of

SPECTATOR = -1


@every_game
def test_every_string_parses_to_its_action(game):
    for step in all_steps(game, 2):
        words = [game.action_to_string(step.state, action) for action in step.actions]
        assert len({word.lower() for word in words}) == len(words)
        assert [game.parse_action(step.state, word) for word in words] == step.actions
        assert [game.parse_action(step.state, f"  {word.upper()} ") for word in words] == step.actions


@pytest.mark.parametrize("name", ["breakthrough", "knightthrough", "teeko", "fanorona"])
def test_moves_between_cells_are_read_as_engines_write_them(name):
    game, seen = load(name), set()
    for step in all_steps(game, 2):
        for action in step.actions:
            word = game.action_to_string(step.state, action)
            seen |= {mark for mark in "-x" if re.search(rf"\d{mark}[a-z]\d", word)}
            for written in (re.sub("[-x]", "", word), word.replace("x", "-"), word.replace("-", "x").upper()):
                assert game.parse_action(step.state, written) == action
    assert "-" in seen


@every_game
def test_a_view_has_the_same_strings_as_the_position(game):
    for step in all_steps(game, 2):
        if step.turn >= 0:
            view = view_of(game, step.state, step.turn)
            for action in step.actions:
                assert game.action_to_string(view, action) == game.action_to_string(step.state, action)


@every_game
@pytest.mark.parametrize("nonsense", ["", "xyzzy", "-1", "99"])
def test_nonsense_is_refused_with_a_list_of_the_legal_actions(game, nonsense):
    for step in all_steps(game, 1):
        if step.actions:
            with pytest.raises(BadInput) as raised:
                game.parse_action(step.state, nonsense)
            assert repr(nonsense) in str(raised.value)
            assert all(game.action_to_string(step.state, action) in str(raised.value) for action in step.actions)
            assert "\n" not in str(raised.value)


@every_game
def test_show_is_text_for_every_seat_and_for_a_spectator(game):
    for step in all_steps(game, 2):
        for seat in (*range(game.facts.seats), SPECTATOR):
            text = game.show(step.state, seat)
            assert text.strip() == text != ""


@every_hidden_game
def test_a_spectator_sees_hidden_information(game):
    """Positions that differ only in hidden information have different texts, else a replay couldn't be followed."""
    rng = jit.generators(12, 1)[0]
    for step in all_steps(game, 2):
        for seat in range(game.facts.seats):
            world = world_of(game, view_of(game, step.state, seat), seat, rng)
            alike = game.show(step.state, SPECTATOR) == game.show(world, SPECTATOR)
            assert alike == same(step.state, world)


@every_hidden_game
def test_a_view_shows_nothing_that_its_seat_does_not_know(game):
    """The text is the same for a determinization: it can't depend on hidden information."""
    rng = jit.generators(13, 1)[0]
    for step in all_steps(game, 2):
        for seat in range(game.facts.seats):
            view = view_of(game, step.state, seat)
            world = world_of(game, view, seat, rng)
            assert game.show(view, seat) == game.show(view_of(game, world, seat), seat)
