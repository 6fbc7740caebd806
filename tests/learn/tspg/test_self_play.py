"""TSPG: it learns planted patterns; runs are the same for any number of processes and kills."""

import json
import multiprocessing
from itertools import count
from pathlib import Path

import numpy as np
import pytest

from kibitz import games
from kibitz.core.names import BadInput
from kibitz.core.runs import Run
from kibitz.games import OVER
from kibitz.play import players
from kibitz.train import trainer
from kibitz.train.tspg import Tspg
from kibitz.train.tspg.cases import Finder
from kibitz.train.tspg.config import TspgConfig
from kibitz.train.tspg.learner import Side
from kibitz.train.tspg.patterns import parse, window
from kibitz.train.tspg.rmsprop import DECAY, EPSILON, MOMENTUM
from kibitz.train.tspg.self_play import MAX_TURNS, PLAYOUT_PLIES
from kibitz.train.tspg.sets import atoms_of, compile_set
from kibitz.train.tspg.store import FORMAT, POLICIES, read_features, save_features

from ..contract import Killed, outcome
from ..test_expert_iteration import damaged, foreign, keep_checkpoints, killed_before
from .oracle import positions_met

GROWING = {"epsilon_inside": True, "batch_size": 60, "growth_positions": 400, "min_cases": 4, "confidence_bound": True}

# ---------------------------------------------------------------- planted in advice


def advice(game, states, wanted, values):
    """Rows as of a search that visits and values actions so; both are functions of a position and an action."""
    most, rows = (
        game.facts.num_actions,
        {key: [] for key in ("states", "seats", "visits", "values", "priors", "roots")},
    )
    for state in states:
        legal = games.legal_actions(game, state)
        visits, value, prior = np.zeros(most, np.int32), np.full(most, np.nan, np.float32), np.zeros(most, np.float32)
        visits[legal] = [wanted(state, action) for action in legal]
        value[legal] = [values(state, action) for action in legal]
        value[visits == 0] = np.nan
        prior[legal] = 1 / len(legal)
        rows["states"].append(np.frombuffer(np.array([state], game.state).tobytes(), np.uint8))
        for key, each in (("visits", visits), ("values", value), ("priors", prior)):
            rows[key].append(each)
        rows["seats"].append(game.turn(state))
        rows["roots"].append(float(np.nansum(visits * value) / visits.sum()))
    kinds = {"seats": np.int8, "roots": np.float32}
    return {key: np.array(each, kinds.get(key)) for key, each in rows.items()}


def taught(name, rounds, wanted, values, each=16, **config):
    """A learner after some rounds of advice on `each` positions."""
    game = games.load(name)
    learner = Tspg(TspgConfig(name, **GROWING | {"updates": 2, "new_patterns": 2} | config), game)
    for number in range(rounds):
        measured = learner.update(advice(game, positions_met(game, each, 100 + number), wanted, values))
    return learner, measured


def planted_in(game, text, seat):
    """Whether a pattern is active for an action: of the seat to move."""
    planted = parse(text, window(game.board()))
    tables, finder = compile_set(game, "faithful", seat, [planted], 4), Finder(game, "faithful")

    def active(state, action):
        cases = finder.find(np.array([state], game.state), tables, 1)
        return bool(cases.active[cases.actions == action, 0][0])

    return active


LINE = "to: friend(0) friend(0,0)"


@pytest.mark.parametrize("good", [True, False])
def test_a_planted_pattern_grows_and_gets_its_weight(good):
    """The search visits it often; its values say that it is good, or bad: what each policy learns from."""
    game = games.load("connect_four")
    planted = [planted_in(game, LINE, seat) for seat in range(2)]

    def active(state, action):
        return planted[game.turn(state)](state, action)

    learner, measured = taught(
        "connect_four", 4,
        lambda state, action: 60 if active(state, action) else 3,
        lambda state, action: (0.8 if good else -0.8) if active(state, action) else 0.0,
        each=40,
    )  # fmt: skip
    assert measured["rows"] == 160
    for side in learner.sides:
        assert side.patterns[49] == parse(LINE, window(game.board()))  # it is the first that grew
        assert side.vectors["ce"][49] == pytest.approx(np.log(60 / 3), abs=0.3)
        assert abs(side.vectors["double"][49]) < 0.3
        assert side.vectors["tspg"][49] > 0.3 if good else side.vectors["tspg"][49] < -0.3


