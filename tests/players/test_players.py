"""Players: their moves depend on the view and the seed alone; bad names and options are refused."""

import numpy as np
import pytest

from kibitz import games
from kibitz.core.names import BadInput
from kibitz.games import CHANCE, OVER
from kibitz.nets.mlp import new_layers, save_layers, sizes_of
from kibitz.play import players
from kibitz.solve.cfr import Cfr
from kibitz.solve.mccfr import OutcomeSampling

from ..search.dare import Dare

NAMES = [
    "kuhn",
    "leduc",
    "leduc:distinct_suits=yes",
    "goofspiel:5",
    "goofspiel:5,open_bids=yes",
    "liars_dice:dice=2,faces=3",
]


@pytest.fixture(scope="module")
def strategies(tmp_path_factory):
    """A strategy file for each game."""
    folder = tmp_path_factory.mktemp("strategies")
    for i, name in enumerate(NAMES):
        solver = OutcomeSampling(games.load(name), 1)
        solver.run(300)
        solver.strategy().save(folder / f"{i}.safetensors")
    return {name: folder / f"{i}.safetensors" for i, name in enumerate(NAMES)}


@pytest.fixture(scope="module")
def networks(tmp_path_factory):
    """An untrained network for each game."""
    folder = tmp_path_factory.mktemp("networks")
    for i, name in enumerate(NAMES):
        game = games.load(name)
        layers = new_layers(sizes_of(game, [16]), np.random.default_rng(i))
        save_layers(folder / f"{i}.safetensors", game, layers)
    return {name: folder / f"{i}.safetensors" for i, name in enumerate(NAMES)}


def positions_met(game, count, seed):
    """Positions at a seat's turn, from random games."""
    rng, generator = np.array([seed, seed], np.uint64), np.random.default_rng(seed)
    while count:
        state = games.positions(game)[0]
        while game.turn(state) != OVER and count:
            if game.turn(state) != CHANCE and generator.random() < 0.4:
                yield np.array([state], game.state)[0]
                count -= 1
            game.play(state, game.sample_action(state, rng))


def look(game, state, seat):
    view = np.frombuffer(bytearray(b"\xa5" * game.state.itemsize), game.state)[0]  # gaps hold anything
    game.look(state, seat, view)
    return view


@pytest.mark.parametrize(
    "name",
    [name if "leduc" in name or name == "kuhn" else pytest.param(name, marks=pytest.mark.heavy) for name in NAMES],
)
def test_two_positions_with_the_same_view_get_the_same_move(name, strategies, networks):
    game = games.load(name)
    texts = ["random", "oos:60", "ismcts:60", "ensemble-uct:3x20,exact=0", "single-uct:60"]
    texts += ["ensemble-uct:3x20"] if name == "kuhn" else []
    texts += ["oos:30,target=ist", f"strategy:{strategies[name]}"]
    texts += [f"net:{networks[name]}", f"oos:30,net={networks[name]}"]
    pairs = {text: (players.make(text), players.make(text)) for text in texts}
    notes, rng = np.zeros(game.facts.notes), np.array([3, 4], np.uint64)
    different = 0
    for seed, truth in enumerate(positions_met(game, 120, seed=7)):
        seat = game.turn(truth)
        other, view = games.positions(game)[0], look(game, truth, seat)
        game.prepare(view, seat, notes)
        assert game.determinize(view, seat, notes, rng, other)
        different += any(not np.array_equal(truth[field], other[field]) for field in truth.dtype.names)
        for one, two in pairs.values():
            moves = []
            for player, state in ((one, truth), (two, other)):
                player.begin(game, seat, seed)
                moves.append(player.move(look(game, state, seat)))
            assert moves[0] == moves[1]
            assert moves[0] in games.legal_actions(game, truth)
            assert np.array_equal(one.advice.policy, two.advice.policy)
    assert different > 30  # so that the test means something


@pytest.mark.parametrize("text", ["random", "oos:50", "ismcts:50", "ensemble-uct:3x20,exact=0", "single-uct:50"])
def test_the_seed_alone_decides_the_moves(text):
    game = games.load("goofspiel:5")
    first, second = players.make(text), players.make(text)

    def moves(player, seed):
        found, state = [], games.positions(game)[0]
        player.begin(game, 0, seed)
        while game.turn(state) != OVER:
            if game.turn(state) == 0:
                found.append(player.move(look(game, state, 0)))
                game.play(state, found[-1])
            else:
                game.play(state, games.legal_actions(game, state)[0])
        return found

    played = [moves(first, seed) for seed in range(8)]
    assert played == [moves(second, seed) for seed in range(8)]
    assert len(set(map(tuple, played))) > 1


