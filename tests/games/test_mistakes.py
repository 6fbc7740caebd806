"""Mistakes in one's own game: each is reported in one line, by the check and when the game is simply used."""

import re
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

import kibitz
import kibitz.search.policies  # so that the names of its rules are known
from kibitz import BadInput
from kibitz.app import cli

GAME = '''"""One card each of three, one bet, one answer."""

from typing import Annotated, NamedTuple

import numpy as np

from kibitz import CHANCE, OVER, game, helper, record
from kibitz.jit import below, copy_record, mix

STATE = record(("cards", "i1", (2,)), ("step", "i1"), ("bets", "i1"), ("calls", "i1"))
NAMES = {0: "J", 1: "Q", 2: "K"}


class Score:
    high = 1


@game(
    "one_bet",
    state=STATE,
    num_actions=2,
    max_chance_outcomes=3,
    max_game_length=4,
    payoffs=(-2.0, 2.0),
)
class OneBet(NamedTuple):
    bet: Annotated[int, "size of the bet", range(1, 3)] = 1

    def start(self, state):
        state.cards[:] = -1
        state.step = 0
        state.bets = 0
        state.calls = 0

    def turn(self, state):
        return (CHANCE, CHANCE, 0, 1, OVER)[int(state.step)]

    def actions(self, state, out):
        n = 0
        for action in range(3 if state.step < 2 else 2):
            if state.step != 1 or action != state.cards[0]:
                out[n] = action
                n += 1
        return n

    def play(self, state, action):
        step = int(state.step)
        state.step = step + 1
        if step < 2:
            state.cards[step] = action
        elif step == 2:
            state.bets = action
            state.step = 3 if action == 1 else 4
        else:
            state.calls = action

    def payoff(self, state, seat):
        if state.bets and not state.calls:
            return 1.0 if seat == 0 else -1.0
        stake = 1.0 + self.bet * int(state.bets)
        return stake if state.cards[seat] > state.cards[1 - seat] else -stake

    def infoset(self, state, seat):
        key = 8 * (2 + seat) + int(state.cards[seat]) + 1
        key = 8 * key + int(state.step)
        return np.uint64(4 * key + 2 * int(state.bets) + int(state.calls))

    def look(self, state, seat, out):
        copy_record(out, state)
        out.cards[1 - seat] = -1

    def determinize(self, view, seat, notes, rng, out):
        copy_record(out, view)
        if view.step > 1 - seat:
            own = int(view.cards[seat])
            card = below(rng, 3 - (own >= 0))
            out.cards[1 - seat] = card + (0 <= own <= card)
        return True

    def action_to_string(self, state, action):
        return "JQK"[action] if state.step < 2 else ("check", "bet", "fold", "call")[2 * int(state.step) - 4 + action]


def higher(one, two):
    return one > two
'''
HIDING = GAME[GAME.index("    def look") : GAME.index("    def action_to_string")]


class Mistake(NamedTuple):
    old: str  # in the game above
    new: str
    message: str  # a pattern that the message holds
    rule: str = ""  # the rule or fact that it names
    line: str = ""  # text in the line that it names


def split(private, public, ends="-1"):
    """The rules of a public tree, given what they return."""
    rules = {"private_state(self, state, seat)": private, "public_state(self, state)": public}
    written = (rules | {"payoff_class(self, state)": ends}).items()
    return "".join(f"    def {rule}:\n        return {value}\n\n" for rule, value in written) + (
        "    def action_to_string("
    )