@pytest.mark.parametrize("every_win", [True, False])
def test_of_rare_wins_all_count_in_growth(every_win):
    """A move that wins is made once per game: in a sample of positions a pattern of it is too rare to grow."""
    game = games.load("connect_four")
    winning = planted_in(game, LINE, 0)
    config = GROWING | {"growth_positions": 8, "min_cases": 10, "growth_wins": every_win}
    side = Side(game, TspgConfig("connect_four", **config), 0)
    rows = advice(
        game, positions_met(game, 200, 5, 0),
        lambda state, action: 60 if winning(state, action) else 3,
        lambda state, action: float(winning(state, action)),
    )  # fmt: skip
    wins = rows["visits"].max(axis=1) == 60
    for i in np.flatnonzero(~wins | (wins.cumsum() <= 12)):
        row = {key: each[i : i + 1] for key, each in rows.items() if key != "seats"}
        side.memory.add(row, np.random.default_rng(1))
    assert len(side.won()) == 12
    assert len(side.memory) > 100
    side.grow(np.random.default_rng(1))
    assert (side.patterns[49:] == [parse(LINE, window(game.board()))]) == every_win


def test_three_is_bad_and_four_is_good():
    """As in Yavalath itself, where a search shuns three in a row and plays four; nothing else is learned."""
    game = games.load("yavalath")

    def made(state, action):
        after = state.copy()
        game.play(after, action)
        return 0 if game.turn(after) != OVER else int(game.payoff(after, game.turn(state)))

    def telling(count, seed):
        return [
            state
            for state in positions_met(game, count, seed)
            if any(made(state, action) for action in games.legal_actions(game, state))
        ]

    visits = {0: 20, 1: 400, -1: 0}
    config = GROWING | {"new_patterns": 3, "updates": 4, "unvisited": "loss"}
    learner = Tspg(TspgConfig("yavalath", **config), game)
    for number in range(4):
        wanted, values = lambda *at: visits[made(*at)], lambda *at: 0.9 * made(*at)
        learner.update(advice(game, telling(60, number), wanted, values))
    eye, found = window(game.board()), learner.shared()
    for seat, side in enumerate(learner.sides):
        for text, sign in (("friend(1/2)", -1), ("friend(0,0)", -1), ("friend(0,0) friend(1/2)", 1)):
            at = side.patterns.index(parse(f"to: friend(0) {text}", eye))
            assert all(sign * found.weights(name)[seat][at] > 1 for name in ("ce", "double"))
    for name in POLICIES:
        met = {kind: [] for kind in visits}
        for state in telling(50, 999):
            side = learner.sides[game.turn(state)]
            cases = side.finder.find(np.array([state], game.state), side.tables, len(side.patterns))
            probs = cases.softmax(cases.active @ found.weights(name)[side.seat]) * len(cases.actions)
            for action, odd in zip(cases.actions.tolist(), probs.tolist(), strict=True):
                met[made(state, action)].append(odd)
        assert np.mean(met[-1]) < 0.3 < 0.5 < np.mean(met[0])
        assert np.mean(met[1]) > 5


def test_a_learner_remembers_the_last_positions_of_each_seat():
    learner, measured = taught("connect_four", 3, lambda *_: 1, lambda *_: 0.0, capacity=10, new_patterns=0)
    assert measured == {"loss": measured["loss"], "turns": 16, "patterns": 49, "rows": 20}
    game = games.load("connect_four")
    last = positions_met(game, 16, 102)
    for seat, side in enumerate(learner.sides):
        mine = [state for state in last if game.turn(state) == seat][-5:]
        states = side.memory.all()["states"]
        kept = {row.tobytes() for row in states}
        assert {np.array([state], game.state).tobytes() for state in mine} <= kept
        assert {int(game.turn(state)) for state in states.reshape(-1).view(game.state)} == {seat}
        assert side.memory.added > 10


