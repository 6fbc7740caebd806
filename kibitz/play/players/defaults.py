"""The default player of a game: the best that answers within a second, as `kibitz play` and `kibitz advise` use it."""

from ...core.tensor_files import tensor_file_about
from ...games import Game, full_name
from ...games.game import heuristic
from ...nets.boards.networks import FORMAT as BOARD_NETWORK
from ...nets.model_files import PREFIX, shipped
from ...train.ntuple.store import FORMAT as NTUPLES
from ...train.tspg.store import FORMAT as PATTERNS

SECONDS = 0.5  # per move of a search
# Longer games where the network that ships, without search, was measured to beat IS-MCTS, with its options there.
NETWORKS = {"liars_dice:dice=2": "", "goofspiel:cards=13": ",threshold=1"}
EVALUATED = ("breakthrough",)  # games in which alpha-beta search with the shipped evaluation beats the shipped network
SMALL = 16  # turns up to which equilibrium play, by a network or by OOS, was measured to hold its own against IS-MCTS


def default_player(game: Game) -> str:
    """The name of the default player: the game's own choice (`opponent`), or what was measured to be strongest.

    Where nothing is hidden, alpha-beta search with the shipped evaluation of exactly this game where that was stronger,
    else tree search with the shipped network, else tree search, guided by the shipped patterns where there are any.
    With hidden information small games are played near equilibrium, by a shipped network or OOS, and larger ones by a
    network where it beats IS-MCTS; others by IS-MCTS, which plays every game, whatever its number of seats.
    """
    facts = game.facts
    chosen = getattr(game, "opponent", "")
    if chosen:
        return str(chosen)
    if not facts.hidden:
        if game.name in EVALUATED and shipped_model(game, NTUPLES.name):
            return f"alphabeta:seconds={SECONDS}"
        if network := shipped_model(game, BOARD_NETWORK.name):
            return f"puct:seconds={SECONDS},net={network}"
        patterns = shipped_model(game, PATTERNS.name)
        return f"puct:seconds={SECONDS},policy={patterns}" if patterns else f"uct:seconds={SECONDS}"
    small = facts.seats == 2 and facts.zero_sum and facts.max_game_length <= SMALL
    if small or full_name(game) in NETWORKS:
        network = shipped_model(game, "network")
        return f"net:{network}{NETWORKS.get(full_name(game), '')}" if network else f"oos:seconds={SECONDS}"
    return f"ismcts:seconds={SECONDS}"


def patterns_player(game: Game) -> str:
    """A player of the patterns that ship for exactly this game, else the default player: for explanations."""
    patterns = shipped_model(game, PATTERNS.name)
    return f"puct:seconds={SECONDS},policy={patterns}" if patterns else default_player(game)


def shipped_model(game: Game, kind: str) -> str:
    """The model of a format that ships for exactly this game, or "network" for one of those that play; empty: none."""
    for name, path in shipped().items():
        if name.partition("-")[0] == game.name:  # models/goofspiel-6: only files of this game are opened
            about = tensor_file_about(path)
            of_kind = (
                about["format"] not in (PATTERNS.name, NTUPLES.name) if kind == "network" else about["format"] == kind
            )
            if about.get("game") == full_name(game) and of_kind:
                return PREFIX + name
    return ""


def strengths(game: Game) -> dict[str, str]:
    """Players of a game by strength in words: `quick`, `solid` and `strong`.

    `strong` is the default player, with four times its seconds where it has any. `solid` answers within half a second.
    `quick` answers at once: the game's own heuristic, else a search of a few simulations.
    """
    usual, tree = default_player(game), "ismcts" if game.facts.hidden else "uct"
    if game.facts.hidden and game.facts.seats == 2:
        quick, solid = f"{tree}:100", f"{tree}:seconds={SECONDS / 2}"
    elif type(game).heuristic is not heuristic:  # type: ignore[attr-defined]
        quick, solid = "heuristic", "ensemble-uct:10x100" if game.facts.hidden else usual
    else:
        quick, solid = f"{tree}:100", usual
    return {"quick": quick, "solid": solid, "strong": usual.replace(f"seconds={SECONDS}", f"seconds={4 * SECONDS:g}")}
