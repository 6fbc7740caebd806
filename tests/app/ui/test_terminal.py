"""Interactive games with scripted input: what they ask, what they show, and what they never reveal."""

import hashlib
import io
import re
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from kibitz import games
from kibitz.app.ui import terminal
from kibitz.app.ui.formatting import advice_table, compact_moves, nth
from kibitz.app.ui.referee import Follower, Referee, Step, describe_step, equal, next_state, observed_action
from kibitz.app.ui.terminal import SHORT, Score, TerminalGame
from kibitz.app.ui.words import ENGLISH, GERMAN, LANGUAGES, Words
from kibitz.games import CHANCE, OVER, display, legal_actions, view_of
from kibitz.play.players import Random
from kibitz.search.advice import Advice, fixed_advice

from ...games.facts import ROWS
from ...games.walks import every_game, every_hidden_game, over, walk, walks

FOR_TWO = [row for row in ROWS if not row.heavy and games.load(row.name).facts.seats == 2]
every_hidden_game_for_two = over([row for row in FOR_TWO if games.load(row.name).facts.hidden])

LEDUC, KUHN, GOOFSPIEL = (games.load(name) for name in ("leduc", "kuhn", "goofspiel:4"))


def nth_or_leave(actions, i):
    if i >= len(actions):
        raise EOFError
    return actions[i]


class Script:
    """Plays given actions, and records the views that it was shown."""

    advice = None

    def __init__(self, *actions):
        self.actions, self.shown, self.seat = actions, [], None

    def begin(self, game, seat, seed):
        self.shown, self.seat = [], seat

    def move(self, view):
        self.shown.append(view)
        return nth_or_leave(self.actions, len(self.shown) - 1)


class Gazer(Script):
    """Gives advice that depends on every bit of the view."""

    def begin(self, game, seat, seed):
        super().begin(game, seat, seed)
        self.game, self.seed = game, seed

    def move(self, view):
        self.shown.append(view)
        digest = hashlib.sha256(repr([np.asarray(view[field]).tolist() for field in view.dtype.names]).encode())
        weights = np.random.default_rng(list(digest.digest())).random(len(legal_actions(self.game, view)))
        self.advice = fixed_advice(self.game, view, weights / weights.sum())
        return self.advice.best


def plain(renderable, width=80):
    console = Console(file=io.StringIO(), width=width)
    console.print(renderable)
    return "\n".join(line.rstrip() for line in console.file.getvalue().splitlines())


class Scripted(TerminalGame):
    """A game whose person enters these lines and then leaves."""

    def __init__(self, game, *lines, others=None, kibitzer=None, **options):
        self.text, self.lines = [], list(lines)
        others = others or [Random() for _ in range(game.facts.seats - 1)]
        super().__init__(game, others, kibitzer or Gazer(), self.answer, self.listen, **options)

    def answer(self, prompt):
        if not self.lines:
            raise EOFError
        self.text.append(prompt + self.lines[0])
        return self.lines.pop(0)

    def listen(self, renderable):
        self.text.append(plain(renderable))


def transcript(game, *lines, **options):
    table = Scripted(game, *lines, **options)
    table.run()
    return "\n".join(table.text)


@pytest.fixture
def deal(monkeypatch):
    """Fix the chance outcomes, in the order of its turns."""

    def stack(game, *words):
        def fixed(self, ply):
            state = self._states[-1]
            dealt = sum(self.game.turn(earlier) == CHANCE for earlier in self._states[:-1])
            return game.parse_action(state, words[dealt])

        monkeypatch.setattr(Referee, "_deal", fixed)

    return stack


# ---------------------------------------------------------------- nothing leaks


def twin(game, seat, steps, generator):
    """Sample actions that give a seat the same views as these steps."""
    goals = [view_of(game, step.state, seat) for step in steps]

    def extend(state, ply):
        if ply == len(steps) - 1:
            return []
        step = steps[ply]
        choices = [step.action] if step.turn == seat else generator.permutation(legal_actions(game, state)).tolist()
        for action in choices:
            following = next_state(game, state, action)
            if equal(view_of(game, following, seat), goals[ply + 1]):
                rest = extend(following, ply + 1)
                if rest is not None:
                    return [action, *rest]
        return None

    return extend(games.positions(game)[0], 0)


