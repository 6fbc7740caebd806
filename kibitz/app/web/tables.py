"""A table: one series of games, its seats and its true state, of which each person is shown one seat's view.

Everything that leaves the table is made from views and from what can be observed between two views (`referee.py`);
the true state is shown only once a game is over.
"""

import secrets
import threading
from typing import Any, Literal

from ...core.names import BadInput
from ...games import CHANCE, OVER, Game, full_name, legal_actions, positions, view_of
from ...games.display import display
from ...games.game import picture as board_or_text
from ...games.german import drawn_in
from ...games.svg import board_svg
from ...jit import generators
from ..ui.referee import Step, derived_seed, describe_step, next_state, own_views, reveals
from ..ui.terminal import Score
from ..ui.words import Words
from .messages import MAX_GAMES, LegalMove, Move, Result, Seat, TableView
from .session import Session

HUMAN = "human"


class Refused(BadInput):
    """A request that the position doesn't allow, in words for the person who made it."""


class Table:
    """People and players around one game. A participant keeps its number; seats rotate from game to game."""

    def __init__(
        self, rules: Game, players: list[str], strengths: list[str], seed: int | None = None, games: int = 0
    ) -> None:
        """
        Args:
            rules: The game. The one at the table differs from it in the solos that are owed in a session.
            players: One per seat of the first game: `human`, or the name of a player.
            strengths: The word by which each was chosen; empty where it was named.
            seed: Of the deals and of the players.
            games: Of a session; 0: there is none.
        """
        self.rules = self.game = rules
        self.players, self.strengths = players, strengths
        self.session = Session(rules, games) if games else None
        self.id, self.seed = secrets.token_urlsafe(12), secrets.randbits(62) if seed is None else seed
        self.keys = {secrets.token_urlsafe(16): i for i, player in enumerate(players) if player == HUMAN}
        self.scores = [Score() for _ in players]
        self.results: list[list[float]] = []  # of the last games, by participant
        self.trouble, self.unsaved = "", ""  # why the game can't go on; why it isn't on disk
        self.prepared = False  # whether the kernels of its players were asked for
        self._describing = threading.Lock()
        self._messages: dict[tuple[int, str], tuple[Any, TableView]] = {}  # by participant and language: the newest
        self._changes = 0  # counts what has happened, so that a message is made once
        self._begin(0)

    def _begin(self, number: int) -> None:
        self.number = number
        self.game = self.session.game if self.session else self.rules
        self._changes += 1
        self.states, self.actions = [positions(self.game)[0]], []  # type: tuple[list[Any], list[int]]
        self.resigned: int | None = None  # the participant
        self._planned: dict[int, int] = {}  # by seat: the card that follows its silence, once no other seat announces
        self._revealing: dict[tuple[int, int], bool] = {}  # by seat and number of its action
        self._events: dict[tuple[int, str], list[str]] = {}  # by seat and language: one per action, empty: unseen

    # ---------------------------------------------------------------- on disk

    def content(self) -> dict[str, Any]:
        """Settings and moves, from which `restored` makes the same table."""
        scores = [[score.total, score.won, score.lost, score.games] for score in self.scores]
        kept = {key: getattr(self, key) for key in KEPT}
        session = self.session.content() if self.session else None
        return kept | {"game": full_name(self.rules), "scores": scores, "results": self.results, "session": session}

    @classmethod
    def restored(cls, rules: Game, content: dict[str, Any]) -> "Table":
        """Replay a table.

        Raises:
            BadInput: Settings or moves don't fit the game.
        """
        seats, scores = rules.facts.seats, content["scores"]
        people = [i for i, player in enumerate(content["players"]) if player == HUMAN]
        fits = seats == len(content["players"]) == len(content["strengths"]) == len(scores)
        if not fits or {len(score) for score in scores} != {4} or set(content["keys"].values()) != set(people):
            raise BadInput("this table can't be read: its seats don't fit the game")
        table = cls(rules, content["players"], content["strengths"], content["seed"])
        results, session = content.get("results", []), content.get("session")
        if session is not None:
            table.session = Session.restored(rules, session)
        table._begin(content["number"])
        for action in content["actions"]:
            if table.turn == OVER or action not in legal_actions(table.game, table.states[-1]):
                raise BadInput(f"this table can't be read: the move {action} is not legal")
            table._append(action)
        for key in KEPT:
            setattr(table, key, content[key])
        table.scores = [Score(*score) for score in content["scores"]]
        table.results = results
        if table.session is not None and not table.session.fits(len(results), table.turn == OVER):
            raise BadInput("this table can't be read: its session doesn't fit its games")
        return table

    # ---------------------------------------------------------------- seats and turns

    def seat_of(self, participant: int) -> int:
        return self.session.seat_of(participant) if self.session else (participant + self.number) % len(self.players)

    def participant_at(self, seat: int) -> int:
        return self.session.participant_at(seat) if self.session else (seat - self.number) % len(self.players)

    def player_at(self, seat: int) -> str:
        return self.players[self.participant_at(seat)]

    @property
    def turn(self) -> int:
        return OVER if self.resigned is not None else int(self.game.turn(self.states[-1]))

    def view(self, seat: int) -> Any:
        return view_of(self.game, self.states[-1], seat)

    def views(self, seat: int) -> list[Any]:
        """The seat's views at each of its turns so far."""
        return own_views(self.game, self.states, seat)

    def own_moves(self, seat: int) -> int:
        """Number of moves that a seat has made. (The number of all moves might reveal a hidden one.)"""
        return sum(int(self.game.turn(state)) == seat for state in self.states[:-1])

    def automatic_action(self) -> int | None:
        """The action that needs no decision: an outcome of chance, a person's only sensible move, or the one that the
        person has planned; else None. A plan holds until its seat is asked for an announcement again."""
        turn = self.turn
        if turn == CHANCE:  # depends on the ply alone: taking back a move doesn't reshuffle the cards
            rng = generators(derived_seed(self.seed, self.number, len(self.states)), 1)[0]
            return int(self.game.sample_action(self.states[-1], rng))
        if turn >= 0 and self.player_at(turn) == HUMAN:
            view, planned = self.view(turn), self._planned.get(turn, -1)
            forced = int(display(self.game).forced_action(view))
            if forced >= 0:
                return forced
            if not self.game.is_announcement(view) and planned in legal_actions(self.game, view):
                return planned
        return None

    # ---------------------------------------------------------------- moves

    def play(self, action: int) -> None:
        """Play an action of chance or of the seat to move; count the result at the end."""
        self._append(action)
        if self.turn == OVER:
            everybody = range(len(self.players))
            self._count([float(self.game.payoff(self.states[-1], self.seat_of(each))) for each in everybody])
            if self.session:
                self.session.finish(self.states[-1])

    def _count(self, payoffs: list[float]) -> None:
        """Enter the result of a game, by participant."""
        self.results = [*self.results, payoffs][-MAX_GAMES:]
        for score, payoff in zip(self.scores, payoffs, strict=True):
            score.add(payoff)

    def _append(self, action: int) -> None:
        if not self.game.is_announcement(self.states[-1]):
            self._planned.pop(self.turn, None)
        self.states.append(next_state(self.game, self.states[-1], action))
        self.actions.append(int(action))
        self._changes += 1

    def move(self, participant: int, move: Move) -> None:
        """Play a person's move.

        Raises:
            Refused: It isn't legal, or was chosen in another position.
        """
        seat = self.seat_of(participant)
        if self.turn == OVER:
            raise Refused("the game is over")
        if self.turn != seat:
            raise Refused("it is not your turn")
        if move.turn != self.own_moves(seat):
            raise Refused("the position has changed meanwhile, perhaps in another window")
        view, shown = self.view(seat), display(self.game)
        self._planned.pop(seat, None)
        if not move.planned:
            if move.action not in legal_actions(self.game, view):
                raise Refused(f"the move {move.action} is not legal here")
            self.play(move.action)
            return
        if move.action not in shown.planned_actions(view):
            raise Refused(f"the move {move.action} is not legal next")
        self._planned[seat] = move.action
        self.play(shown.parse_planned(view, shown.action_to_string(view, move.action)))
        while (automatic := self.automatic_action()) is not None and self.turn >= 0:
            self.play(automatic)

    def last_decision(self, participant: int) -> int | None:
        """The number of actions before the last move that a person may fairly take back; None: there is none.

        It is fair where the person has learned nothing by it: in games without hidden information, since then only
        moves and no dice; in others no other seat has moved, and the move itself showed nothing hidden (the second bid
        of a round of Goofspiel shows who won it).
        """
        seat, shown = self.seat_of(participant), display(self.game)
        if self.turn == OVER or list(self.players).count(HUMAN) > 1:
            return None
        for ply in range(len(self.actions) - 1, -1, -1):
            turn = int(self.game.turn(self.states[ply]))
            if turn == seat and self.game.facts.hidden and self._reveals(seat, ply):
                return None
            if turn == seat and shown.forced_action(view_of(self.game, self.states[ply], seat)) < 0:
                return ply
            if turn == CHANCE or (turn != seat and self.game.facts.hidden):
                return None
        return None

    def _reveals(self, seat: int, ply: int) -> bool:
        """Whether a seat's own action showed it something hidden. Found once: worlds are tried."""
        if (seat, ply) not in self._revealing:
            before, after = (view_of(self.game, state, seat) for state in self.states[ply : ply + 2])
            self._revealing[seat, ply] = reveals(self.game, seat, before, self.actions[ply], after)
        return self._revealing[seat, ply]

    def undo(self, participant: int) -> None:
        """Return to the person's last decision."""
        ply = self.last_decision(participant)
        if ply is None:
            raise Refused("there is nothing that you may fairly take back")
        self._planned.pop(self.seat_of(participant), None)
        with self._describing:
            del self.states[ply + 1 :], self.actions[ply:]
            self._revealing.clear()
            self.trouble = ""
            self._changes += 1
            for events in self._events.values():
                del events[ply:]

    @property
    def can_resign(self) -> bool:
        """Resigning is losing: for games of two seats in which all losses count the same."""
        facts = self.game.facts
        return self.turn != OVER and facts.seats == 2 and facts.zero_sum and not facts.hidden

    def resign(self, participant: int) -> None:
        if not self.can_resign:
            raise Refused("there is nothing to resign here")
        self.resigned = participant
        self._changes += 1
        self._count([self.game.facts.payoffs[0 if other == participant else 1] for other in range(len(self.players))])

    def rematch(self, game: int | None = None) -> None:
        """Begin the next game, with everybody one seat further, or a new session after the last game of one.

        A game that isn't over doesn't count. In a session it is played to its end, unless it can't go on.

        Args:
            game: The number of the game before, counted from 1; None: whichever is played.

        Raises:
            Refused: Somebody else has begun the next game already, or this one must be played to its end.
        """
        if game not in (None, self.number + 1):
            raise Refused("the next game has begun already")
        if self.session and self.turn != OVER and not self.trouble:
            raise Refused("a game of a session is played to its end")
        if self.session and self.turn == OVER and self.session.advance(self.states[-1]):
            self.scores, self.results = [Score() for _ in self.players], []
        self.trouble = ""
        self._begin(self.number + 1)

    # ---------------------------------------------------------------- for one seat

    def describe(self, participant: int, language: str) -> None:
        """Prepare the sentences of `message`, in any thread. Slow where much is hidden: worlds are tried."""
        with self._describing:
            self._describe(participant, language)

    def _describe(self, participant: int, language: str) -> None:
        seat, words, shown = self.seat_of(participant), Words(language), display(self.game, language)
        actions, states = list(self.actions), list(self.states)  # in this order: a move may be added meanwhile
        events = self._events.setdefault((seat, language), [])
        for ply in range(len(events), len(actions)):
            turn = int(self.game.turn(states[ply]))
            before, after = (view_of(self.game, state, seat) for state in states[ply : ply + 2])
            if turn == seat and self.game.facts.hidden and ply == len(actions) - 1:
                self._reveals(seat, ply)  # here, where it may take long
            if turn != seat:
                events.append(describe_step(shown, seat, Step(turn, before, after), words))
            elif shown.is_visible(before, actions[ply]):
                name = shown.action_to_string(before, actions[ply])
                events.append(words.sentence(words("you"), name, bool(self.game.is_announcement(before))))
            else:
                events.append("")

    def message(self, participant: int, language: Literal["en", "de"] = "en") -> TableView:
        """The table as a person sees it."""
        version = self._changes, self.trouble, self.unsaved
        if self._messages.get((participant, language), (None,))[0] != version:
            self._messages[participant, language] = version, self._message(participant, language)
        return self._messages[participant, language][1]

    def _message(self, participant: int, language: Literal["en", "de"]) -> TableView:
        self.describe(participant, language)
        seat, words, shown = self.seat_of(participant), Words(language), display(self.game, language)
        over, view = self.turn == OVER, self.view(seat)
        turn = OVER if over else int(self.game.turn(view))
        asked = not over and turn == seat and self.automatic_action() is None  # else the move is about to be made
        phase: Literal["yours", "others", "over"] = "over" if over else "yours" if asked else "others"
        state, viewer = (self.states[-1], -1) if over else (view, seat)
        by_seat = [self.participant_at(each) for each in range(len(self.players))]
        return TableView(
            game=full_name(self.rules),
            number=self.number + 1,
            seats=[
                Seat(
                    seat=each + 1,
                    you=each == seat,
                    player=self.player_at(each),
                    strength=self.strengths[self.participant_at(each)],
                    to_move=turn == each,
                )
                for each in range(len(self.players))
            ],
            phase=phase,
            turn=self.own_moves(seat),
            picture=self.picture(state, seat, shown, over),
            text=shown.show(state, viewer),
            moves=self.legal_moves(view, shown) if asked else [],
            events=list(filter(None, self._events[seat, language])),
            result=self.result(participant, words) if over else None,
            score=self.scores[participant].text(words),
            played=self.scores[participant].games,
            results=[[row[each] for each in by_seat] for row in self.results],
            totals=[self.scores[each].total for each in by_seat],
            session=self.session.view(self.states[-1] if over else None) if self.session else None,
            can_undo=self.last_decision(participant) is not None,
            can_resign=self.can_resign,
            trouble="; ".join(filter(None, [self.trouble, self.unsaved])),
        )

    def picture(self, state: Any, seat: int, shown: Any, over: bool) -> str:
        """A position for a seat, with the last move highlighted where there is a board and everybody sees it."""
        drawn_board = hasattr(self.game, "board") and type(self.game).picture is board_or_text
        if drawn_board and self.actions and not self.game.facts.hidden and self.game.turn(self.states[-2]) != CHANCE:
            return drawn_in(shown.language, board_svg(self.game, state, self.actions[-1], self.states[-2]))
        return str(shown.final_picture(state, seat) if over else shown.picture(state, seat))

    def legal_moves(self, view: Any, shown: Any) -> list[LegalMove]:
        now = [(int(action), False) for action in shown.moves(view)]
        later = [(int(action), True) for action in shown.planned_actions(view)]
        found = []
        for action, planned in now + later:
            start, *cells = self._cells(view, action) if hasattr(self.game, "board") else (-1,)
            name = shown.action_to_string(view, action)
            found.append(LegalMove(action=action, name=name, start=start, cells=cells, planned=planned))
        return found

    def _cells(self, view: Any, action: int) -> list[int]:
        """The cell from which an action moves (-1: none), and the cells that stand for it, where it ends first:
        a whole column where pieces are dropped into columns."""
        start, end = (int(cell) for cell in self.game.from_to(view, action))
        if end < 0:
            return [start]
        if not getattr(self.game, "numbered_columns", False):
            return [start, end]
        places = self.game.board().places  # type: ignore[attr-defined]
        return [start, end, *(cell for cell, at in enumerate(places) if at[1] == places[end][1] and cell != end)]

    def result(self, participant: int, words: Words) -> Result:
        if self.resigned is not None:
            lost = self.resigned == participant
            text = words("you resigned") if lost else words("the other side resigned")
            return Result(payoff=self.game.facts.payoffs[0 if lost else 1], text=text)
        payoff = float(self.game.payoff(self.states[-1], self.seat_of(participant)))
        text = "you win {points}" if payoff > 0 else "you lose {points}" if payoff < 0 else "you break even"
        points = f"{words.number(f'{abs(payoff):g}')} {display(self.game).symbol}".strip()
        return Result(payoff=payoff, text=words(text, points=points))


KEPT = ("id", "players", "strengths", "seed", "keys", "number", "actions", "resigned")