FIRST = "state.step = 0"
SHOWDOWN = "        return stake if state.cards[seat] > state.cards[1 - seat] else -stake\n"
MISTAKES = {
    # ------------------------------------------------ missing and misspelt
    "a missing rule": Mistake(
        GAME[GAME.index("    def payoff") : GAME.index("    def infoset")], "", "lacks the rules payoff"
    ),
    "a misspelt rule": Mistake("def infoset(", "def info_set(", "no rule is called info_set: did you mean infoset"),
    "a rule without a parameter": Mistake(
        "def play(self, state, action)", "def play(self, state)", r"play takes \(self, state\), it should take"
    ),
    "an unknown fact": Mistake(
        "num_actions=2", "num_action=2", "no fact of a game is called num_action: did you mean num_actions"
    ),
    "hidden is no fact": Mistake("num_actions=2", "num_actions=2, hidden=False", "no fact of a game is called hidden"),
    "a misspelt field": Mistake(
        "state.bets = action", "state.bet = action", "no field 'bet': did you mean 'bets'", "play", "state.bet = action"
    ),
    "a misspelt parameter": Mistake("self.bet *", "self.bets *", "no attribute 'bets'", "payoff", "self.bets *"),
    "a name that isn't defined": Mistake(
        "step = int(state.step)\n", "step = int(stat.step)\n", "'stat' is not defined", "play", "stat.step"
    ),
    "a plain class": Mistake("class OneBet(NamedTuple)", "class OneBet", "should be a NamedTuple"),
    "a state that is no record": Mistake("state=STATE", "state=dict(cards=2)", "state should be record"),
    # ------------------------------------------------ facts that lie
    "num_actions": Mistake(
        "num_actions=2", "num_actions=1", "1 is too small: action 1 is legal for seat 0", "num_actions", "num_actions=1"
    ),
    "max_chance_outcomes": Mistake(
        "max_chance_outcomes=3", "max_chance_outcomes=2", "2 is too small: a chance turn has 3", "max_chance_outcomes"
    ),
    "max_game_length": Mistake(
        "max_game_length=4",
        "max_game_length=3",
        "3 is too small: a game took 4 turns",
        "max_game_length",
        "max_game_length=3",
    ),
    "a game that never ends": Mistake(
        "state.step = 3 if action == 1 else 4", "state.step = 2", "does it ever end", "max_game_length"
    ),
    "payoffs that are exceeded": Mistake(
        "payoffs=(-2.0, 2.0)", "payoffs=(-1.0, 1.0)", "gets -?2, outside payoffs", "payoff"
    ),
    "payoffs the wrong way round": Mistake(
        "payoffs=(-2.0, 2.0)", "payoffs=(2.0, -2.0)", "lowest and the highest", "payoffs"
    ),
    "payoffs that aren't zero-sum": Mistake(
        "else -stake", "else 0.0", "sum to .*, not 0: is it zero_sum=False", "payoff"
    ),
    "a fact of a missing parameter": Mistake(
        "num_actions=2", "num_actions=lambda game: game.size", "no attribute 'size'", "facts"
    ),
    # ------------------------------------------------ what rules return
    "no return n": Mistake("        return n\n", "", "it should end with `return n`", "actions"),
    "a turn that is no seat": Mistake(
        "(CHANCE, CHANCE, 0, 1, OVER)", "(CHANCE, CHANCE, 1, 2, OVER)", "it returned 2, a int", "turn"
    ),
    "actions twice": Mistake("out[n] = action\n", "out[n] = action // 2\n", "ascending, each action once", "actions"),
    "nothing legal": Mistake(
        "3 if state.step < 2 else 2)", "3 if state.step < 2 else 0)", "it returned 0 at a turn of seat 0", "actions"
    ),
    "a string as infoset": Mistake(
        "return np.uint64(4 * key + 2 * int(state.bets) + int(state.calls))",
        "return str(key)",
        "a str: it should be np.uint64",
        "infoset",
    ),
    "an infoset that is a Python number": Mistake(
        "return np.uint64(4 * key", "return int(4 * key", "a int: it should be np.uint64", "infoset"
    ),
    "no return value of payoff": Mistake(SHOWDOWN, "", "it returned nothing for seat 0", "payoff"),
    "probabilities": Mistake(
        "    def play(",
        "    def chance_probs(self, state, actions, n, out):\n        out[:n] = 0.25\n\n    def play(",
        "sum to 0.75, not 1",
        "chance_probs",
    ),
    "a field that start forgets": Mistake("        state.calls = 0\n", "", "doesn't write the field calls", "start"),
    "names twice": Mistake('"fold", "call"', '"fold", "fold"', "actions 0 and 1 are both 'fold'", "action_to_string"),
    "an overflow": Mistake(
        "state.bets = action\n", "state.bets = state.bets + np.int8(100) + np.int8(100)\n", "write int", "play"
    ),
    # ------------------------------------------------ what seats know
    "no look": Mistake(HIDING, "", "one key for two views that differ in cards", "infoset"),
    "half a public tree": Mistake(
        "    def action_to_string(",
        "    def private_state(self, state, seat):\n        return int(state.cards[seat])\n\n    def action_to_string(",
        "declares a public tree, so it needs both of private_state, public_state",
    ),
    "a public state that peeks": Mistake(
        "    def action_to_string(",
        split("int(state.cards[seat])", "np.uint64(int(state.cards[0]) + 2)"),
        "depends on private states",
        "public_state",
    ),
    "a private state that isn't numbered": Mistake(
        "    def action_to_string(", split("0", "np.uint64(state.step)"), "one public_state with one", "public_state"
    ),
    "a private state that peeks": Mistake(
        "    def action_to_string(",
        split("int(state.cards[0]) + 1", "np.uint64(state.step)"),
        "seat 1's number depends on something",
        "private_state",
    ),
    "a class of payoffs that differ": Mistake(
        "    def action_to_string(",
        split("int(state.cards[seat])", "np.uint64(state.step)", "0"),
        "two games of class 0 with equal private states have other payoffs",
        "payoff_class",
    ),
    "an infoset that peeks": Mistake(
        "int(state.cards[seat]) + 1",
        "int(state.cards[1 - seat]) + 1",
        "depends on something that `look` hides",
        "infoset",
    ),
    "an infoset without the card": Mistake(
        "+ int(state.cards[seat]) + 1", "+ 1", "one key for two views that differ in cards", "infoset"
    ),
    "one infoset for two seats": Mistake("8 * (2 + seat)", "8 * 2", "have a key in common: mix in the seat", "infoset"),
    "a determinization that doesn't fit": Mistake(
        "own = int(view.cards[seat])",
        "own = int(view.cards[seat])\n            out.cards[seat] = 0",
        "field cards of seat",
        "determinize",
    ),
    "a determinization that invents nothing": Mistake(
        "            out.cards[1 - seat] = card + (0 <= own <= card)\n",
        "",
        "gives the view itself each time",
        "determinize",
    ),
    "a determinization of one's own card": Mistake(
        "card + (0 <= own <= card)", "below(rng, 3)", r"view \(cards=.* it gives \(cards=", "determinize"
    ),
    "other random numbers": Mistake(
        "card = below(rng, 3 - (own >= 0))",
        "card = np.random.randint(3 - (own >= 0))",
        "two positions for one view and one rng: take all randomness from rng",
        "determinize",
    ),
    "no position": Mistake(
        "        return True\n",
        "        return view.step < 3\n",
        r"fits seat \d's view \(cards=.*, calls=\d\)",
        "determinize",
    ),
    "a fraction in a whole number": Mistake(
        "            state.bets = action\n",
        "            state.bets += action / 2\n",
        r"writes 0.5 into the field bets of whole numbers \(int8\)",
        "play",
        "action / 2",
    ),
    "a fraction in an array of whole numbers": Mistake(
        "state.cards[step] = action\n",
        "state.cards[step] = action + 0.5\n",
        "into an array of whole numbers",
        "play",
        "+ 0.5",
    ),
    "an index outside its array": Mistake(
        "state.cards[step] = action\n",
        "state.cards[step + 1] = action\n",
        "others have to be below the length",
        "play",
        "step + 1",
    ),
    "a rule that changes the position": Mistake(
        "        if state.bets and not state.calls:",
        "        state.bets = 0\n        if state.bets:",
        "it changes the field bets",
        "payoff",
    ),
    # ------------------------------------------------ what can't be compiled (in `start`, which is compiled first)
    "a dictionary": Mistake(FIRST, "state.step = len(NAMES) - 3", "NAMES, a dict", "start", "len(NAMES)"),
    "a dictionary of its own": Mistake(
        FIRST, "state.step = {**NAMES}.get(7, 0)", "a dictionary can't be compiled", "start", "{**"
    ),
    "a dictionary of which Numba warns first": Mistake(
        FIRST,
        "known = {0: (0, 'x'), 1: (1, 2)}\n        state.step = known[0][0]",
        "a dictionary can't be compiled",
        "start",
        "known = ",
    ),
    "an import": Mistake(
        FIRST, "import math\n        state.step = math.floor(0)", "move it to the top", "start", "import math"
    ),
    "no helper": Mistake(
        FIRST, "state.step = higher(0, 1)", "higher, which lacks the decorator @helper", "start", "higher("
    ),
    "a method": Mistake(FIRST, "state.step = self.wins(0)", "wins is a method that is no rule", "start", "self.wins"),
    "a method named like a rule of searches": Mistake(
        FIRST, "state.step = self.evaluate(0)", "evaluate is a method that is no rule", "start", "self.evaluate"
    ),
    "a class": Mistake(FIRST, "state.step = Score().high - 1", "uses Score, which is a class", "start", "Score()"),
    "an f-string": Mistake(
        FIRST, "print(f'{state.step:>3}')\n        state.step = 0", "strings belong into show", "start", "print(f"
    ),
    "a comprehension": Mistake(
        FIRST,
        "state.step = sum(int(x) for x in ('0',))",
        "comprehension can't be compiled: write a loop",
        "start",
        "sum(",
    ),
    "try": Mistake(
        FIRST,
        "try:\n            state.step = 0\n        except (ValueError, TypeError):\n            state.step = 1",
        "try and except",
        "start",
        "try:",
    ),
    "a string": Mistake(FIRST, "state.step = int('{}'.format(0))", "no attribute 'format'", "start", ".format"),
    "two types": Mistake(
        FIRST, "step = 'x' if self.bet > 7 else 0\n        state.step = step", "two types", "start", "'x'"
    ),
}


