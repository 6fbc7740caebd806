"""Known facts about each game and parameter set, with their source. A new game adds its rows here."""

from dataclasses import dataclass
from pathlib import Path

from kibitz.games import GAMES
from kibitz.games.game import is_shipped

SHIPPED = {name: cls for name, cls in GAMES.items() if is_shipped(cls)}  # tests register games of their own
PILE, HEIRS = (Path(__file__).with_name(name) for name in ("pile.py", "heirs.py"))


@dataclass(frozen=True)
class Row:
    name: str  # as `load` takes it
    infosets: int | None = None  # of both seats, where the seat is to move
    nodes: tuple[int, int, int] | None = None  # chance, decision and terminal
    source: str = ""
    tree: bool = False  # small enough to check every position in every test
    heavy: bool = False  # so large that only the heavy tier counts it
    display: bool = False  # whether `make test` checks what it displays, beside that of the first row of the game

    @property
    def id(self) -> str:
        return self.name.removeprefix(f"{PILE.parent}/")


PAIRS = "pairs of permutations, counted in test_facts.py"
FORMULA = "faces * 2 ** (2 * faces): with one die a seat knows its face and which bids were made"
POKER = "pairs of cards, or orders of the cards that are dealt, times the ways to bet"
ROWS = [
    Row("kuhn", 12, (4, 24, 30), "OpenSpiel's kuhn_poker", tree=True),
    Row("leduc", 288, (49, 774, 1116), "OpenSpiel's leduc_poker(suit_isomorphism=true)", tree=True),
    Row("leduc:distinct_suits=yes", 936, (157, 3780, 5520), "OpenSpiel's leduc_poker", tree=True, display=True),
    Row("leduc:suits=1,raises=1", tree=True),
    Row("leduc:ranks=2,suits=3,raises=1,ante=3,first=1,second=5", tree=True),
    Row("leduc:ranks=13,suits=4,distinct_suits=yes,raises=6,ante=100,first=100,second=100"),
    Row("goofspiel:2,base=1", tree=True),
    Row("goofspiel:3", 2 * 8, (0, 31, 36), "OpenSpiel's goofspiel, turn based", tree=True),
    Row("goofspiel:3,play_last=yes", 2 * 36, None, PAIRS, tree=True),
    Row("goofspiel:4", 2 * 81, (0, 501, 576), "OpenSpiel's goofspiel, turn based", tree=True, display=True),
    Row("goofspiel:4,play_last=yes", 2 * 369, None, PAIRS, tree=True),
    Row("goofspiel:4,open_bids=yes", None, (0, 501, 576), "OpenSpiel's goofspiel, turn based", tree=True, display=True),
    Row("goofspiel:4,base=1,sign=no", 2 * 81, (0, 501, 576), "OpenSpiel's goofspiel, turn based", tree=True),
    Row("goofspiel:5", 2 * 1062, (0, 12531, 14400), "OpenSpiel's goofspiel, turn based"),
    Row("goofspiel:5,play_last=yes", 2 * 4974, None, PAIRS),
    Row("goofspiel:6", 2 * 17241, None, PAIRS, heavy=True),
    Row("goofspiel:6,play_last=yes", 2 * 83001, None, PAIRS, heavy=True),
    Row("goofspiel:13"),
    Row("goofspiel:13,base=1,open_bids=yes,sign=no,play_last=yes"),
    Row("liars_dice:faces=3", 192, (4, 576, 567), "OpenSpiel's liars_dice", tree=True),
    Row("liars_dice:dice=2,faces=2", 768, (15, 4096, 4080), "OpenSpiel's liars_dice", tree=True, display=True),
    Row("liars_dice:faces=4", 1024, (5, 4096, 4080), "OpenSpiel's liars_dice"),
    Row("liars_dice:faces=5", 5120, None, FORMULA),
    Row("liars_dice:faces=6", 24576, None, FORMULA),
    Row("liars_dice:dice=5,faces=6"),
    Row("hex:2", 23, (0, 29, 24), "OpenSpiel's hex(board_size=2)", tree=True),
    Row("hex:2,swap=yes", 45, (0, 57, 48), "OpenSpiel's hex(board_size=2,swap=true)", tree=True),
    Row("hex:3", 4520, (0, 290890, 257760), "OpenSpiel's hex(board_size=3)"),
    Row("hex:5,swap=yes", display=True),
    Row("hex:7"),
    Row("tic_tac_toe", 4520, (0, 294778, 255168), "5,478 positions, 958 of them over; 255,168 games"),
    Row("connect_four:3,columns=3,connect=3", tree=True),
    Row("connect_four"),
    Row("connect_four:7,columns=8,connect=5"),
    Row("connect_four:15,columns=4,connect=6"),
    Row("othello:4"),
    Row("othello:6"),
    Row("othello"),
    Row("breakthrough"),
    Row("breakthrough:6,columns=5"),
    Row("breakthrough:4,columns=2"),
    Row("knightthrough"),
    Row("knightthrough:5,columns=6", display=True),
    Row("fanorona"),
    Row("fanorona:3,columns=3"),
    Row("fanorona:5,columns=5,limit=20"),
    Row("fanorona:5,columns=5,limit=20,compulsory=no"),
    Row("teeko"),
    Row("teeko:12"),
    Row("gomoku:3,connect=3", 4520, (0, 294778, 255168), "it is tic-tac-toe"),
    Row("gomoku:7,connect=4,overlines=no", display=True),
    Row("gomoku:9"),
    Row("yavalath:3"),
    Row("yavalath:5"),
    Row("doppelkopf"),
    Row("doppelkopf:thesis"),
    Row("doppelkopf:solos=no,second_ten=1"),  # (at random nearly every game is a solo)
    Row("doppelkopf:calls=1,nines=no,second_ten=2,charlie_caught=yes,pigs=yes,owed=5", display=True),
    Row("doppelkopf:calls=0,owed=4,forced=2,against=no"),
    # With 25 chips: a raise of 10, another of 5. Decisions: at first, after c, r, cr, rr, crr; ends: f, cc, and each
    # raise is folded to or called. With 10 the big blind is all in: it is called and the flop dealt, or not.
    Row("holdem:5,suits=1,streets=1,stack=25", 10 * 6, (86, 120 * 6, 120 * 10), POKER, tree=True),
    Row("holdem:7,suits=1,streets=2,stack=10", 21, (260 + 840 * 10, 840, 840 * 7), POKER, tree=True),
    Row("holdem", display=True),
    Row("holdem:flop"),
    Row("holdem:thesis"),
    Row("holdem:3,suits=3,stack=35,inputs=2,small_blind=1,big_blind=3,raises=5"),
    # Games of tests: the defaults of the protocol fulfil the contract too, also with three seats.
    Row(f"{PILE}:Pile:5", tree=True),
    Row(f"{PILE}:Pile:40"),
    Row(f"{HEIRS}:Heirs", tree=True),
]


def displayed() -> set[str]:
    """The names of the rows of which `make test` checks what they display: the first of each game, and some more."""
    firsts = {row.id.partition(":")[0]: row for row in reversed(ROWS)}
    return {row.id for row in [*firsts.values(), *(row for row in ROWS if row.display)]}