def test_even_advice_changes_nothing():
    learner, measured = taught("connect_four", 2, lambda *_: 5, lambda *_: 0.25)
    for side in learner.sides:
        for vector in side.vectors.values():
            np.testing.assert_allclose(vector, 0, atol=1e-3)
    assert measured["loss"] > 1.5


@pytest.mark.parametrize("shared", [False, True])
def test_a_rate_may_be_shared_by_all_patterns(shared):
    learner, _ = taught(
        "connect_four",
        1,
        lambda state, action: 1 + action,
        lambda *_: 0.0,
        new_patterns=0,
        divide_learning_rate=shared,
        each=2,
    )
    size = max(np.abs(side.vectors["ce"]).max() for side in learner.sides)
    assert size > 0.05 if not shared else 0.0005 < size < 0.02


# ---------------------------------------------------------------- whole runs

SMALL = "tic_tac_toe"
TINY = {"iterations": 4, "games": 2, "simulations": 20, "keep_every": 2, "seed": 3}


def begun(folder, game=SMALL, **values):
    return trainer.new_run(folder, "tspg", trainer.configured("tspg", game, None, TINY | values))


def trained(folder, processes=1, **values):
    run = begun(folder, **values)
    trainer.train(run, processes)
    return run


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return trained(tmp_path_factory.mktemp("whole") / "run")


def test_metrics_and_kept_features(whole):
    game, lines = games.load(SMALL), whole.read_lines()
    assert [list(line) for line in lines] == [
        ["iteration", "games"], *[["iteration", "games", "loss", "turns", "patterns", "rows"]] * 4
    ]  # fmt: skip
    assert [(line["iteration"], line["games"]) for line in lines] == [(i, 2 * i) for i in range(5)]
    assert [line["patterns"] for line in lines[1:]] == [51, 53, 55, 57]
    assert all(0 < line["loss"] < 3.0 for line in lines[1:])
    assert lines[-1]["rows"] == sum(line["turns"] for line in lines[1:])
    features, made = read_features(whole.path("network.safetensors"), game)
    assert made == "run, iteration 4"
    for seat in range(2):
        assert features.patterns[seat][:49] == atoms_of(game, "faithful", seat)
        assert len(features.patterns[seat]) == 57
        assert all(np.abs(features.vectors[name][seat]).max() > 0 for name in POLICIES)
    kept = [path.stem for path in sorted(whole.folder.glob("networks/*"))]
    assert kept == ["000001", "000002", "000004"]  # the first, too
    assert all(FORMAT.fits(path) for path in whole.folder.glob("networks/*"))
    assert whole.path("networks/000004.safetensors").read_bytes() == whole.path("network.safetensors").read_bytes()


def test_the_same_seed_gives_the_same_run_and_another_does_not(tmp_path, whole):
    one, other = (trained(tmp_path / name / "run", seed=seed) for name, seed in (("a", 3), ("b", 4)))
    assert outcome(one) == outcome(whole)
    assert outcome(other)["metrics"] != outcome(whole)["metrics"]


def test_two_processes_give_the_same_run_as_one(tmp_path, whole):
    assert outcome(trained(tmp_path / "run", processes=2)) == outcome(whole)
    assert not multiprocessing.active_children()


def test_a_run_resumed_to_more_iterations_equals_one_started_with_them(tmp_path, whole):
    trained(tmp_path / "run", iterations=2)
    config = Run(tmp_path / "run").config() | {"iterations": 4}
    run = Run.create_or_resume(tmp_path / "run", "", config, may_grow=("iterations",))
    trainer.train(run, 1)
    assert outcome(run) == outcome(whole)