class Curious(Scripted):
    """A person who enters every command before each move, and takes one move back."""

    def __init__(self, game, seat, steps, actions):
        self.own = [step.action for step in steps[:-1] if step.turn == seat]
        others = [action for step, action in zip(steps, actions, strict=False) if step.turn not in (seat, CHANCE)]
        super().__init__(game, others=[Script(*others)], seat=seat, advice=True)
        self.questions, self.undone = [], False

    def decide(self):
        self.questions = ["moves", "score", "a"]
        super().decide()

    def answer(self, prompt):
        views = self.referee.views()
        if len(views) > 1 and not self.undone:
            self.undone, line = True, "undo"
        elif self.questions:
            line = self.questions.pop()
        else:
            line = self.game.action_to_string(views[-1], nth_or_leave(self.own, len(views) - 1))
        self.text.append(prompt + line)
        return line

    def end(self):
        raise EOFError


@every_hidden_game_for_two
def test_two_states_with_the_same_views_give_the_same_text(game, monkeypatch):
    """Up to the end of the game, and up to a moment within it: later views may tell the two states apart."""
    generator, different = np.random.default_rng(7), 0
    for seed in range(60):
        seat, steps = seed % 2, walk(game, seed)
        if seed % 3:
            steps = steps[: generator.integers(2, len(steps) + 1)]
        actions, text = [step.action for step in steps[:-1]], []
        other = twin(game, seat, steps, generator)
        if other == actions:
            continue
        for way in (actions, other):
            table = Curious(game, seat, steps, way)
            monkeypatch.setattr(Referee, "_deal", lambda self, ply, way=way: nth_or_leave(way, ply - 1))
            table.run()
            assert len(table.events) == len(steps) - 1  # all steps were played
            text.append(table.text)
        assert text[0] == text[1]
        different += 1
        if different == 3:
            break
    assert different > 0


