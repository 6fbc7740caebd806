"""Plays hold'em at a dealer of the ACPC: any player, at any program that deals by the protocol."""

import socket
from typing import Any, NamedTuple

import numpy as np

from ..core.names import BadInput, at_least
from ..core.progress import SILENT, Reporter
from ..games import full_name, legal_actions
from ..play.play import as_game, check_legal, seed_of
from ..play.players import make_for
from ..play.statistics import Estimate, interval
from .acpc_lines import SECONDS, VERSION, Closed, Lines, Lost
from .rules import Holdem, acpc

CONNECT = 10.0  # seconds
WAIT = 900.0  # seconds for the next line; opponents have up to ten minutes per move in the ACPC


class Played(NamedTuple):
    """What a player won at a dealer."""

    hands: int
    chips: int
    payoff: Estimate  # big blinds per hand
    broken: str  # why the match ended within a hand; empty where it didn't


def holdem(game: Any) -> Any:
    """The game, which must be hold'em."""
    rules = as_game(game)
    if not isinstance(rules, Holdem):
        raise BadInput(f"{full_name(rules)} can't be played here: the protocol of the ACPC is for holdem")
    return rules


def address(text: str) -> tuple[str, int]:
    """Host and port of `localhost:18791` or `[::1]:18791`."""
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or len(port) > 5 or not 0 < int(port) < 65536:
        raise BadInput(f"{text!r} should be HOST:PORT, such as localhost:18791")
    return host.removeprefix("[").removesuffix("]"), int(port)


def play_acpc(
    where: str, player: Any, game: Any = "holdem", seed: int = 1, wait: float = WAIT, report: Reporter = SILENT
) -> Played:
    """Connect to a dealer, and play until it closes the connection.

    Args:
        where: `HOST:PORT`.
        player: A name or an object.
        game: The rules, which the dealer doesn't say; the default is the ACPC's limit game for two players.
        seed: The player's seed in a hand is made of it and the number of the hand.
        wait: Seconds for the next line of the dealer.
        report: Receives the progress.

    Raises:
        BadInput: There is no dealer, it sends what isn't in the protocol, or the player makes an illegal move.
    """
    rules = holdem(game)
    at_least("seed", seed, 0)
    at_least("seconds to wait", wait, *SECONDS)
    made, spot = make_for(player, rules), address(where)
    try:
        connection = socket.create_connection(spot, CONNECT)
    except (OSError, UnicodeError) as error:
        why = error.strerror or error if isinstance(error, OSError) else error
        raise BadInput(f"can't connect to {where}: {why}") from None
    won: list[int] = []
    number, over, broken = -1, True, ""
    with Lines(connection) as dealer:
        try:
            dealer.send(VERSION, wait)
            while True:
                line = dealer.receive(wait)
                try:
                    seen = acpc.read_seen(rules, line)
                except BadInput as error:
                    raise BadInput(f"the dealer at {where} sent a line that can't be read: {error}") from None
                if seen.number != number:
                    number = seen.number
                    made.begin(rules, seen.seat, seed_of(seed, number, 0))
                over = seen.over
                if over:
                    won.append(seen.chips or 0)
                    report.progress(len(won), None, f"{sum(won):+,} chips")
                elif rules.turn(seen.view) == seen.seat:
                    action = int(made.move(seen.view))
                    check_legal(str(player), action, legal_actions(rules, seen.view), number)
                    dealer.send(f"{line}:{acpc.LETTERS[action]}", wait)
        except Lost as lost:
            ended = isinstance(lost, Closed) and over
            broken = "" if ended else f"the dealer {lost}" + ("" if over else f", in hand {number}")
    payoffs = np.array(won or [0], float) / rules.big_blind
    return Played(len(won), sum(won), interval(payoffs, np.ones(len(payoffs))), broken)
