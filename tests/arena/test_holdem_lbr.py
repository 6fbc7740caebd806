"""Local best response: equities, ranges, and exact results against simple opponents."""

import json
from itertools import combinations

import numpy as np
import pytest

import kibitz as api
from kibitz import games
from kibitz.core.names import BadInput
from kibitz.games.public_cards import masks
from kibitz.poker.lbr import ByLocalBestResponse, LocalBestResponse, adviser
from kibitz.poker.ranges import moves_to
from kibitz.poker.rules.evaluator import KEYS, value
from kibitz.poker.rules.ranges import all_hands, boards_to_come, deck_of, equities
from kibitz.poker.rules.state import CALL, FOLD, RAISE
from kibitz.train.deep_cfr.average import action_probs
from kibitz.train.deep_cfr.networks import Model, Shape, new_weights, save_model

from ..players.test_players import look, positions_met

SMALL = games.load("holdem:ranks=4,suits=3")


def equity_of(game, own, board, boards=None):
    hands = all_hands(game)
    if boards is None:
        boards = boards_to_come(game, own, board, 10**6, None)
    found = np.zeros(len(hands))
    own = np.array(own)
    equities(own, masks(own), hands, masks(hands), boards, masks(boards), np.zeros(len(hands)), found)
    return found


@pytest.mark.parametrize("board", [[], [0, 5, 9], [0, 5, 9, 13], [0, 5, 9, 13, 1]])
def test_equities_are_shares_of_all_boards_that_may_come(board):
    own = (10, 4)
    found = equity_of(SMALL, own, board)
    for (high, low), equity in zip(all_hands(SMALL).tolist(), found, strict=True):
        hand, won = (high, low), []
        left = [card for card in deck_of(SMALL) if card not in {*own, *hand, *board}]
        if {*hand} & {*own, *board}:
            assert equity == 0
            continue
        for more in combinations(left, 5 - len(board)):
            mine, other = (value(KEYS[[*cards, *board, *more]].sum()) for cards in (own, hand))
            won.append((mine > other) + (mine == other) / 2)
        assert equity == pytest.approx(np.mean(won))


def test_where_there_are_too_many_boards_some_are_drawn():
    boards = boards_to_come(games.load("holdem"), (51, 50), [0, 1, 2], 50, np.random.default_rng(1))
    assert boards.shape == (50, 5)
    assert (boards[:, :3] == [0, 1, 2]).all()
    for board in boards.tolist():
        assert len({*board, 51, 50}) == 7
    assert boards_to_come(games.load("holdem"), (51, 50), [0, 1, 2, 3], 50, None).shape == (46, 5)


def test_the_path_to_a_view_is_what_both_saw():
    met = 0
    for state in positions_met(SMALL, 40, seed=4):
        seat = SMALL.turn(state)
        view, now = look(SMALL, state, seat), games.positions(SMALL)[0]
        for turn, action in moves_to(SMALL, view):
            assert action in games.legal_actions(SMALL, turn)
            assert (turn.hole < 0).all()
            now = turn.copy()
            SMALL.play(now, action)
            met += 1
        assert now.line == view.line
        assert now.paid.tolist() == view.paid.tolist()
    assert met > 40


class Scripted:
    """Raises with the upper half of hands by their first card, else folds to a bet or checks."""

    def action_probs(self, views):
        probs = np.zeros((len(views), 3))
        for i, view in enumerate(views):
            legal = games.legal_actions(SMALL, view)
            action = RAISE if view.hole[SMALL.turn(view), 0] >= 8 and RAISE in legal else legal[0]
            probs[i, legal.index(action)] = 1
        return probs


def test_the_range_follows_the_probabilities_of_the_moves_and_the_best_of_three_is_played():
    state = games.positions(SMALL)[0]
    for action in (10, 4, 9, 0, RAISE):  # the big blind holds 10 and 4; the dealer raises
        SMALL.play(state, action)
    lbr = LocalBestResponse(Scripted(), 10**6)
    lbr.begin(SMALL, 0, 1)
    chosen = lbr.move(look(SMALL, state, 0))
    hands = all_hands(SMALL)
    kept = (hands[:, 0] >= 8) & ~np.isin(hands, [10, 4]).any(axis=1)
    assert np.array_equal(lbr.range > 0, kept)
    # 30 are in the pot, 10 to call, a raise is 10 more; nobody of that range folds.
    wins = equity_of(SMALL, (10, 4), [])[kept].mean()
    values = [0, wins * 30 - (1 - wins) * 10, wins * 40 - (1 - wins) * 20]
    assert chosen == int(np.argmax(values)) == (RAISE if wins > 0.5 else CALL)