@every_game
def test_an_observed_action_is_the_one_that_was_played(game):
    """It is withheld only in games with hidden information."""
    for steps in walks(game, 2):
        for i in range(0, len(steps) - 1, 1 + len(steps) // 60 * 4):
            step = steps[i]
            for seat in set(range(game.facts.seats)) - {step.turn}:
                views = (view_of(game, steps[i + j].state, seat) for j in range(2))
                action = observed_action(game, seat, Step(step.turn, *views))
                assert action in (step.action, None)
                if not game.facts.hidden:
                    assert action == step.action


def test_a_forced_card_is_not_revealed_by_being_forced():
    """In II-Goofspiel the last bid leaves no choice, but the opponent can't know which card it was."""
    game = games.load("goofspiel:4,play_last=yes")
    steps = walk(game, 3)
    before, now = (view_of(game, step.state, 0) for step in steps[-2:])
    assert len(steps[-2].actions) == 1
    assert observed_action(game, 0, Step(1, before, now)) is None
    assert describe_step(display.display(game), 0, Step(1, before, now)) == "seat 2 has moved"


@every_hidden_game
def test_a_referee_hands_out_views_only(game):
    referee = Referee(game, 1, [Random() for _ in range(game.facts.seats - 1)], 1)
    while (turn := game.turn(referee.view())) != OVER:
        step = referee.play(legal_actions(game, referee.view())[0]) if turn == 1 else referee.step()
        for view in (*step[1:], *referee.views()):
            assert equal(view, view_of(game, view, 1))  # nothing is left to mask


def test_the_true_state_is_not_available_before_the_end():
    referee = Referee(KUHN, 0, [Script(1)], 1)
    while KUHN.turn(referee.view()) != 0:
        referee.step()
    with pytest.raises(RuntimeError, match="when the game is over"):
        referee.final_state()
    referee.play(KUHN.parse_action(referee.view(), "bet"))
    referee.step()
    assert KUHN.turn(referee.final_state()) == OVER


# ---------------------------------------------------------------- what is shown


def test_moves_of_others_are_described_in_words(deal):
    deal(LEDUC, "K", "Q", "J")
    text = transcript(LEDUC, "check", "call", "check", "n", others=[Script(2, 2, 1)])
    assert "seat 2 raises" in text
    assert "chance: K" in text
    assert "chance: J" in text
    assert text.count("chance") == 2  # the opponent's card is not shown
    assert "seat 2 has moved" in transcript(GOOFSPIEL, "4", others=[Script(2)])
    # Only a 1 loses to a 2, but that inference is left to the person.
    assert "seat 2 has moved" in transcript(GOOFSPIEL, "2", others=[Script(0)])
    dice = games.load("liars_dice:faces=4")
    deal(dice, "2", "3")
    assert "seat 2 plays 2x3" in transcript(dice, "1x2", "q", others=[Script(dice.facts.num_actions - 3)])
    assert "seat 2 says liar" in transcript(dice, "1x2", "q", others=[Script(dice.facts.num_actions - 1)])


def test_the_position_is_shown_from_your_seat(deal):
    deal(LEDUC, "K", "Q", "J")
    table = Scripted(LEDUC, "check", "check", "check", seat=1, others=[Script(1, 1)])
    table.run()
    text = "\n".join(table.text)
    assert "seat 2 (you): Q" in text
    middle, end = text.split("game over, everything revealed")
    assert "K" not in middle.replace("kibitz", "")
    assert "seat 1: K, 1 in the pot" in end


def test_the_end_shows_result_and_score_and_the_next_game_is_from_the_next_seat(deal):
    deal(KUHN, "K", "Q")
    text = transcript(KUHN, "bet", "what?", "", "pass", "no", others=[Script(1)])
    first, second = text.split("play again? [Y/n/same] \n")
    assert "game 1 of kuhn: you are seat 1" in first
    assert "you win 2" in first
    assert "score: +2 after 1 game (1 won, 0 lost)" in first
    assert "answer y for another game" in first
    assert "game 2 of kuhn: you are seat 2" in second
    assert "you lose 1" in second
    assert "score: +1 after 2 games (1 won, 1 lost)" in second
    assert "you left" not in text


def test_a_score_counts_draws():
    score = Score()
    assert score.text() == "score: no game finished yet"
    for payoff in (0.5, 0, 0, -2):
        score.add(payoff)
    assert score.text() == "score: -1.5 after 4 games (1 won, 1 lost, 2 drawn)"


@pytest.mark.parametrize("last", [(), ("q",), ("quit",), ("exit",)])
def test_leaving_at_any_time_ends_with_the_score(last):
    text = transcript(KUHN, *last)
    assert text.endswith("you left the game\nscore: no game finished yet")


# ---------------------------------------------------------------- what is asked


@pytest.mark.parametrize("line", ["raise", "RAISE ", "2", "r", "rai"])
def test_a_move_is_entered_by_name_number_or_start_of_name(line):
    table = Scripted(LEDUC, line, "moves", seed=3, others=[Script(2, 1)])
    table.run()
    assert "you raise; seat 2 raises" in "\n".join(table.text)


def test_where_names_are_numbers_a_number_is_a_name():
    text = transcript(GOOFSPIEL, "2", "1", "3", others=[Script(0, 1, 2)])
    assert "moves: 1 3 4" in text  # where the third would be 4
    assert "bid 2 1 3 4" in text
    assert "'2' is no move here: 1, 3, 4" in transcript(GOOFSPIEL, "2", "2", others=[Script(0)])


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("xyzzy", "'xyzzy' is no move here: 1x1, 1x2, 2x1, 2x2"),
        ("1x", "'1x' is ambiguous: 1x1 or 1x2"),
        ("0", "'0' is no move here"),
        ("5", "'5' is no move here"),
        ("9" * 5000, f"'{40 * '9'}...' is no move here"),
        ("²", "'²' is no move here"),
        ("[bold]", "'[bold]' is no move here"),
    ],
)
def test_invalid_input_is_explained_and_asked_again(line, answer):
    text = transcript(games.load("liars_dice:faces=2"), line, "1x2", "moves", others=[Script(3)])
    assert answer in text
    assert "you play 1x2; seat 2 plays 2x2" in text


def test_an_empty_line_is_asked_again_without_a_message():
    table = Scripted(KUHN, "", "  ", "bet")
    table.run()
    i = table.text.index("your move> ")
    assert table.text[i : i + 3] == ["your move> ", "your move>   ", "your move> bet"]


def test_the_moves_are_listed_with_their_numbers():
    assert "1 check   2 raise" in transcript(LEDUC)


