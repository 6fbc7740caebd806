"""Animated replays: well-formed, self-contained, one frame per move, and the last position without motion."""

import re
from itertools import groupby
from xml.etree import ElementTree

import pytest
from replay_frames import frames
from replay_svg import replay_svg

from kibitz.games import CHANCE, full_name, load
from kibitz.games.display import display, piece_owners
from kibitz.games.svg import PIECES

from .games.facts import PILE, SHIPPED
from .games.walks import walk

SVG = "{http://www.w3.org/2000/svg}"
NAMES = [*SHIPPED, "goofspiel:13", "hex:5,swap=yes", "doppelkopf:thesis", "holdem:flop", f"{PILE}:Pile:5"]


@pytest.fixture(params=NAMES, scope="module")
def played(request):
    """A game, a random game of it, and its replay."""
    game = load(request.param)
    steps = walk(game, 1)
    actions = [step.action for step in steps if step.action >= 0]
    return game, steps, replay_svg(game, actions, ["<script>"] * game.facts.seats)


def test_a_replay_is_one_element_that_loads_nothing(played):
    text = played[2]
    root = ElementTree.fromstring(text)
    assert root.tag == f"{SVG}svg"
    assert not list(root.iter(f"{SVG}script"))
    assert not any(name.startswith("on") for each in root.iter() for name in each.attrib)
    ids = {each.get("id") for each in root.iter()} - {None}
    assert {each.get("href") for each in root.iter(f"{SVG}use")} <= {f"#{name}" for name in ids}
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"url\(|@import|<image|<foreignObject", text)


def test_every_move_is_a_frame(played):
    game, steps, text = played
    words = display(game)
    played_moves = [step for step in steps if step.action >= 0]
    seen = [
        step.turn for step in played_moves if step.turn == CHANCE or words.is_visible(step.state, step.action)
    ]  # announcements of silence aren't
    runs = [len(list(group)) if turn != CHANCE else 1 for turn, group in groupby(seen)]
    found = re.findall('data-frame="([0-9]+)"', text)
    assert found == [str(i) for i in range(sum(runs) + (seen[0] != CHANCE))]


def test_every_animation_has_its_keyframes(played):
    text = played[2]
    used = set(",".join(re.findall('animation-name:([^;"]*)', text)).split(","))
    assert used == set(re.findall("@keyframes ([a-z0-9-]+)", text)) - {"p"}
    for number in re.findall(r"([0-9.]+)%", text):
        assert 0 <= float(number) <= 100


def test_without_motion_it_is_the_last_position(played):
    game, steps, text = played
    assert "@media(prefers-reduced-motion:reduce){*{animation:none!important}}" in text
    root = ElementTree.fromstring(text)
    drawn = {f"#{each.get('id')}": each for each in root.find(f"{SVG}defs")}
    still = [each for each in root if "o" not in (each.get("class") or "").split() and each.tag != f"{SVG}defs"]
    if hasattr(game, "board"):
        circles = [part for each in still for part in drawn.get(each.get("href"), each).iter(f"{SVG}circle")]
        fills = [re.search(rf"\.{each.get('class')}{{fill:(#\w+)", text)[1] for each in circles]
        owners = [owner for owner in piece_owners(game, steps[-1].state) if owner >= 0]
        assert sorted(fills) == sorted(PIECES[owner][0] for owner in owners)
    captions = [each for each in still if each.get("data-frame")]
    assert len(captions) == 1
    last = "".join(captions[0].itertext())
    payoffs = [game.payoff(steps[-1].state, seat) for seat in range(game.facts.seats)]
    paid = [f"seat {seat + 1} gets {payoff:+g}" for seat, payoff in enumerate(payoffs)]
    if len(payoffs) == 2:
        paid = [words for words, payoff in zip(paid, payoffs, strict=True) if payoff > 0] or ["both get 0"]
    assert last.endswith("; " + ", ".join(paid))


def test_names_of_players_are_text(played):
    game, _, text = played
    assert (
        ElementTree.fromstring(text).find(f"{SVG}title").text.startswith(f"{full_name(game)}: seat 1 <script>, seat 2")
    )


def test_a_piece_that_moves_glides_and_one_that_is_captured_vanishes():
    game = load("breakthrough:4,columns=2")
    state = game.initial()
    for move in ("a2-a3", "b4xa3", "b2xa3"):
        state.play(move) if move in state.legal() else state.play(state.legal()[0])
    text = replay_svg(game, state.history)
    moves = re.findall(r"@keyframes (m[0-9]+)\{(.*)\}", text)
    assert len(moves) == len({action for action in state.history})
    assert all(steps.count("translate:") == 2 for _, steps in moves)


def test_a_card_that_is_played_goes_from_the_hand_to_the_bids():
    game = load("goofspiel:3")
    first, second = (picture for _, picture in list(frames(game, [2, 0]))[:2])
    assert first != second
    text = replay_svg(game, [2, 0])
    assert re.search(r"@keyframes m[0-9]+\{from,[0-9.]+%\{translate:[0-9.]+px [0-9.]+px\}[0-9.]+%,to\{translate", text)


def test_a_card_has_its_size_in_every_pose():
    """The hand of seat 1 in Doppelkopf is larger than the trick, the last trick is smaller."""
    game = load("doppelkopf:thesis")
    text = replay_svg(game, [step.action for step in walk(game, 1) if step.action >= 0])
    moves = re.findall(r"@keyframes m[0-9]+\{(.*)\}", text)
    assert any("scale:1.25" in steps and "scale:1}" in steps and "scale:0.6" in steps for steps in moves)
    for steps in moves:
        assert steps.count("scale:") in (0, steps.count("translate:"))


@pytest.mark.parametrize("name", ["breakthrough", "doppelkopf:thesis", "kuhn"])
def test_times_of_keyframes_are_told_apart(name):
    game = load(name)
    text = replay_svg(game, [step.action for step in walk(game, 1) if step.action >= 0])
    for kind, steps in re.findall(r"@keyframes ([a-z])[0-9a-z-]*\{(.*)\}", text):
        times = re.findall(r"(from|to|[0-9.]+%)(?=[,{])", steps)
        assert len(times) == len(set(times))
        if kind == "m":
            numbers = [float(time.rstrip("%")) for time in times[1:-1]]
            assert numbers == sorted(numbers)