def test_a_strategy_player_plays_its_file(tmp_path):
    game = games.load("leduc")
    solver = Cfr(game, "cfr+")
    solver.run(100)
    solver.strategy().save(tmp_path / "strategy.safetensors")
    player = players.make(f"strategy:{tmp_path}")
    for state in positions_met(game, 20, seed=2):
        seat = game.turn(state)
        player.begin(game, seat, 1)
        player.move(look(game, state, seat))
        n = len(games.legal_actions(game, state))
        assert np.array_equal(player.advice.policy, solver.strategy().at(int(game.infoset(state, seat)), n))


def test_a_human_is_shown_the_view_and_asked_until_the_move_is_legal(monkeypatch, capsys):
    game = games.load("leduc")
    notes, rng = np.zeros(1), np.array([3, 4], np.uint64)
    human = players.make_for("human", game)
    for truth in positions_met(game, 30, seed=5):
        seat, other = game.turn(truth), games.positions(game)[0]
        assert game.determinize(look(game, truth, seat), seat, notes, rng, other)
        shown = []
        for state in (truth, other):
            answers = iter(["dance", game.action_to_string(truth, games.legal_actions(game, truth)[-1])])
            monkeypatch.setattr("builtins.input", lambda prompt, answers=answers: print(prompt) or next(answers))
            human.begin(game, seat, 1)
            assert human.move(look(game, state, seat)) == games.legal_actions(game, truth)[-1]
            shown.append(capsys.readouterr().out)
        assert shown[0] == shown[1]
        assert "'dance' is no move here" in shown[0]
    monkeypatch.setattr("builtins.input", lambda prompt: (_ for _ in ()).throw(EOFError))
    with pytest.raises(BadInput, match="the human has left the game"):
        human.move(look(game, truth, game.turn(truth)))


BAD = {
    "rendom": "no player is called 'rendom': did you mean 'random'?",
    "oos": "no budget is given: name simulations, such as oos:10000, or seconds",
    "ismcts": "no budget is given",
    "oos:-5": "oos: simulations=-5 is out of range, it should be a whole number, at least 0",
    "oos:many": "oos: simulations=many should be a whole number, at least 0",
    "oos:100,delta=1": "oos: delta=1.0 is out of range, it should be a number, at least 0 and below 1",
    "oos:100,epsilon=0": "oos: epsilon=0.0 is out of range, it should be a number, above 0 and at most 1",
    "oos:100,gamma=nan": "oos: gamma=nan is out of range, it should be a number, at least 0 and below 1",
    "oos:100,target=left": "oos: target=left is out of range, it should be auto or pst or ist",
    "oos:100,target=pst": "oos:100,target=pst can't play goofspiel: target=pst is not possible in goofspiel",
    "oos:9999999999": "may need",
    "ismcts:10,speed=3": "no parameter is called 'speed'",
    "single-uct": "no budget is given",
    "single-uct:-1": "simulations=-1 is out of range, it should be a whole number, at least 0",
    "single-uct:10,decide=last": "decide=last is out of range, it should be mean or visits",
    "ensemble-uct:2x9,exact=-1": "exact=-1 is out of range, it should be a whole number, at least 0",
    "ensemble-uct:2x9,announcements=never": "announcements=never is out of range, it should be distribution or tree",
    "ensemble-uct:2x9,playouts=good": "playouts=good is out of range, it should be random or heuristic",
    "ensemble-uct:2x9,worlds=1": "worlds=1 is out of range, it should be a whole number, at least 2",
    "heuristic": "heuristic can't play goofspiel: goofspiel has no heuristic",
    "strategy": "strategy: file is missing",
    "strategy:nowhere": "no strategy file 'nowhere'",
    "resolve:nowhere": "no strategy file 'nowhere'",
    "resolve:nowhere,device=gpu": "no device is called 'gpu'",
    "resolve:nowhere,streets=3": "streets=3 is out of range, it should be a whole number, at least 1 and at most 2",
}