def test_a_move_with_the_name_of_a_command_is_the_move(monkeypatch):
    names = lambda self, state, action: "qa"[action] if state.dealt == 2 else "JQK"  # noqa: E731
    monkeypatch.setattr(type(KUHN), "action_to_string", names)
    table = Scripted(KUHN, "Q", "moves", others=[Script(1)])
    table.run()
    assert "you say q" in "\n".join(table.text)


def test_help_lists_every_command():
    text = transcript(LEDUC, "?", "help")
    for word in ("advice", "undo", "moves", "score", "quit", *set(SHORT) - {"exit"}):
        assert re.search(rf"{re.escape(word)}\b|{re.escape(word)}\)", text)
    assert text.count("show the kibitzer's advice") == 2


# ---------------------------------------------------------------- moves taken back


def test_undo_goes_back_to_your_previous_move_and_the_cards_stay(deal):
    table = Scripted(LEDUC, "check", "undo", "raise", "moves", "q", seed=5, others=[Script(1, 1)])
    table.run()
    panels = [text for text in table.text if "seat 1 (you)" in text]
    assert panels[0] == panels[2]  # the same cards, before the first move
    assert "move taken back" in table.text
    public = [re.search(r"public: (\w)", panels[i])[1] for i in (1, 3)]
    assert public[0] == public[1]
    history = next(text for text in table.text if "you raise" in text)
    assert history.count("you") == 1
    assert "seat 2 calls" in history


def test_the_others_start_over_after_an_undo():
    other = Script(0, 1, 2)
    table = Scripted(GOOFSPIEL, "2", "4", "undo", "3", "q", others=[other])
    table.run()
    assert [int(view.rounds) for view in other.shown] == [0, 1]
    assert int(other.shown[0].bids[1, 0]) == -1
    assert int(table.referee.view().bids[0, 1]) == 2
    other = Script(0, 1, 2)
    transcript(GOOFSPIEL, "2", "4", "undo", "undo", "1", "q", others=[other])
    assert [int(view.rounds) for view in other.shown] == [0]
    other = Script(1, 1)
    transcript(LEDUC, "check", "undo", "raise", others=[other])
    assert [int(view.raised) for view in other.shown] == [1]


def test_at_your_first_move_there_is_nothing_to_undo():
    text = transcript(LEDUC, "undo", "check", "undo", "undo", seed=5, others=[Script(1)])
    assert text.count("this is your first move") == 2
    assert text.count("taken back") == 1


# ---------------------------------------------------------------- advice


def test_advice_is_shown_on_request_or_before_every_move():
    assert transcript(LEDUC, name="gazer").count("gazer would play") == 0
    assert transcript(LEDUC, "a", "advice", name="gazer").count("gazer would play") == 2
    assert transcript(LEDUC, name="gazer", advice=True).count("gazer would play") == 1
    assert "script gives no advice" in transcript(KUHN, "a", kibitzer=Script(0), name="script")


def test_a_kibitzer_asked_late_is_shown_all_earlier_views():
    kibitzer = Gazer()
    table = Scripted(GOOFSPIEL, "2", "4", "a", "a", "q", seat=1, kibitzer=kibitzer)
    table.run()
    assert kibitzer.seat == 1
    assert [int(view.rounds) for view in kibitzer.shown] == [0, 1, 2]
    assert all((view.bids[0] == -1).all() for view in kibitzer.shown)
    assert all(map(equal, kibitzer.shown, table.referee.views()))


def test_advice_leaves_out_columns_without_values():
    view = walk(LEDUC, 1)[2].state
    bare = plain(advice_table(LEDUC, view, fixed_advice(LEDUC, view, np.array([0.25, 0.75]))))
    assert "25.0%" in bare
    assert "75.0%  ███████████████" in bare
    assert "value" not in bare
    assert "visits" not in bare
    assert "simulations" not in bare
    actions, policy = np.array([1, 2]), np.array([0.0, 1.0])
    full = Advice(actions, policy, np.array([np.nan, -1.5]), np.array([0, 1200]), policy, 1200, 0.5)
    rich = plain(advice_table(LEDUC, view, full))
    assert re.search(r"check +0\.0% +- +0$", rich, re.M)
    assert re.search(r"raise +100\.0% +█{20} +-1\.500 +1,200$", rich, re.M)
    assert "values: expected payoff for seat" in rich
    assert "value -1.500, 1,200 simulations in 0.50 s" in rich
    assert max(map(len, rich.splitlines())) <= 80