def test_after_a_move_of_probability_0_all_hands_are_possible():
    state = games.positions(SMALL)[0]
    for action in (10, 4, 9, 0, CALL):  # who is scripted folds here, or raises
        SMALL.play(state, action)
    lbr = LocalBestResponse(Scripted())
    lbr.begin(SMALL, 0, 1)
    assert lbr.move(look(SMALL, state, 0)) != FOLD
    assert (lbr.range > 0).sum() == 10 * 9 // 2


def test_a_weak_hand_is_raised_against_a_player_that_folds_and_folded_against_one_that_does_not():
    state = games.positions(SMALL)[0]
    for action in (14, 13, 4, 0):  # the dealer moves first
        SMALL.play(state, action)
    for name, expected in (("always:fold", RAISE), ("always:raise", FOLD)):
        lbr = LocalBestResponse(adviser(name, SMALL))
        lbr.begin(SMALL, 1, 1)
        if name == "always:raise":  # a deuce and a three win less than a third, and 5 of 15 are to be called
            lbr.equities_of = lambda own, board: np.full(len(all_hands(SMALL)), 0.2)
        assert lbr.move(look(SMALL, state, 1)) == expected


class Drawing:
    """Draws one of three strategies for a game, as SD-CFR does; each folds, calls or raises by hand and line."""

    draw_weights = np.array([0.2, 0.5, 0.3])

    def begin(self, game, seat, seed):
        self.drawn = seed % 3

    def action_probs(self, views, drawn):
        probs = np.zeros((len(views), 3))
        for i, (view, strategy) in enumerate(zip(views, drawn, strict=True)):
            n, (high, low) = len(games.legal_actions(SMALL, view)), view.hole[SMALL.turn(view)].tolist()
            weights = np.random.default_rng([strategy, high, low, int(view.line)]).integers(0, 4, n)
            probs[i, :n] = (weights if weights.any() else np.ones(n)) / max(weights.sum(), 1 if weights.any() else n)
        return probs


class Mixed:
    """The behaviour strategy that equals `Drawing`, from the moves that led to each view (Kuhn's theorem)."""

    def action_probs(self, views):
        found = np.zeros((len(views), 3))
        for i, view in enumerate(views):
            seat, reach = SMALL.turn(view), Drawing.draw_weights.copy()
            for before, action in moves_to(SMALL, view):
                if SMALL.turn(before) == seat:
                    before.hole[seat] = view.hole[seat]
                    place = games.legal_actions(SMALL, before).index(action)
                    reach *= Drawing().action_probs([before] * 3, range(3))[:, place]
            found[i] = reach @ Drawing().action_probs([view] * 3, range(3)) / max(reach.sum(), 1e-300)
        return found


def test_a_player_that_draws_its_strategy_is_taken_for_the_mixture_that_it_plays():
    """Range, and value of every move, are those against the one behaviour strategy that plays as it does."""
    drawing = Drawing()
    drawing.begin(SMALL, 0, 0)
    one, two = LocalBestResponse(drawing, 20), LocalBestResponse(Mixed(), 20)
    compared, generator = 0, np.random.default_rng(5)
    for game in range(8):
        state, seat, strategy = games.positions(SMALL)[0], game % 2, int(generator.choice(3, p=Drawing.draw_weights))
        for lbr in (one, two):
            lbr.begin(SMALL, seat, game)
        while (turn := SMALL.turn(state)) != games.OVER:
            if turn == games.CHANCE:
                action = SMALL.sample_action(state, np.array([game, compared], np.uint64))
            elif turn == seat:
                action = one.move(look(SMALL, state, seat))
                assert action == two.move(look(SMALL, state, seat))
                shares = [lbr.range / lbr.range.sum() for lbr in (one, two)]
                assert shares[0] == pytest.approx(shares[1], abs=1e-12)
                compared += 1
            else:
                probs = drawing.action_probs([look(SMALL, state, turn)], [strategy])[0]
                legal = games.legal_actions(SMALL, state)
                action = legal[int(generator.choice(len(legal), p=probs[: len(legal)]))]
            SMALL.play(state, action)
    assert compared > 15