@pytest.mark.parametrize("text", BAD)
def test_a_bad_player_is_refused_with_the_reason(text):
    with pytest.raises(BadInput) as error:
        players.make_for(text, games.load("goofspiel"))
    assert BAD[text] in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("text", ["uct:200", "puct:200", "alphabeta:4", "uct:200,fpu=parent,prove=no,reuse=no"])
def test_tree_searches_move_by_their_seed_and_refuse_games_with_hidden_information(text):
    game = games.load("connect_four")
    moves = []
    for _ in range(2):
        player = players.make_for(text, game)
        state, played = games.positions(game)[0], []
        player.begin(game, 0, 5)
        while game.turn(state) != OVER:
            seat = game.turn(state)
            action = player.move(state) if seat == 0 else games.legal_actions(game, state)[0]
            assert action in games.legal_actions(game, state)
            played.append(int(action))
            game.play(state, action)
        moves.append(played)
    assert moves[0] == moves[1]
    assert game.payoff(state, 0) == 1  # whoever always plays the first column loses
    with pytest.raises(BadInput, match="hidden information"):
        players.make_for(text, games.load("leduc"))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("uct", "no budget is given"),
        ("uct:10,fpu=none", "fpu=none"),
        ("uct:10,plies=-1", "plies=-1 is out of range, it should be a whole number, at least 0"),
        ("puct:10,megabytes=-5", "megabytes=-5.0 is out of range, it should be a number, at least 0"),
        ("alphabeta:0", "depth=0 is out of range"),
    ],
)
def test_bad_options_of_tree_searches_are_refused(text, why):
    with pytest.raises(BadInput, match=why):
        players.make_for(text, games.load("connect_four"))


def test_a_player_distinguishes_games_that_are_equal_as_tuples():
    othello, yavalath = games.load("othello:4"), games.load("yavalath:4")
    assert othello == yavalath
    player = players.make("uct:10")
    for game in (othello, yavalath, othello):
        player.begin(game, 0, 1)
        assert player.search.game.name == game.name
        assert player.move(games.positions(game)[0]) in games.legal_actions(game, games.positions(game)[0])


def test_the_preset_thesis_has_the_constants_of_the_thesis():
    game = games.load("kuhn")
    ensemble, single = players.make_for("ensemble-uct:thesis", game), players.make_for("single-uct:thesis", game)
    assert (ensemble.search.determinizations, ensemble.simulations, single.simulations) == (10, 10_000, 10_000)
    low, high = games.load("doppelkopf:thesis").facts.rewards
    for player in (ensemble, single):  # C = 16,000 where rewards are 500 times as high
        assert player.options["c"] * (high - low) / 2 * 500 == pytest.approx(16_000)
        assert player.options["announcements"] == "tree"


def test_the_heuristic_player_plays_the_heuristic_of_the_game():
    game = Dare()
    player = players.make_for("heuristic", game)
    for state in positions_met(game, 50, seed=1):
        player.begin(game, game.turn(state), 1)
        last = bool(state.step == 5)
        assert player.move(look(game, state, game.turn(state))) == last
        assert player.advice.policy.tolist() == [not last, last]


@pytest.mark.heavy
@pytest.mark.parametrize("name", ["doppelkopf", "doppelkopf:thesis"])
def test_players_of_doppelkopf_depend_on_the_view_alone(name):
    game = games.load(name)
    texts = [
        "ensemble-uct:3x20",
        "ensemble-uct:3x20,announcements=tree,playouts=heuristic",
        "single-uct:60",
        "heuristic",
    ]
    pairs = {text: (players.make_for(text, game), players.make_for(text, game)) for text in texts}
    notes, rng, different = np.zeros(game.facts.notes), np.array([3, 4], np.uint64), 0
    for seed, truth in enumerate(positions_met(game, 300, seed=7)):
        seat = game.turn(truth)
        other, view = games.positions(game)[0], look(game, truth, seat)
        game.prepare(view, seat, notes)
        assert game.determinize(view, seat, notes, rng, other)
        different += not np.array_equal(truth.hands, other.hands)
        for one, two in pairs.values():
            for player, state in ((one, truth), (two, other)):
                player.begin(game, seat, seed)
                player.move(look(game, state, seat))
            assert np.array_equal(one.advice.policy, two.advice.policy)
            assert np.array_equal(one.advice.value, two.advice.value, equal_nan=True)
            assert one.advice.best in games.legal_actions(game, truth)
    assert different > 200
