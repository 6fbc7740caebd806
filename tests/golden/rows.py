"""What is run at a fixed seed: commands of the shell, each at its smallest scale.

A row runs in a folder that all rows share, its run folder has its name, and `after` names rows whose folders it reads.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from . import calls

TORCH = 0.03  # what a few steps of learning in single precision make of sums in another order
FLOP = "holdem:flop,ranks=4,suits=2,raises=1,preflop_raises=1"
STREETS = "holdem:streets=3,ranks=4,suits=2,raises=1,preflop_raises=1"
RULES = "doppelkopf:thesis"
CARDS = "--device cpu --batch-size 8 --iterations 2"


class Row(NamedTuple):
    """Commands without the word kibitz, or functions of the shared folder that return figures."""

    commands: tuple[str | Callable[[Path], dict[str, Any]], ...]
    after: tuple[str, ...] = ()
    # Relative tolerance where arithmetic is another; None: a difference in the last digit leads to other games.
    elsewhere: float | None = 1e-9


def torch(*commands: str | Callable[[Path], dict[str, Any]], after: tuple[str, ...] = ()) -> Row:
    """A row that computes with torch."""
    return Row(commands, after, TORCH)


def solve(game: str, method: str, options: str, after: tuple[str, ...] = (), elsewhere: float = 1e-9) -> Row:
    return Row((f"solve {game} --with {method} {options}",), after, elsewhere)


ENUMERATED = ("cfr", "cfr+", "linear", "dcfr", "pcfr+")
ON_PUBLIC_TREE = ("cfr", "cfr+", "linear", "dcfr")

SOLVERS = {
    **{f"leduc-{method}": solve("leduc", method, "--iterations 20") for method in ENUMERATED},
    **{f"kuhn-{method}": solve("kuhn", method, "--iterations 300") for method in ("external", "outcome")},
    "goofspiel-cfr+": solve("goofspiel:4", "cfr+", "--iterations 20"),
    **{
        f"liars-dice-{method}-public-tree": solve(
            "liars_dice:faces=3", method, "--iterations 20 --threads 1 --device cpu"
        )
        for method in ON_PUBLIC_TREE
    },
    "leduc-pcs": solve("leduc", "pcs", "--iterations 100 --threads 1"),
    "leduc-pcs-all-boards": solve("leduc", "pcs", "--iterations 5 --boards all", elsewhere=TORCH),
    "leduc-cfr-br": solve("leduc", "cfr-br", "--iterations 5", elsewhere=TORCH),
    "buckets": Row((f"abstract {FLOP} --buckets 6 --threads 1 --out buckets",)),
    "flop-pcs": solve(FLOP, "pcs", "--iterations 40 --threads 1"),
    "flop-pcs-buckets": solve(FLOP, "pcs", "--abstraction buckets --iterations 40 --threads 1", ("buckets",)),
    "flop-pcs-all-boards": solve(FLOP, "pcs", "--iterations 3 --boards all", elsewhere=TORCH),
    "flop-cfr-br": solve(FLOP, "cfr-br", "--abstraction buckets --iterations 3", ("buckets",), TORCH),
    "flop-cfr-br-from-pcs": solve(
        FLOP, "cfr-br", "--from flop-pcs-buckets --iterations 3", ("flop-pcs-buckets",), TORCH
    ),
    "streets-cfr-br": solve(STREETS, "cfr-br", "--iterations 2", elsewhere=TORCH),
    "leduc-pcs-measured": Row((calls.pcs_by_infoset,)),
    "leduc-pcs-torch": torch(calls.pcs_in_torch),
    "liars-dice-torch": torch(calls.bidding_in_torch),
    "leduc-mirror-descent": Row((calls.mirror_descent,)),
}

MEASURES = {
    "exact-of-a-strategy": Row(("exploit leduc leduc-cfr+",), ("leduc-cfr+",)),
    "exact-of-a-table": Row(("exploit leduc leduc-pcs",), ("leduc-pcs",)),
    "exact-of-a-network": torch("exploit leduc net:models/leduc"),
    "exact-of-a-search": Row(("exploit kuhn ismcts:50 --seeds 2 --processes 1",)),
    "exact-of-oos": Row(("exploit kuhn oos:50 --seeds 2 --processes 1",)),
    "exact-on-the-public-tree": Row(
        ("exploit liars_dice:faces=3 liars-dice-cfr+-public-tree --processes 1",), ("liars-dice-cfr+-public-tree",)
    ),
    "exact-of-a-player-on-the-public-tree": Row((calls.response_on_public_tree,), ("liars-dice-cfr+-public-tree",)),
    "exact-of-a-style": Row((f"exploit {FLOP} style:loose-aggressive --processes 1",)),
    "exact-of-hands": Row((f"exploit {FLOP} flop-pcs-buckets --processes 1",), ("flop-pcs-buckets",)),
    "exact-flop-by-flop": torch(
        f"exploit {FLOP} flop-pcs-buckets --device cpu --out exact-flop-by-flop", after=("flop-pcs-buckets",)
    ),
    "some-flops": torch(
        f"exploit {FLOP} flop-pcs-buckets --flops 4 --out some-flops", after=("flop-pcs-buckets",)
    ),
    "local-best-response": Row(
        (f"exploit {FLOP} style:tight-aggressive --with lbr --games 40 --processes 1 --out local-best-response",)
    ),
    "learned-exploiter": torch(
        "exploit kuhn random --with rl --iterations 2 --seeds 2 --games 400 --processes 1 --out learned-exploiter"
    ),
    "searching-exploiter": Row(
        ("exploit kuhn random --with ismcts --simulations 100 --games 400 --processes 1 --out searching-exploiter",)
    ),
    "aivat": Row(
        ("match leduc strategy:leduc-cfr+ random --games 40 --reduce-variance --processes 1 --out aivat",),
        ("leduc-cfr+",),
    ),
    "resolving": torch(
        f"match {FLOP} resolve:flop-pcs-buckets,iterations=20 random --games 4 --processes 1 --out resolving",
        after=("flop-pcs-buckets",),
    ),
}  # fmt: skip

SMALL = "--iterations 3 --games 4 --simulations 50 --hidden 8 --steps 4"
LEARNERS = {
    **{
        name: torch(
            f"train {learner} {game} {SMALL} --processes 1 --out {name}",
            f"exploit {game} {name}",
            f"match {game} net:{name} random --games 20 --processes 1 --out {name}-match",
        )
        for name, learner, game in (
            ("exit-oos", "exit-oos", "kuhn"),
            ("exit-oos-leduc", "exit-oos", "leduc"),
            ("exit-ismcts", "exit-ismcts", "leduc"),
        )
    },
    "tspg": Row(
        (
            "train tspg tic_tac_toe --iterations 3 --simulations 20 --processes 1 --out tspg",
            "match tic_tac_toe puct:50,policy=tspg features:tspg --games 4 --processes 1 --out tspg-match",
        ),
        elsewhere=None,
    ),
    "tspg-rich": Row(
        (
            "train tspg connect_four:rows=4,columns=4 --iterations 2 --simulations 20 --features rich --playouts ce "
            "--processes 1 --out tspg-rich",
        ),
        elsewhere=None,
    ),
    **{
        f"alphazero-{selection}": torch(
            "train alphazero tic_tac_toe --iterations 2 --games 6 --parts 2 --rounds 60 --simulations 4 "
            "--fast-simulations 2 --channels 4 --blocks 1 --steps 3 --batch-size 8 --evaluation-games 2 "
            f"--evaluate-every 1 --device cpu --selection {selection} --processes 1 "
            f"--out alphazero-{selection}",
            f"match tic_tac_toe puct:20,net=alphazero-{selection} net:alphazero-{selection} --games 4 --processes 1 "
            f"--out alphazero-{selection}-match",
        )
        for selection in ("gumbel", "puct")
    },
    "ntuple": Row(
        (
            "train ntuple tic_tac_toe --iterations 3 --games 4 --capacity 50 --processes 1 --out ntuple",
            "match tic_tac_toe alphabeta:2,eval=ntuple ntuple:ntuple --games 4 --openings 2 --processes 1 "
            "--out ntuple-match",
        )
    ),
    **{
        name: torch(
            f"train deep-cfr {game} --iterations 3 --traversals 30 --in-flight 10 --hidden {hidden} --steps 6 "
            f"--strategy-steps 6 --evaluate-every 1 --device cpu {options} --processes 1 --out {name}",
            *measures,
        )
        for name, game, hidden, options, measures in (
            ("deep-cfr", "kuhn", "8", "--average both", ("exploit kuhn deep-cfr",)),
            ("deep-cfr-sd", "leduc", "8-8", "--average sd --norm batch", ("exploit leduc deep-cfr-sd",)),
            ("deep-cfr-holdem", FLOP, "16", "--hand-categories --suit-isomorphism --evaluate-every 0",
             (f"exploit {FLOP} deep-cfr-holdem --processes 1",)),
            ("deep-cfr-defects", "leduc", "8", "--preset thesis-faithful --evaluate-every 0",
             ("exploit leduc deep-cfr-defects",)),
        )
    },
    "distill": torch(
        f"train distill {FLOP} --from flop-pcs-buckets --device cpu --batch-size 8 --iterations 3 --samples 32 "
        "--steps 3 --hidden 8 --evaluation-samples 16 --evaluate-every 2 --out distill",
        f"exploit {FLOP} distill --processes 1",
        after=("flop-pcs-buckets",),
    ),
    **{
        name: torch(
            f"train mmd {game} --iterations 3 --games 8 --hidden 8 --minibatches 2 --averaging 0.9 --evaluate-every 1 "
            f"--device cpu {options} --out {name}",
            f"exploit {game} {name}",
        )
        for name, game, options in (
            ("mmd", "kuhn", ""),
            ("mmd-ppo", "leduc", "--estimate played --critic own --normalize advantages"),
            ("mmd-magnet", "leduc", "--network residual --hidden 8-8 --magnet 0.1 --magnet-every 1"),
        )
    },
    "mmd-start": torch(
        f"train mmd {RULES} --start cards --iterations 2 --warmup 1 --games 4 --evaluate-every 0 --device cpu "
        "--out mmd-start",
        after=("cards",),
    ),
    "records": Row((f"record {RULES} --players random --games 24 --processes 1 --out records",)),
    "cards": torch(
        f"train cards {RULES} --data records {CARDS} --positions 6 --validation 0.3 --out cards",
        f"match {RULES} cards:cards random random random --deals 2 --processes 1 --out cards-match",
        after=("records",),
    ),
    "exit-cards": torch(
        f"train exit-rollouts {RULES} --start cards {CARDS} --games 6 --steps 2 --positions 4 --evaluate-every 1 "
        "--evaluation-deals 2 --processes 1 --out exit-cards",
        after=("cards",),
    ),
    "next-card": torch(
        f"train next-card {RULES} --data records {CARDS} --nodes 8 --validation 0.3 --out next-card",
        calls.predictions,
        after=("records", "cards"),
    ),
}  # fmt: skip


def advise(game: str, player: str, elsewhere: float = 1e-9) -> Row:
    return Row((f"advise {game} --with {player}",), elsewhere=elsewhere)


SEARCHES = {
    "uct": advise("connect_four", "uct:300"),
    "uct-plain": advise("othello", "uct:300,prove=no,fpu=parent"),
    "puct": advise("connect_four", "puct:300"),
    "puct-with-patterns": advise("connect_four", "puct:200,policy=models/connect_four", TORCH),
    "puct-with-a-network": advise("connect_four", "puct:100,net=models/connect_four-alphazero", TORCH),
    "puct-of-batches": advise("connect_four", "puct:100,net=models/connect_four-alphazero,threads=2", TORCH),
    "alphabeta": advise("breakthrough", "alphabeta:4"),
    "alphabeta-with-a-solver": advise("connect_four 4 4 4", "alphabeta:6"),
    "ismcts": advise("leduc ? K raise", "ismcts:300"),
    "oos": advise("leduc ? K raise", "oos:300"),
    "oos-of-infosets": advise("leduc ? K raise", "oos:300,target=ist,linear=yes"),
    "oos-with-a-network": advise("leduc ? K raise", "oos:300,net=models/leduc,prior_weight=5", TORCH),
    "mmds": advise("leduc ? K raise", "mmds:200,net=models/leduc", TORCH),
    "ensemble-uct": advise("goofspiel:4", "ensemble-uct:3x100"),
    "single-uct": advise("goofspiel:4", "single-uct:300"),
    **{
        f"doppelkopf-{name}": Row(
            (f"match {RULES} {player} random random random --deals 1 --processes 1 --out doppelkopf-{name}",),
            elsewhere=None,
        )
        for name, player in (
            ("ensemble-uct", "ensemble-uct:2x30"),
            ("single-uct", "single-uct:60"),
            ("rollouts", "doko:models/doppelkopf,simulations=10"),
            ("tree", "doko:models/doppelkopf,simulations=10,tree_simulations=20"),
        )
    },
}

ROWS = SOLVERS | MEASURES | LEARNERS | SEARCHES
GROUPS = {"solvers": SOLVERS, "measures": MEASURES, "learners": LEARNERS, "searches": SEARCHES}