def test_the_range_against_sd_cfr_is_that_of_all_its_networks(tmp_path):
    shape = Shape("plain", SMALL.facts.encoding, (16,), 3, "none", False)
    networks = [new_weights(shape, np.random.default_rng(seed)) for seed in range(3)]
    name = games.full_name(SMALL)
    model = Model(name, name, "a test", "sd", "argmax", shape, (networks, networks), np.array([1.0, 2.0, 3.0]))
    save_model(tmp_path / "network.safetensors", model)
    state = games.positions(SMALL)[0]
    for action in (10, 4, 9, 0):
        SMALL.play(state, action)
    hands = all_hands(SMALL)
    views = np.zeros(len(hands), SMALL.state)
    views[:] = state
    views["hole"][:, 1] = hands
    raises = [action_probs(model, 1, network, SMALL, views)[:, RAISE] for network in range(3)]
    expected = np.where(np.isin(hands, [10, 4]).any(axis=1), 0, model.weights @ raises)
    assert not np.allclose(raises[0], raises[1])
    SMALL.play(state, RAISE)
    lbr = LocalBestResponse(adviser(f"net:{tmp_path / 'network.safetensors'}", SMALL))
    for seed in range(3):
        lbr.begin(SMALL, 0, seed)
        lbr.move(look(SMALL, state, 0))
        assert lbr.range / lbr.range.sum() == pytest.approx(expected / expected.sum(), abs=1e-9)


def test_a_player_that_draws_its_strategy_without_saying_how_is_refused():
    class Secretive(Drawing):
        draw_weights = property()

        def move(self, view):
            return CALL

    with pytest.raises(BadInput, match="Secretive has `drawn` without `draw_weights`"):
        adviser(Secretive(), SMALL)


@pytest.mark.parametrize("name", ["holdem:ranks=6", "holdem:flop,ranks=6"])
def test_it_wins_exactly_750_from_always_folding_and_something_from_always_calling(name):
    for other, least, most in (("always:fold", 750, 750), ("always:call", 1, 5000)):
        play = ByLocalBestResponse.games(games.load(name), ["lbr", other], 1)
        won = [record.payoffs[record.number % 2] for record in map(play, range(60))]
        assert least <= 1000 * np.mean(won) <= most


def test_the_bound_from_python_is_that_of_both_seats(tmp_path):
    small = games.load("holdem:flop,ranks=6")
    found = api.exploit(small, "always:fold", method="lbr", games=21, out=tmp_path / "run")
    assert found.games == 20
    assert [each.mean for each in found.by_seat] == [0.5, 1.0]  # the blinds
    assert found.nash_conv.mean == 1.5
    assert api.exploit(small, "always:fold", method="lbr", games=20) == found


def test_the_command_writes_games_and_resumes(kibitz, tmp_path):
    asked = ("exploit", "holdem:ranks=6", "random", "--with", "lbr", "--processes", "1", "--out", "run")
    code, out, _ = kibitz(*asked, "--games", "10", "--within", "50", "--json", "report.json")
    assert code == 0
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["players"] == ["lbr", "random"]
    assert f"needs {report['further_games']:,} further games" in out
    whole = (tmp_path / "run" / "games.jsonl").read_text()
    (tmp_path / "run" / "games.jsonl").write_text("".join(whole.splitlines(keepends=True)[3:5]))
    assert kibitz(*asked, "--games", "10")[0] == 0
    assert (tmp_path / "run" / "games.jsonl").read_text() == whole


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (("leduc", "random", "--with", "lbr"), "local best response is for holdem, not for leduc"),
        (
            ("holdem", "oos:10", "--with", "lbr"),
            "oos:10 gives no probabilities for every hand",
        ),
        (("holdem", "random", "--with", "magic"), "no method of kibitz exploit is called 'magic'"),
        (("leduc", "random", "--out", "run"), "--out is for --with lbr"),
    ],
)
def test_what_cannot_be_measured_is_refused(kibitz, asked, why):
    code, _, err = kibitz("exploit", *asked)
    assert code == 2
    assert why in err
    assert len(err.strip().splitlines()) == 1
