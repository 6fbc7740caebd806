"""What players and searches say of positions and of finished games."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.names import BadInput, as_path, at_least, choose
from ..core.progress import SILENT, Reporter
from ..core.trust import only_named
from ..games import load as _load
from ..games import view_of
from ..games.record_files import read_game
from ..games.records import Record
from ..games.state import State
from ..play import review as _review
from ..play.players import default_player, explained, make_for, patterns_player
from ..search.advice import Advice
from .arguments import AnyGame, AnyPlayer
from .explained_moves import ExplainedMoves

if TYPE_CHECKING:
    from ..play.players.beliefs import Believed
    from ..search.search import Search


def advise(
    game: AnyGame,
    position: str | State = "",
    player: AnyPlayer | None = None,
    seed: int = 1,
    trust: bool = False,
) -> Advice:
    """Ask a player for advice on a position.

    Args:
        game: A game or its name.
        position: All actions and chance outcomes so far, with `?` for what the seat to move can't see
            (`"? K raise"`), or a `State`, of which only the view of the seat to move is used.
        player: Anything that gives advice: a name such as `"oos:10000"`, or a player; by default the strongest that
            answers within a second.
        seed: The same seed gives the same advice, unless the player's budget is a time.
        trust: Whether code in `.py` files may run that a run, a record or a network names.

    Returns:
        The advice: `.policy`, `.value` and `.visits` by action. It prints as a table, in a notebook too.

    Example:
        >>> import kibitz
        >>> kibitz.advise("kuhn", "? K bet", "oos:1000").best  # 1 is a bet: call with the king
        1
    """
    from ..app.ui.position_parser import parse_position
    from ..app.ui.referee import Follower, own_views

    with only_named(game, player, trust=trust):
        loaded = _load(game)
        at_least("seed", seed, 0)
        states = position.records if isinstance(position, State) else parse_position(loaded, position)
        seat = int(loaded.turn(states[-1]))
        if seat < 0:
            raise BadInput("no seat is to move in this position")
        player = player or default_player(loaded)
        adviser = make_for(player, loaded)
        views = own_views(loaded, states, seat)
        Follower(adviser, loaded, seat, seed).move(views)
        advice = explained(adviser, views[-1])
        if advice is None:
            raise BadInput(f"{player} gives no advice, it only moves: name a player such as oos:1000")
        return advice.named(loaded, views[-1])


def beliefs(
    game: AnyGame,
    position: str | State = "",
    assumed: AnyPlayer | None = None,
    own: AnyPlayer | None = None,
    seat: int | None = None,
    trust: bool = False,
) -> Believed:
    """What a seat may believe about hidden information at a position.

    Args:
        game: A game or its name.
        position: A `State`, or all moves and chance outcomes so far as text, as for `advise`. Only what the seat sees
            of it is used.
        assumed: The player that the others are assumed to be, one without search, such as `"net:models/leduc"`,
            or one with a belief network. By default all deals that fit are equally likely.
        own: The player whose strategy with all own hands is shown, where the game has that; by default `assumed`.
        seat: Whose view, from 0; by default that of the seat to move.
        trust: Whether code in `.py` files may run that a run, a record or a network names.

    Returns:
        The probabilities and what they rest on (`.basis`); `.as_json()`. Most games have `.distributions`, some have
        tables of their own.

    Example:
        >>> import kibitz
        >>> print(kibitz.beliefs("kuhn", "? Q bet"))
        uniform over deals that fit
        card of seat 1: J 50.0%, K 50.0%
    """
    from ..app.ui.position_parser import parse_line, parse_position
    from ..play.players.beliefs import beliefs as find

    with only_named(game, assumed, own, trust=trust):
        loaded = _load(game)
        if seat is not None and seat not in range(loaded.facts.seats):
            raise BadInput(f"seat {seat} should be 0 to {loaded.facts.seats - 1}")
        if isinstance(position, State):
            record = position.record
        else:
            states = parse_position(loaded, position) if seat is None else parse_line(loaded, position, seat).states
            record = states[-1]
        seat = int(loaded.turn(record)) if seat is None else seat
        if seat < 0:
            raise BadInput("no seat is to move")
        return find(loaded, view_of(loaded, record, seat), seat, assumed, own)


def explain(
    game: AnyGame,
    position: str | State = "",
    player: AnyPlayer | None = None,
    most: int = 5,
    trust: bool = False,
) -> ExplainedMoves:
    """Explain a policy of learned patterns: which of them speak for each move, which against it.

    Args:
        game: A game or its name.
        position: A `State`, or all moves so far as text, as for `advise`.
        player: A player of patterns, such as `"features:models/connect_four"`, or a search that they guide, such as
            `"puct:1000,policy=models/connect_four"`, whose prior is explained; by default the patterns that ship for
            the game.
        most: Number of patterns per move, those of the largest contributions.
        trust: Whether code in `.py` files may run that a run, a record or a network names.

    Returns:
        A list that prints as a table, in a notebook with drawings. It has one dictionary per legal move: `move`,
        `action`, `prob`, `logit` and `patterns`. Each pattern has its `words`, its `weight`, its `contribution` to the
        logit (the weight times how much more active it is for this move than for all moves on average), whether it is
        `active` for this move, its `text` as in the file, the `cells` of the board that it tests, and an `svg`. As the
        policy is a softmax of linear logits, the explanation is exact.

    Example:
        >>> import kibitz
        >>> moves = kibitz.explain("connect_four", "4 4 3")
        >>> round(sum(move["prob"] for move in moves), 6)
        1.0
        >>> best = max(moves, key=lambda move: move["prob"])
        >>> best["move"], len(best["patterns"])
        ('5', 5)
    """
    from ..app.ui.position_parser import parse_position
    from ..play.players.patterns import active_patterns

    with only_named(game, player, trust=trust):
        loaded = _load(game)
        at_least("most", most, 1)
        record = position.record if isinstance(position, State) else parse_position(loaded, position)[-1]
        seat = int(loaded.turn(record))
        if seat < 0:
            raise BadInput("no seat is to move")
        chosen = patterns_player(loaded) if player is None else player
        return ExplainedMoves(active_patterns(chosen, loaded, view_of(loaded, record, seat), seat, most))


def review(
    record: Record | str | Path,
    number: int = 1,
    player: AnyPlayer | None = None,
    seat: int | None = None,
    seed: int = 1,
    report: Reporter = SILENT,
    trust: bool = False,
) -> _review.Review:
    """Review a finished game: what a player would have advised, and what each move cost.

    Args:
        record: A record, such as one of `match(...).records`; or a file of games, of any format that `kibitz convert`
            reads, or a run folder.
        number: Which game of the file, from 1.
        player: The adviser, a name or a player; by default the strongest that answers within a second.
        seat: Review only the moves of this seat, from 0.
        seed: The same seed gives the same review, unless the player's budget is a time.
        report: Receives progress.
        trust: Whether code in `.py` files may run that a run, a record or a network names.

    Returns:
        The review: `.moves` with value, best value, cost and mark of each, `.total_cost(seat)`, `.curve()` for a graph,
        `.as_json()`. It prints as a table, in a notebook too.

    Example:
        >>> import kibitz
        >>> record = kibitz.match("tic_tac_toe", ["uct:100", "random"], games=2).records[0]
        >>> kibitz.review(record, player="alphabeta:depth=9", seat=0).total_cost(0) >= 0
        True
    """
    with only_named(player, trust=trust):
        if not isinstance(record, Record):
            at_least("number", number, 1)
            record = read_game(as_path(record), number)
        return _review.review(record, player, seat, seed, report)


def search(game: AnyGame, name: str, seed: int = 1, **options: Any) -> Search:
    """Make a search that can be asked again and again.

    Args:
        game: A game or its name.
        name: `"oos"`, `"ismcts"`, `"uct"`, `"puct"`, ..., or `"path/to/file.py:Class"`.
        seed: The same seed gives the same advice.
        **options: Options of the search, such as `c=1.4`; the same as behind the colon of a player's name.

    Returns:
        The search. `search.advise(view, seat, simulations=10_000)` answers for a view of the seat to move.

    Example:
        >>> import kibitz
        >>> state = kibitz.load("tic_tac_toe").initial()
        >>> kibitz.search("tic_tac_toe", "uct").advise(state.record, 0, simulations=1000).simulations
        1000
    """
    from ..search.search import SEARCHES

    with only_named(game, name):
        taken = inspect.signature(SEARCHES[name]).parameters
        for key in options:
            if not any(each.kind is each.VAR_KEYWORD for each in taken.values()):
                choose(f"option of {name}", key, list(taken)[2:])
        found = SEARCHES[name](_load(game), **options)
    found.begin(seed)
    return found