def written(folder: Path, name: str) -> tuple[str, Mistake]:
    mistake = MISTAKES[name]
    assert mistake.old in GAME
    text = GAME.replace(mistake.old, mistake.new, 1)
    for method in ("wins", "evaluate"):
        more = f"    def {method}(self, seat):\n        return seat\n\n"
        text = text.replace("    def infoset(", f"{more}    def infoset(")
    path = folder / f"{'_'.join(re.findall(r'[a-z]+', name))}.py"
    path.write_text(text)
    return str(path), mistake


def is_right(message: str, path: str, mistake: Mistake) -> None:
    assert "\n" not in message
    assert re.search(mistake.message, message), message
    assert re.match(rf"{re.escape(path)}:\d+", message), message
    if mistake.rule:
        assert f": {mistake.rule}: " in message
    if mistake.line:
        number = int(re.match(rf"{re.escape(path)}:(\d+)", message)[1])
        assert mistake.line in Path(path).read_text().splitlines()[number - 1], message


def test_the_game_without_a_mistake_is_right(tmp_path, monkeypatch, capsys):
    (tmp_path / "one_bet.py").write_text(GAME)
    assert kibitz.check(f"{tmp_path}/one_bet.py:OneBet", games=30) > 100
    monkeypatch.setattr(sys, "argv", ["kibitz", "check", f"{tmp_path}/one_bet.py:OneBet", "--games", "3"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 0
    assert "no mistake found" in capsys.readouterr().out
    assert kibitz.solve(f"{tmp_path}/one_bet.py:OneBet", "cfr+", iterations=10).exploitability


def test_there_are_enough_mistakes():
    assert len(MISTAKES) >= 30


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_one_line(name, tmp_path):
    path, mistake = written(tmp_path, name)
    with pytest.raises(BadInput) as found:
        kibitz.check(f"{path}:OneBet", games=8)
    is_right(str(found.value), path, mistake)


USES = {
    "check": ["check"],
    "solve": ["solve", "--with", "cfr+", "--iterations", "2"],
    "match": ["match", "random", "random", "--games", "2", "--processes", "1"],
    "play": ["play"],
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("name", ["a missing rule", "a misspelt field", "max_game_length", "a string as infoset"])
def test_the_command_line_says_it_whatever_the_command(use, name, tmp_path, capsys, monkeypatch):
    path, mistake = written(tmp_path, name)
    command, *options = USES[use]
    monkeypatch.setattr(sys, "argv", ["kibitz", command, f"{path}:OneBet", *options])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 2
    error = capsys.readouterr().err.strip()
    assert error.startswith("kibitz: ")
    is_right(error.removeprefix("kibitz: "), path, mistake)


def test_a_rule_that_does_not_compile_is_one_line_where_the_game_is_used(tmp_path):
    path = tmp_path / "used.py"
    path.write_text(GAME.replace("stake = 1.0 +", "stake = higher(1.0, 2.0) + 1.0 +"))
    with pytest.raises(BadInput) as found:
        kibitz.solve(f"{path}:OneBet", "cfr+", iterations=2)
    mistake = Mistake("", "", "uses higher, which lacks the decorator @helper", "payoff", "higher(1.0")
    is_right(str(found.value), str(path), mistake)


@pytest.mark.filterwarnings("always")
def test_a_warning_of_numba_is_not_shown_before_the_line(tmp_path, capsys, recwarn):
    path, mistake = written(tmp_path, "a dictionary of which Numba warns first")
    text = Path(path).read_text()
    assert "(1, 2)" in text
    Path(path).write_text(text.replace("(1, 2)", "(1, 2.5)"))  # Numba warns once in a process of the same types
    with pytest.raises(BadInput) as found:
        kibitz.check(f"{path}:OneBet", games=2)
    is_right(str(found.value), path, mistake)
    assert not recwarn