@pytest.mark.parametrize("kept_by", ["journal", "checkpoints"])
def test_a_run_may_be_killed_again_and_again(tmp_path, whole, kept_by, monkeypatch):
    """Before any change of the disk, or half through it."""
    keep_checkpoints(monkeypatch, always=kept_by == "checkpoints")
    monkeypatch.setattr(Run, "show_in_tensorboard", lambda run: None)
    run = begun(tmp_path / "run")
    kills = 0
    for last in count(start=3, step=2):
        try:
            with killed_before(last):
                trainer.train(Run(run.folder), 1)
        except Killed:
            kills += 1
        else:
            break
    assert kills > 5
    assert outcome(run) == outcome(whole)


@pytest.mark.parametrize("spoil", [damaged, foreign, Path.unlink])
def test_a_damaged_checkpoint_is_reported_in_one_line(tmp_path, spoil):
    run = trained(tmp_path / "run", iterations=1)
    spoil(run.path("checkpoints/000001/student.safetensors"))
    with pytest.raises(BadInput, match="checkpoints/000001 can't be read, it is damaged: ") as caught:
        trainer.train(Run(run.folder), 1)
    assert "\n" not in str(caught.value)


# ---------------------------------------------------------------- players


def play(game, text, seed):
    """A game against a random player; the moves."""
    both, state, moves = [players.make(text), players.make("random")], games.positions(game)[0], []
    for seat, player in enumerate(both):
        player.begin(game, seat, seed)
    while game.turn(state) != OVER:
        seat = game.turn(state)
        move = both[seat].move(games.view_of(game, state, seat))
        assert move in games.legal_actions(game, state)
        if seat == 0:
            assert both[0].advice.policy.sum() == pytest.approx(1)
            moves.append((move, both[0].advice.best))
        game.play(state, move)
    return moves


@pytest.mark.parametrize(
    "parameters",
    ["features:{}", "features:{},policy=ce,greedy=true", "features:{},policy=double,iteration=2",
     "features:{}/network.safetensors", "puct:30,policy={},playouts=tspg", "puct:30,policy={},iteration=2",
     pytest.param("puct:30,policy={},playouts=uniform", marks=pytest.mark.heavy)],
)  # fmt: skip
def test_players_read_what_was_learned_and_play_by_the_rules(whole, parameters):
    game, text = games.load(SMALL), parameters.format(whole.folder)
    played = [play(game, text, seed) for seed in range(4)]
    assert played == [play(game, text, seed) for seed in range(4)]
    if "greedy" in parameters:
        assert all(move == best for moves in played for move, best in moves)
    elif text.startswith("features"):
        assert any(move != best for moves in played for move, best in moves)


def test_one_player_goes_from_game_to_game(whole, tmp_path):
    """Its eyes too."""
    player = players.make(f"features:{whole.folder},policy=ce")
    game = games.load(SMALL)
    states = positions_met(game, 12, 7)
    fresh = []
    for state in states:
        player.begin(game, game.turn(state), 1)
        again = players.make(f"features:{whole.folder},policy=ce")
        again.begin(game, game.turn(state), 1)
        assert player.move(state) == again.move(state)
        fresh.append(again.advice.policy.tolist())
        assert player.advice.policy.tolist() == fresh[-1]
    assert len({str(policy) for policy in fresh}) > 6


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize("game", ["kuhn", "leduc", "goofspiel:4", "liars_dice"])
def test_a_game_without_a_board_is_refused(game, whole):
    with pytest.raises(BadInput, match="has no board for patterns"):
        trainer.configured("tspg", game, None, {})
    for text in (f"features:{whole.folder}", f"puct:10,policy={whole.folder}"):
        with pytest.raises(BadInput):
            players.make_for(text, games.load(game))