HEX = games.load("hex:7")


class Spread(Gazer):
    """Advises all moves, the last of the rules most."""

    def move(self, view):
        n = len(legal_actions(self.game, view))
        self.advice = fixed_advice(self.game, view, np.arange(1, n + 1) / (n * (n + 1) / 2))
        return self.advice.best


@pytest.mark.parametrize("name", ["hex:7", "hex", "gomoku", "othello", "breakthrough", "fanorona", "goofspiel:13"])
def test_advice_leaves_the_position_on_a_screen_of_24_lines(name):
    game = games.load(name)
    table = Scripted(game, others=[Script(0)], kibitzer=Spread(), advice=True, name="spread")
    table.run()
    shown = "\n".join(table.text[1:-2]).splitlines()  # without the first line, and the last two after leaving
    assert "spread would play" in "\n".join(shown)
    assert len(shown) + 1 <= 24  # the prompt
    assert max(map(len, shown)) <= 80


def test_the_best_moves_are_advised_first_and_the_others_together():
    view = walk(HEX, 1)[0].state
    policy = np.arange(1, 50) / (49 * 50 / 2)
    lines = plain(advice_table(HEX, view, fixed_advice(HEX, view, policy), rows=5)).splitlines()
    assert [line.split()[0] for line in lines[1:6]] == ["g7", "f7", "e7", "d7", "c7"]
    assert lines[6].split() == ["and", "44", "more", f"{100 * policy[:44].sum():.1f}%"]
    few = plain(
        advice_table(
            LEDUC, walk(LEDUC, 1)[2].state, fixed_advice(LEDUC, walk(LEDUC, 1)[2].state, np.ones(2) / 2), rows=1
        )
    )
    assert "more" not in few  # where one is left it is shown


def test_worse_values_have_no_longer_bars():
    view = walk(LEDUC, 1)[2].state
    advice = Advice(
        np.array([1, 2]), np.array([0.9, 0.1]), np.array([-0.5, -8.0]), np.array([90, 10]), np.ones(2) / 2, 100
    )
    best, worst = plain(advice_table(LEDUC, view, advice)).splitlines()[1:3]
    assert best.count("█") > worst.count("█")


@pytest.mark.parametrize(
    ("visits", "exact", "warned"),
    [
        ((2, 1), False, "only 3 visits: little to rely on"),
        ((1, 0), False, "only 1 visit: little"),
        ((2, 1), True, ""),
        ((50, 3), False, ""),
        ((0, 0), False, ""),  # values are known, as a solver knows them
    ],
)
def test_advice_on_few_visits_says_so(visits, exact, warned):
    view = walk(LEDUC, 1)[2].state
    advice = Advice(
        np.array([1, 2]), np.ones(2) / 2, np.zeros(2), np.array(visits), np.ones(2) / 2, 10_000, exact=exact
    )
    shown = plain(advice_table(LEDUC, view, advice))
    assert warned in shown
    assert ("little to rely on" in shown) == bool(warned)


def test_a_policy_without_search_says_what_it_is():
    view = walk(LEDUC, 1)[2].state
    assert "a policy without search" in plain(advice_table(LEDUC, view, fixed_advice(LEDUC, view, np.ones(2) / 2)))


def test_many_moves_are_listed_by_their_ranges():
    assert "moves: a-g 1-7 (49 moves)" in transcript(HEX)
    text = transcript(HEX, "d4", "zz", others=[Script(0)])
    assert "moves: a 2-7, b-c 1-7, d 1-3 5-7, e-g 1-7 (47 moves)" in text
    assert "'zz' is no move here: a 2-7, b-c 1-7, d 1-3 5-7, e-g 1-7 (47 moves)" in text
    assert compact_moves(["a1", "a2", "a4", "b1", "b2", "b4", "d3", "swap"]) == "a-b 1-2 4, d 3, swap"
    assert compact_moves(["a2-a3", "a2-b3", "b2xa3", "stop"]) == "a2-a3/b3, b2xa3, stop"


# ---------------------------------------------------------------- seeds and seats


def test_the_same_seed_deals_the_same_games():
    lines = ["1", "1", "1", "1", "", "1", "1", "1", "1"]
    one, two, three = (transcript(LEDUC, *lines, seed=seed, advice=True) for seed in (1, 1, 2))
    assert one == two != three


