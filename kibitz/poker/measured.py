"""What was measured of players of hold'em."""

from ..play.players.measured import Fact, measured_facts

DEEP_CFR, POKER = "deep-cfr.md", "poker.md"
LBR = "mbb/g to a local best response"


FACTS = (
    Fact(
        "net:models/holdem",
        "holdem",
        "a best response wins at least 72 mbb/g from it",
        "holdem-blueprint.md",
        "| its network, `models/holdem` | about 79.2 (72.3 to 86.0), 8 flops |",
        "1 ms",
    ),
    Fact(
        "net:models/holdem-flop",
        "holdem:flop",
        "a best response wins 4.64 mbb/g from it",
        "holdem-blueprint.md",
        "| its network, `models/holdem-flop` | 4.64 |",
        "1 ms",
    ),
    Fact(
        "net:models/holdem-deep-cfr",
        "holdem",
        f"loses about 490 {LBR}",
        DEEP_CFR,
        "| 180 | 490 (363 to 619) |",
    ),
    Fact(
        "net:models/holdem-deep-cfr,threshold=0.5",
        "holdem",
        f"loses about 629 {LBR}",
        DEEP_CFR,
        "| 180, threshold=0.5 | 629 (523 to 737) |",
    ),
    Fact(
        "always:fold",
        "holdem",
        "loses 750 mbb/g to any player who always raises",
        POKER,
        "Always folding loses 750",
    ),
    Fact("always:call", "holdem", f"loses about 1,207 {LBR}", POKER, "`always:call` loses 1,207 ± 106 mbb/g"),
    Fact("style:loose-passive", "holdem", f"loses about 719 {LBR}", POKER, "`style:loose-passive` 719 ± 120"),
    Fact(
        "style:loose-aggressive",
        "holdem",
        f"loses about 1,173 {LBR}",
        POKER,
        "`style:loose-aggressive` 1,173 ± 257",
    ),
    Fact("style:tight-passive", "holdem", f"loses about 648 {LBR}", POKER, "│ 648.0     │ 548.0 to 748.0 │"),
    Fact(
        "style:tight-aggressive",
        "holdem",
        f"loses about 943 {LBR}",
        POKER,
        "`style:tight-aggressive` 943 ± 234",
    ),
)


@measured_facts("holdem")
def facts() -> tuple[Fact, ...]:
    return FACTS