def test_features_of_another_game_are_refused(whole):
    for text in (f"features:{whole.folder}", f"puct:10,policy={whole.folder}"):
        with pytest.raises(BadInput, match="is a feature set for tic_tac_toe, not for hex"):
            players.make_for(text, games.load("hex:5"))


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"learning_rate": -0.1}, "learning_rate=-0.1 is out of range, it should be a number"),
        ({"learning_rate": 1.0}, "learning_rate=1.0 is out of range, it should be a number"),
        ({"learning_rate": float("nan")}, "learning_rate=nan is out of range, it should be a number"),
        ({"features": "poor"}, "poor"),
        ({"playouts": "best"}, "best"),
        ({"unvisited": "draw"}, "draw"),
        ({"simulations": 0}, "simulations"),
    ],
)
def test_a_number_that_makes_no_sense_is_refused(values, text):
    with pytest.raises(BadInput, match=text.replace("(", r"\(")):
        trainer.configured("tspg", SMALL, None, values)


def test_an_unknown_preset_is_refused():
    with pytest.raises(BadInput, match="no preset is called 'large'"):
        trainer.configured("tspg", SMALL, "large", {})


def test_presets_follow_the_paper():
    paper = trainer.configured("tspg", "yavalath", "paper", {})
    assert (paper.iterations * paper.games, paper.simulations, paper.batch_size, paper.capacity) == (200, 1600, 30, 400)
    assert (paper.learning_rate, paper.epsilon_inside, paper.new_patterns) == (0.005, False, 1)
    assert (MOMENTUM, DECAY, EPSILON, PLAYOUT_PLIES, MAX_TURNS) == (0.9, 0.9, 1e-8, 200, 150)
    assert paper.features == "faithful"
    assert trainer.configured("tspg", "hex:11", "paper", {}).simulations == 800
    assert trainer.configured("tspg", "hex:7", "paper", {}).simulations == 1600
    assert trainer.configured("tspg", "hex:11", "small", {"seed": 9}).seed == 9
    assert not paper.growth_wins
    assert trainer.configured("tspg", "connect_four", "best", {}).growth_wins
    assert not trainer.configured("tspg", "hex:7", "best", {}).growth_wins


@pytest.mark.parametrize(
    ("text", "named"),
    [("features:{}/nothing", "no feature set file"), ("features:{},policy=best", "best"),
     ("features:{},iteration=3", "no network of iteration 3"), ("puct:10,policy={},playouts=best", "best"),
     ("puct:10,policy={}/nothing", "no feature set file"), ("features:{}/config.json", "damaged or foreign")],
)  # fmt: skip
def test_a_player_of_what_is_not_there_is_refused(whole, text, named):
    with pytest.raises(BadInput, match=named) as caught:
        players.make_for(text.format(whole.folder), games.load(SMALL))
    assert "\n" not in str(caught.value)


def test_a_network_holds_no_features_and_features_are_no_network(tmp_path, whole):
    from kibitz.nets.mlp import new_layers, save_layers, sizes_of

    game = games.load(SMALL)
    save_layers(tmp_path / "net.safetensors", game, new_layers(sizes_of(game, [4]), np.random.default_rng(1)))
    for text in (f"features:{tmp_path}/net.safetensors", f"net:{whole.folder}"):
        with pytest.raises(BadInput, match="its format is"):
            players.make_for(text, game)
    assert not FORMAT.fits(tmp_path / "net.safetensors")


def test_a_configuration_with_a_missing_field_is_refused(tmp_path):
    run = begun(tmp_path / "run")
    run.write("config.json", json.dumps({key: value for key, value in run.config().items() if key != "min_cases"}))
    with pytest.raises(BadInput, match="min_cases missing or unknown"):
        trainer.train(Run(run.folder), 1)


def test_saved_features_are_those_of_the_learner(tmp_path):
    learner, _ = taught("connect_four", 1, lambda state, action: 1 + action, lambda *_: 0.0, each=4)
    learner.export(tmp_path / "f.safetensors", "by hand")
    save_features(tmp_path / "g.safetensors", games.load("connect_four"), learner.shared(), "by hand")
    assert (tmp_path / "f.safetensors").read_bytes() == (tmp_path / "g.safetensors").read_bytes()