def test_successive_games_differ():
    text = transcript(games.load("leduc:ranks=13,suits=4,distinct_suits=yes,raises=0"), *["1", "1", ""] * 5)
    cards = re.findall(r"for help\) chance: (\w+)", " ".join(text.split()))
    assert len(cards) == 6
    assert len(set(cards[::2])) > 1  # of seat 1


THREE = """
from typing import NamedTuple
from kibitz.games import OVER, game
from kibitz.jit import record

@game("three", state=record(("said", "i1", (3,)), ("ply", "i1")), num_actions=2, max_game_length=3, payoffs=(0, 1),
      seats=3,
      zero_sum=False)
class Three(NamedTuple):
    def start(self, state):
        state.said[:] = 0
        state.ply = 0
    def turn(self, state):
        return int(state.ply) if state.ply < 3 else OVER
    def actions(self, state, out):
        out[0], out[1] = 0, 1
        return 2
    def play(self, state, action):
        state.said[int(state.ply)] = action
        state.ply += 1
    def payoff(self, state, seat):
        return float(state.said[seat])
    def action_to_string(self, state, action):
        return ("pass", "bet")[action]
"""


def test_a_game_for_three_seats_is_played(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("three.py").write_text(THREE)
    game = games.load("three.py:Three")
    others = [Script(1), Script(0)]
    text = transcript(game, "bet", "y", "pass", "y", "bet", "y", "pass", "n", others=others)
    for number, seat in enumerate((1, 2, 3, 1)):
        assert re.search(rf"game {number + 1} of\s\S*three\.p\s?y:Three: you are seat {seat}", text)
    assert "seat 2 bets\nseat 3 passes" in text
    assert "seat 1 bets\nseat 2 passes" in text
    assert [other.seat for other in others] == [1, 2]
    assert "you break even" in text


PHANTOM = """
from typing import NamedTuple
import numpy as np
from kibitz.games import OVER, game
from kibitz.jit import below, copy_record, record

STATE = record(("own", "i1", (2,)), ("tried", "i1", (2,)), ("to_move", "i1"), ("placed", "i1"))

@game("phantom", state=STATE, num_actions=4, max_game_length=12, payoffs=(-1, 1))
class Phantom(NamedTuple):
    def start(self, state):
        state.own[:] = 0
        state.tried[:] = 0
        state.to_move = 0
        state.placed = 0
    def turn(self, state):
        return OVER if state.placed == 4 else int(state.to_move)
    def actions(self, state, out):
        seat, n = int(state.to_move), 0
        for cell in range(4):
            if not (int(state.own[seat]) | int(state.tried[seat])) >> cell & 1:
                out[n] = cell
                n += 1
        return n
    def play(self, state, action):
        seat = int(state.to_move)
        if int(state.own[1 - seat]) >> action & 1:
            state.tried[seat] = int(state.tried[seat]) | 1 << action
        else:
            state.own[seat] = int(state.own[seat]) | 1 << action
            state.placed += 1
            state.to_move = 1 - seat
    def payoff(self, state, seat):
        return 0.0
    def look(self, state, seat, out):
        copy_record(out, state)
        out.own[1 - seat] = 0
        out.tried[1 - seat] = 0
    def infoset(self, state, seat):
        told = 1 + int(state.own[seat]) + 16 * int(state.tried[seat]) + 256 * int(state.placed) + 4096 * seat
        return np.uint64(told)
    def determinize(self, view, seat, notes, rng, out):
        copy_record(out, view)
        mine, free = int(view.own[seat]), 15 & ~int(view.own[seat])
        owned = int(view.placed) - ((mine & 1) + (mine >> 1 & 1) + (mine >> 2 & 1) + (mine >> 3 & 1))
        for _ in range(200):
            own, tried, count = below(rng, 16) & free, below(rng, 16) & mine, 0
            for cell in range(4):
                count += own >> cell & 1
            if count == owned and own & int(view.tried[seat]) == int(view.tried[seat]):
                out.own[1 - seat] = own
                out.tried[1 - seat] = tried
                return True
        return False
"""


def test_a_failed_try_of_another_seat_is_not_revealed(tmp_path, monkeypatch):
    """In a phantom game: a second `has moved` would tell that the first move failed."""
    monkeypatch.chdir(tmp_path)
    Path("phantom.py").write_text(PHANTOM)
    game = games.load("phantom.py:Phantom")
    at_once = transcript(game, "0", others=[Script(1)])
    after_a_failure = transcript(game, "0", others=[Script(0, 1)])
    assert at_once == after_a_failure
    assert at_once.count("seat 2 has moved") == 1


# ---------------------------------------------------------------- languages


def test_every_text_of_the_table_has_a_translation():
    """Found in the source: words("...", ...). Values that are filled in have the same names."""
    folder = Path(terminal.__file__).parents[1]
    sources = [folder / "ui" / name for name in ("terminal.py", "referee.py", "formatting.py", "words.py")]
    sources += [folder / "commands" / name for name in ("play.py", "advise.py", "convert.py")]
    sources.append(folder.parent / "doppelkopf" / "app" / "session.py")
    used = set()
    for source in sources:
        used |= set(re.findall(r'\bwords\(\s*"((?:[^"\\]|\\.)+)"', source.read_text()))
    used |= set(terminal.COMMANDS) | set(terminal.COMMANDS.values())
    assert len(used) > 50
    assert tuple(LANGUAGES) == display.LANGUAGES
    assert not used - set(GERMAN)
    for english, german in GERMAN.items():
        assert sorted(re.findall(r"{\w+}", english)) == sorted(re.findall(r"{\w+}", german))


@pytest.mark.parametrize("game", [KUHN, LEDUC, HEX], ids=lambda game: game.name)
def test_the_table_speaks_german_in_every_game(game):
    lines = ["xyzzy", "rat", "hilfe", "züge", "stand", "zurück", "1", "d4", "1", "1", "1", "vielleicht", "n"]
    text = transcript(game, *lines, language="de", kibitzer=Gazer(), seed=2)
    boxes = re.compile(r"^│ seat.*│$|^│ public.*$|^│ history.*$", re.M)  # the game's own text
    plain_text = boxes.sub("", text)
    for english in ("your move", "play again", "score", "would play", "policy", "seat 2", "is no move", "Enter a move"):
        assert english not in plain_text
    assert "dein Zug> " in text
    assert "ist hier kein Zug" in text
    assert "Anteil" in text
    assert "Stand: " in text


# ---------------------------------------------------------------- words


def test_moves_are_sentences():
    assert ENGLISH.sentence("seat 2", "pass") == "seat 2 passes"
    assert ENGLISH.sentence("seat 2", "check") == "seat 2 checks"
    assert ENGLISH.sentence("you", "raise") == "you raise"
    assert ENGLISH.sentence("seat 1", "liar") == "seat 1 says liar"
    assert ENGLISH.sentence("you", "2x5") == "you play 2x5"
    assert Words("de").sentence("Platz 2", "♥10") == "Platz 2 spielt ♥10"
    assert Words("de").sentence("du", "Re", True) == "du sagst Re"


def test_ordinals_have_the_right_endings():
    numbers = (1, 2, 3, 4, 11, 12, 13, 21, 102, 111)
    assert " ".join(map(nth, numbers)) == "1st 2nd 3rd 4th 11th 12th 13th 21st 102nd 111th"


class Thinker:
    """Notes the seconds that it has at each move."""

    seconds, advice = 5.0, None

    def __init__(self):
        self.had = []

    def begin(self, game, seat, seed):
        pass

    def move(self, view):
        self.had.append(self.seconds)
        return legal_actions(games.load("tic_tac_toe"), view)[0]


def test_after_a_move_is_taken_back_a_player_thinks_about_the_present_only():
    """It is shown its past views again, and would think about each of them as long as about the last one."""
    game, player = games.load("tic_tac_toe"), Thinker()

    def after(*actions):
        state = games.positions(game)[0]
        for action in actions:
            state = next_state(game, state, action)
        return view_of(game, state, 0)

    follower, views = Follower(player, game, 0, 1), [after(), after(0, 3), after(0, 3, 1, 4)]
    for n in range(1, 4):
        follower.move(views[:n])
    assert player.had == [5.0] * 3
    follower.move([*views[:2], after(0, 3, 8, 4)])
    assert player.had[3:] == [0.01, 0.01, 5.0]
    assert player.seconds == 5.0
