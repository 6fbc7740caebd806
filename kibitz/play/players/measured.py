"""What was measured of players: strength and weakness as the pages of `docs` report them, one fact per line.

A test looks each quotation up in its page, so a number can't stay here when the page changes.
"""

from typing import NamedTuple

from ...core.registry import Registry

SOURCES = measured_facts = Registry("measured facts")  # of plugins: name -> function that returns facts


class Fact(NamedTuple):
    """A measurement of a player in a game."""

    player: str  # its name; another budget of a search counts as the same player, unless this name gives one
    game: str
    weakness: str  # in words, after the name of the player
    page: str  # in docs
    quote: str  # where it is from: text of the page
    time: str = ""  # per move, where it was measured


def _guided(game: str, model: str, score: str, words: str = "", by: str = "policy") -> Fact:
    text = f"wins {words}" if words else f"scores {score}"
    text += " against UCT with the same time, 0.05 s per move"
    return Fact(f"puct:seconds=0.5,{by}=models/{model}", game, text, "default-players.md", score)


def _with_network(game: str, model: str, score: str, words: str = "") -> Fact:
    return _guided(game, f"{model}-alphazero", score, words, "net")


def _leduc(search: str, simulations: int, nash_conv: str, half: str) -> Fact:
    text = f"a best response wins {half} chips per game from it on average"
    return Fact(f"{search}:{simulations}", "leduc", text, "exit-oos.md", nash_conv)


DEEP_CFR, EXIT_OOS, MMD, DEFAULTS = "deep-cfr.md", "exit-oos.md", "mmd.md", "default-players.md"

FACTS = (
    Fact(
        "net:models/leduc",
        "leduc",
        "a best response wins 0.114 chips per game from it on average",
        EXIT_OOS,
        "| Leduc (0.228) |",
        "0.2 ms",
    ),
    _leduc("oos", 1000, "| 1,000 | 2.99 ± 0.33 |", "1.5"),
    _leduc("oos", 10_000, "| 10,000 | 1.29 ± 0.20 |", "0.65"),
    _leduc("oos", 100_000, "| 100,000 | 0.72 ± 0.12 |", "0.36"),
    _leduc("ismcts", 1000, "1.93 ± 0.27", "0.97"),
    _leduc("ismcts", 10_000, "2.08 ± 0.22", "1.04"),
    _leduc("ismcts", 100_000, "2.03 ± 0.00", "1.02"),
    Fact(
        "net:models/goofspiel-6",
        "goofspiel:6",
        "a best response wins 0.039 per game from it on average, where a game is worth 1",
        MMD,
        "0.077 at 3,000",
        "0.1 ms",
    ),
    Fact(
        "net:models/goofspiel-13",
        "goofspiel:13",
        "scores 72.0% against OOS with 10,000 simulations, and 45.0% against IS-MCTS with 10,000",
        DEFAULTS,
        "| `goofspiel:13` | `net:models/goofspiel-13` | `ismcts:10000` | 200 | 84 / 12 / 104 | 45.0%",
        "0.1 ms",
    ),
    Fact(
        "net:models/goofspiel-13,threshold=1",
        "goofspiel:13",
        "scores 68.0% against IS-MCTS with 10,000 simulations; opponents who know that it never mixes can exploit it",
        DEFAULTS,
        "| 130 / 12 / 58 | 68.0% (62.1 to 73.4)",
        "0.1 ms",
    ),
    Fact(
        "net:models/liars_dice-1",
        "liars_dice",
        "a best response wins 0.020 per game from it on average, where a game is worth 1",
        MMD,
        "0.041 at 3,500",
        "0.1 ms",
    ),
    Fact(
        "net:models/liars_dice-2",
        "liars_dice:2",
        "a best response wins 0.063 per game from it on average, where a game is worth 1; scores 58.1% (55.9 to 60.3) "
        "against IS-MCTS with 0.05 s per move",
        DEFAULTS,
        "| 1,162 / 0 / 838 | 58.1% (55.9 to 60.3)",
        "0.2 ms",
    ),
    _with_network("connect_four", "connect_four", "93.2% (89.0 to 95.9)"),
    _with_network("gomoku", "gomoku", "200 / 0 / 0 | 100% (96.3 to 100)", "all of 200 games"),
    _with_network("breakthrough", "breakthrough", "200 / 0 / 0 | 100% (96.3 to 100)", "all of 200 games"),
    _with_network("othello", "othello", "78.8% (72.2 to 84.1)"),
    _with_network("yavalath", "yavalath", "200 / 0 / 0 | 100% (96.3 to 100)", "all of 200 games"),
    _with_network("hex:7", "hex-7", "96.0% (91.9 to 98.1)"),
    _with_network("hex", "hex-11", "99.0% (95.5 to 99.8)"),
    _guided("connect_four", "connect_four", "67.5% (52.5 to 80.0)"),
    _guided("gomoku", "gomoku", "40 / 0 / 0 | 100%", "all of 40 games"),
    _guided("breakthrough", "breakthrough", "40 / 0 / 0 | 100%", "all of 40 games"),
    _guided("othello", "othello", "97.5% (92.5 to 100)"),
    _guided("knightthrough", "knightthrough", "95.0% (87.5 to 100)"),
    _guided("yavalath", "yavalath", "95.0% (85.0 to 100)"),
    _guided("teeko", "teeko", "80.0% (65.0 to 95.0)"),
    _guided("hex:7", "hex-7", "35.0% (20.0 to 50.0)"),
    _guided("fanorona", "fanorona", "2.5% (0.0 to 7.5)"),
)


def facts() -> tuple[Fact, ...]:
    """What was measured of all players, those of plugins included."""
    return (*FACTS, *(fact for source in SOURCES.values() for fact in source()))
