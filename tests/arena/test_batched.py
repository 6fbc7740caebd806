"""Games played side by side: the same as one by one."""

import json

import numpy as np
import pytest

from kibitz import games
from kibitz.core.names import BadInput
from kibitz.games.records import Record
from kibitz.nets.mlp import new_layers, save_layers, sizes_of
from kibitz.play import batched, match, players
from kibitz.play.batched import match_blocks, play_block
from kibitz.play.match import play_match
from kibitz.play.play import match_games
from kibitz.play.statistics import further_games, summary
from kibitz.poker.best_response import evaluate_hands
from kibitz.search.advice import fixed_advice
from kibitz.solve.cfr import Cfr


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    """A strategy and a network for Leduc, as players."""
    folder, game = tmp_path_factory.mktemp("learned"), games.load("leduc")
    solver = Cfr(game, "cfr+")
    solver.run(20)
    solver.strategy().save(folder / "strategy.safetensors")
    save_layers(folder / "net.safetensors", game, new_layers(sizes_of(game, [32]), np.random.default_rng(1)))
    return [f"strategy:{folder / 'strategy.safetensors'}", f"net:{folder / 'net.safetensors'},threshold=0.9"]


def same(game, names, count, seed=3):
    one = match_games(game, names, seed)
    assert match_blocks(game, names, seed)(range(count)) == [one(number) for number in range(count)]


def test_learned_players_play_the_same_games_side_by_side_as_one_by_one(learned):
    same("leduc", learned, 60)
    same("leduc", ["always:raise", "random"], 60)


def test_players_of_holdem_play_the_same_games_side_by_side_as_one_by_one():
    same("holdem:stack=80", ["style:loose-aggressive", "random"], 30)
    same("holdem:flop", ["style:tight-passive", "always:call"], 30)


def test_a_long_match_is_played_side_by_side_by_any_number_of_processes(learned, monkeypatch):
    asked = ("leduc", [learned[0], "random"], 200, 1)
    one_by_one = list(play_match(*asked, 1))
    blocks = []
    monkeypatch.setattr(match, "MANY", 100)
    monkeypatch.setattr(batched, "BLOCK", 40)
    monkeypatch.setattr(match, "match_blocks", lambda *given: blocks.append(given) or match_blocks(*given))
    assert list(play_match(*asked, 1)) == one_by_one
    assert len(blocks) == 1
    rest = list(play_match(*asked, 1, done=set(range(30, 90))))
    assert rest == one_by_one[:30] + one_by_one[90:]
    monkeypatch.setattr(match, "match_blocks", match_blocks)
    two = sorted(play_match(*asked, 2, alone=0), key=lambda record: record.number)
    assert two == one_by_one


def test_players_that_search_are_played_one_by_one(monkeypatch):
    monkeypatch.setattr(match, "MANY", 1)
    monkeypatch.setattr(match, "match_blocks", None)
    assert len(list(play_match("kuhn", ["oos:10", "random"], 4, 1, 1))) == 4


class Moody(players.Random):
    """Draws at the beginning of a game whether it calls all along, or raises."""

    def begin(self, game, seat, seed):
        super().begin(game, seat, seed)
        self.drawn = int(self.generator.integers(2))

    def advise(self, view):
        legal = games.legal_actions(self.game, view)
        probs = self.action_probs(np.array([view], self.game.state), np.array([self.drawn]))[0]
        return fixed_advice(self.game, view, probs[: len(legal)])

    def action_probs(self, views, drawn):
        probs = np.zeros((len(views), 3))
        for i, view in enumerate(views):
            legal = games.legal_actions(self.game, view)
            probs[i, legal.index(2) if drawn[i] and 2 in legal else legal.index(1)] = 1
        return probs


def test_a_player_keeps_to_what_it_draws_at_the_beginning_of_a_game():
    same("leduc", [Moody(), "random"], 60)
    with pytest.raises(BadInput, match="Moody has `drawn` without `draw_weights`"):
        evaluate_hands(games.load("holdem:flop,ranks=4"), Moody())


def test_probabilities_that_do_not_sum_to_1_are_refused():
    class Confused(players.Random):
        def action_probs(self, views):
            return np.zeros((len(views), 3))

    confused = [Confused(), Confused()]
    with pytest.raises(BadInput, match="confused gives probabilities that don't sum to 1"):
        play_block(games.load("leduc"), confused, ["confused"] * 2, 1, [0, 1])


def test_always_folding_loses_exactly_750_mbb_to_always_raising(kibitz, tmp_path):
    asked = ("match", "holdem", "always:fold", "always:raise", "--games", "2000", "--processes", "1")
    code, out, _ = kibitz(*asked, "--within", "5", "--json", "report.json")
    assert code == 0
    assert "-750.0" in out
    assert "a 95% interval of ±5 mbb/g needs 0 further games" in out
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["payoff"] == {"mean": -0.75, "low": -0.75, "high": -0.75}
    assert report["further_games"] == 0


def test_further_games_follow_from_the_deviation_of_pairs():
    payoffs = [3.0, 1.0, -2.0, 4.0]  # of the first player; means of pairs: 2 and 1
    records = [
        Record(number, "leduc", ["a", "b"] if number % 2 == 0 else ["b", "a"], 1, [], paid)
        for number, paid in enumerate([[p, -p] if i % 2 == 0 else [-p, p] for i, p in enumerate(payoffs)])
    ]
    result = summary(records)
    assert result.of_pairs == pytest.approx(np.std([2, 1], ddof=1))
    # 1.96 * 0.7071 / sqrt(pairs) <= 0.1 from 193 pairs on.
    assert further_games(result, 2, 0.1) == 2 * 193 - 4
    assert further_games(result, 2, 100) == 0
    assert further_games(summary(records[:1]), 2, 1) is None
