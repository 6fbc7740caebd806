"""Card networks of Doppelkopf: data, exact gradients, exact resumption, files, players, expert iteration."""

import numpy as np
import pytest
import safetensors.numpy
import torch

from kibitz.core.names import BadInput
from kibitz.core.progress import Reporter
from kibitz.core.runs import Run
from kibitz.doppelkopf.learn.card_data import all_views, sample_rows
from kibitz.doppelkopf.learn.card_network import (
    Beliefs,
    PerSeatPolicy,
    card_policy,
    holder_weights,
    read_card_network,
    save_card_network,
)
from kibitz.doppelkopf.learn.card_training import (
    DealLoss,
    expected_regret,
    log_arrangements,
    new_card_network,
)
from kibitz.doppelkopf.learn.cards import CardLearner
from kibitz.doppelkopf.learn.exit_rollouts import ExitRolloutsConfig, self_play
from kibitz.doppelkopf.learn.predictors import CardPredictor, most_likely, next_card_probs
from kibitz.doppelkopf.learn.recorded_games import read_games
from kibitz.doppelkopf.rules.cards import KINDS
from kibitz.doppelkopf.rules.encoding import OPEN_SIZE, SIZE
from kibitz.doppelkopf.rules.next_card import possible_next_cards
from kibitz.doppelkopf.rules.state import is_re
from kibitz.games import OVER, full_name, legal_actions, load, positions, view_of
from kibitz.jit import generators
from kibitz.nets.mlp import action_probs, logits
from kibitz.play.players import make, make_for
from kibitz.search.policies import weighed
from kibitz.train import trainer
from kibitz.train.descriptions import describe
from kibitz.train.duplicate_deals import evaluate_policy

from ..contract import Killed, outcome
from .records import RULES, records, write

TINY = {
    "iterations": 3, "belief_hidden": "16", "policy_hidden": "8", "value_hidden": "8", "batch_size": 5, "positions": 6,
    "validation": 0.3, "evaluation_games": 5, "device": "cpu", "seed": 3,
}  # fmt: skip
GAME = load(RULES)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return write(tmp_path_factory.mktemp("data") / "games.jsonl")


@pytest.fixture(scope="module")
def games(data):
    return read_games(data, RULES)


@pytest.fixture(scope="module")
def rows(games):
    return sample_rows(GAME, games.actions, games.lengths, 10, np.random.default_rng(1))


def begun(folder, data, **values):
    config = trainer.configured("cards", RULES, None, TINY | {"data": str(data)} | values)
    return trainer.new_run(folder, "cards", config)


def trained(folder, data, **values):
    run = begun(folder, data, **values)
    trainer.train(run)
    return run


# ---------------------------------------------------------------- data


def test_rows_are_views_of_recorded_positions(rows, games):
    at, others = 0, 0
    for record in records():
        wanted = {int(ply) for ply in rows.plies[at : at + 10]}
        assert len(wanted) == 10
        end = record.verify()
        for state, action in record.replay():
            turn = GAME.turn(state)
            if action is None or turn < 0 or GAME.is_announcement(state) or int(state.count) not in wanted:
                continue
            seat = int(rows.seats[at])
            view = view_of(GAME, state, seat)
            assert all(np.array_equal(rows.views[at][name], view[name]) for name in GAME.state.names)
            assert rows.plies[at] == state.count
            encoding = np.zeros(GAME.facts.encoding, np.float32)
            GAME.observe(view, seat, encoding)
            assert np.array_equal(rows.encodings[at], encoding)
            assert rows.cards[at] == action
            bits = sum(1 << legal for legal in legal_actions(GAME, state))
            assert rows.legal[at] == bits
            assert rows.possible[at] >> action & 1
            if seat == turn:
                assert rows.possible[at] == bits
            others += seat != turn
            np.testing.assert_allclose(rows.rewards[at], [GAME.reward(end, seat), GAME.reward(end, turn)], rtol=1e-6)
            for j in range(3):
                hand = int(state.hands[seat + 1 + j & 3])
                assert rows.hands[at, :, j].tolist() == [hand >> 2 * kind & 3 for kind in range(KINDS)]
            at += 1
    assert at == len(rows.cards)
    assert 0.3 < others / at < 0.7


def test_all_views_are_those_of_the_seats(games):
    encodings, views = all_views(GAME, games.actions[:4], games.lengths[:4])
    for i, record in enumerate(records()[:4]):
        for state, action in record.replay():
            if action is None or GAME.turn(state) < 0 or GAME.is_announcement(state):
                continue
            for seat in range(4):
                encoding, view = np.zeros(GAME.facts.encoding, np.float32), view_of(GAME, state, seat)
                GAME.observe(view, seat, encoding)
                assert np.array_equal(encodings[i, seat, state.count], encoding)
                assert views[i, seat, state.count] == view


def test_predicted_cards_are_possible_and_own_cards_always_legal(games, file):
    possible = possible_next_cards(GAME, games.actions, games.lengths, 0, 1).possible
    found = most_likely(CardPredictor(file).predict(games), possible)
    assert (possible >> found.cards & 1).all()
    assert found.legal.all()
    assert (found.cards[games.own] == games.played[:, None].repeat(4, 1)[games.own]).any()


def test_a_prediction_is_the_mean_policy_over_worlds_of_the_beliefs(games, file):
    network, few = read_card_network(file)[0], games.take(np.arange(1))
    probs = next_card_probs(GAME, network, few.actions, few.lengths, 2000, seed=1)
    assert np.allclose(probs.sum(axis=-1), 1)
    _, views = all_views(GAME, few.actions, few.lengths)
    beliefs, rng = Beliefs(network), generators(2, 1)[0]
    for card in (1, 22, 40):
        for seat in range(4):
            view = views[0, seat, card]
            own = seat == GAME.turn(view)
            worlds = view.reshape(1) if own else beliefs(GAME, view, seat, 2000, rng)
            wanted = np.zeros(KINDS)
            for world, each in zip(worlds, action_probs(GAME, network.policy, worlds), strict=True):
                legal = legal_actions(GAME, world)
                wanted[legal] += each[: len(legal)] / len(worlds)
            assert np.allclose(probs[0, seat, card], wanted, atol=1e-5 if own else 0.05)


# ---------------------------------------------------------------- training


def test_the_gradient_of_the_deal_loss_is_exact(rows):
    few = rows.__class__(**{name: each[:6] for name, each in vars(rows).items()})
    log_weights = torch.from_numpy(np.random.default_rng(1).normal(size=(6, 3 * KINDS)).astype(np.float32))
    log_weights.requires_grad_()
    DealLoss.apply(log_weights, GAME, few, 6).backward()
    step, generator = 1e-2, np.random.default_rng(2)
    for _ in range(30):
        i, k = generator.integers(6), generator.integers(3 * KINDS)
        moved = []
        for sign in (1, -1):
            other = log_weights.detach().clone()
            other[i, k] += sign * step
            moved.append(float(DealLoss.apply(other.double(), GAME, few, 6)))
        assert np.isclose((moved[0] - moved[1]) / (2 * step), float(log_weights.grad[i, k]), atol=1e-4)


def test_with_equal_weights_the_deal_loss_is_the_log_number_of_deals(rows):
    from kibitz.doppelkopf.rules.deals import NOTES, WAYS, count_deals

    few = rows.__class__(**{name: each[3:4] for name, each in vars(rows).items()})
    notes = np.zeros(NOTES)
    count_deals(GAME, few.views[0], int(few.seats[0]), notes)
    found = float(DealLoss.apply(torch.zeros(1, 3 * KINDS, dtype=torch.float64), GAME, few, 1))
    assert np.isclose(found, np.log(notes[WAYS]) - log_arrangements(few.hands)[0], rtol=1e-9)


def test_it_overfits_a_few_games(tmp_path):
    data = write(tmp_path / "games.jsonl", records()[:6])
    sizes = {f"{name}_hidden": "64" for name in ("belief", "policy", "value")}
    run = trained(tmp_path / "run", data, iterations=250, learning_rate=0.01, positions=24, **sizes)
    first, last = run.read_lines()[1], run.read_lines()[-1]
    assert last["loss"] < 0.4 * first["loss"]


class Kill(Reporter):
    """Raises `Killed` when the progress reaches a number."""

    def __init__(self, last):
        self.last = last

    def progress(self, done, total=None, note=""):
        if done == self.last:
            raise Killed


def test_a_run_killed_during_an_epoch_resumes_exactly(tmp_path, data, monkeypatch):
    (tmp_path / "whole").mkdir()
    whole = outcome(trained(tmp_path / "whole" / "run", data))
    monkeypatch.setattr(trainer.Training, "save_seconds", 0.0)
    monkeypatch.setattr(trainer.Training, "save_share", 0.0)
    run = begun(tmp_path / "run", data)
    for last in (1, 5, 8):
        with pytest.raises(Killed):
            trainer.train(Run(run.folder), report=Kill(last))
    trainer.train(Run(run.folder))
    assert outcome(run) == whole


def test_a_network_with_nonfinite_loss_is_not_kept(tmp_path, data):
    run = begun(tmp_path / "run", data, learning_rate=0.999999, iterations=40)
    learner = CardLearner(trainer.config_of(run), GAME)
    for part in learner.module.parameters():
        part.data.fill_(float("nan"))
    with pytest.raises(BadInput, match=r"the network's loss is nan: learning_rate=0\.999999 is too high"):
        learner.evaluate()


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"data": ""}, "--data is missing"),
        ({"learning_rate": 0.0}, "learning_rate=0.0 is out of range, it should be a number"),
        ({"validation": 1.5}, "validation=1.5 is out of range, it should be a number"),
        ({"belief_hidden": "12-x"}, "belief_hidden=12-x should be sizes of layers"),
        ({"positions": 49}, "positions=49 is out of range"),
    ],
)
def test_bad_configurations_are_refused(data, values, why):
    with pytest.raises(BadInput, match=why):
        trainer.configured("cards", RULES, None, TINY | {"data": str(data)} | values)


@pytest.mark.parametrize("method", ["cards", "exit-rollouts"])
def test_other_games_are_refused(data, method):
    with pytest.raises(BadInput, match="cards is for doppelkopf with nines"):
        trainer.configured(method, "kuhn", None, {"data": str(data)} if method == "cards" else {"start": "x"})


# ---------------------------------------------------------------- files, policies, players


@pytest.fixture
def network():
    return new_card_network([(16,), (16, 8), (16, 8)], 1)


@pytest.fixture
def file(tmp_path, network):
    path = tmp_path / "network.safetensors"
    save_card_network(path, full_name(GAME), network, "a test")
    return path


def test_a_network_is_described(file):
    found = describe(file)
    assert (found.game, found.made, found.player) == (full_name(GAME), "a test", "doko")
    assert found.what == f"belief {SIZE}-16-97, policy {SIZE}-16-8-24, value {OPEN_SIZE}-16-8-1"


def test_damaged_and_foreign_networks_are_refused(file, tmp_path):
    whole = file.read_bytes()
    tensors = safetensors.numpy.load_file(file)
    with pytest.raises(BadInput, match="no card network file"):
        read_card_network(tmp_path / "nowhere")
    file.write_bytes(whole[:-9])
    with pytest.raises(BadInput, match="damaged or foreign"):
        read_card_network(file)
    safetensors.numpy.save_file(tensors, file)
    with pytest.raises(BadInput, match="is no card network of Kibitz"):
        read_card_network(file)
    meta = {"about": '{"format": "kibitz cards 1", "game": "x", "made": "y"}'}
    safetensors.numpy.save_file({key: each for key, each in tensors.items() if key != "value.biases.0"}, file, meta)
    with pytest.raises(BadInput, match=r"value\.biases\.0 is missing"):
        read_card_network(file)
    for key, spoilt in (
        ("belief.weights.0", np.full_like(tensors["belief.weights.0"], np.nan)),
        ("policy.weights.1", np.zeros((15, 8), np.float32)),
        ("value.biases.2", np.zeros(2, np.float32)),
    ):
        safetensors.numpy.save_file(tensors | {key: spoilt}, file, meta)
        with pytest.raises(
            BadInput, match=r"damaged or foreign: .*(has the shape|has 705 inputs and 2 outputs|aren't finite)"
        ):
            read_card_network(file)


def test_half_precision_is_read_as_float32(file, network, tmp_path):
    half = tmp_path / "half.safetensors"
    save_card_network(half, full_name(GAME), network, "a test", np.float16)
    assert half.stat().st_size < 0.6 * file.stat().st_size
    for whole, short in zip(read_card_network(file)[0], read_card_network(half)[0], strict=True):
        for one, other in zip(whole, short, strict=True):
            for a, b in zip(one, other, strict=True):
                assert b.dtype == np.float32
                np.testing.assert_allclose(a, b, atol=1e-3)


@pytest.mark.parametrize("player", ["cards", "doko"])
def test_networks_trained_without_solos_refuse_games_with_solos(player, file):
    assert make_for(f"{player}:{file}", GAME)
    with pytest.raises(BadInput, match="knows no solos, and doppelkopf has them"):
        make_for(f"{player}:{file}", load("doppelkopf"))


def mid_game(seed=5, cards=22):
    rng, state = generators(seed, 1)[0], positions(GAME)[0]
    while state.count < cards:
        GAME.play(state, GAME.sample_action(state, rng))
    return state


def test_the_compiled_policy_is_the_softmax_of_the_policy_network(network):
    state = mid_game()
    seat, legal = GAME.turn(state), legal_actions(GAME, state)
    encoding = np.zeros(GAME.facts.encoding, np.float32)
    GAME.observe(state, seat, encoding)
    wanted = np.exp(logits(network.policy, encoding)[legal].astype(float))
    wanted /= wanted.sum()
    np.testing.assert_allclose(weighed(GAME, card_policy(network), state, len(legal)), wanted, atol=1e-6)


def test_others_play_by_their_own_network(network):
    """In a whole game, each card is that of the network of its seat."""
    own, others = card_policy(network), card_policy(new_card_network([(16,), (16, 8), (16, 8)], 2))
    per_seat, state, rng = PerSeatPolicy(own, others, np.array([2])), mid_game(cards=1), generators(1, 1)[0]
    room, differ = (np.zeros(40, np.int64), np.zeros(40)), 0
    while (seat := GAME.turn(state)) != OVER:
        mine, theirs = (policy.step(GAME, state, *room, rng) for policy in (own, others))
        card = per_seat.step(GAME, state, *room, rng)
        assert card == (mine if seat == 2 else theirs)
        legal = len(legal_actions(GAME, state))
        probs = weighed(GAME, own if seat == 2 else others, state, legal)
        np.testing.assert_array_equal(weighed(GAME, per_seat, state, legal), probs)
        differ += mine != theirs
        GAME.play(state, card)
    assert differ > 10


def test_values_of_the_parties_sum_to_zero(network):
    policy, state = card_policy(network), mid_game()
    rewards = np.zeros(4)
    policy.evaluate(GAME, state, 1, np.zeros(40, np.int64), np.zeros(40), generators(1, 1)[0], rewards)
    parties = [is_re(state, seat) for seat in range(4)]
    assert abs(rewards.sum()) < 1e-9
    assert rewards.any()
    assert len({(party, round(reward, 9)) for party, reward in zip(parties, rewards, strict=True)}) == 2


def test_worlds_have_the_probabilities_of_the_belief_network(network):
    """Compare the mean number of each card in each hand with its exact expectation."""
    from kibitz.doppelkopf.rules.beliefs import ROOM, expected_counts

    state = mid_game(cards=33)
    seat = GAME.turn(state)
    view = view_of(GAME, state, seat)
    worlds = Beliefs(network)(GAME, view, seat, 20_000, generators(3, 1)[0])
    drawn = [[((worlds["hands"][:, seat + 1 + j & 3] >> 2 * kind) & 3).mean() for j in range(3)] for kind in range(24)]
    encoding = np.zeros(GAME.facts.encoding, np.float32)
    GAME.observe(view, seat, encoding)
    views, counts, logs = positions(GAME), np.zeros((1, KINDS, 3)), np.zeros(1)
    views[0] = view
    weights = holder_weights(100 * logits(network.belief, encoding)[None, 25:])
    sharp = network._replace(belief=[*network.belief[:-1], tuple(100 * each for each in network.belief[-1])])
    expected_counts(GAME, views, np.array([seat]), weights, np.zeros(ROOM), counts, logs)
    assert np.abs(np.array(drawn) - counts[0]).max() > 0.05  # the weights matter
    worlds = Beliefs(sharp)(GAME, view, seat, 20_000, generators(3, 1)[0])
    drawn = [[((worlds["hands"][:, seat + 1 + j & 3] >> 2 * kind) & 3).mean() for j in range(3)] for kind in range(24)]
    np.testing.assert_allclose(drawn, counts[0], atol=0.02)
    assert (worlds["hands"][:, seat] == state.hands[seat]).all()


@pytest.mark.parametrize(
    "options",
    ["", ",determinization=uniform", ",value=network", ",exact=2000", ",tree_simulations=5", ",others={file}"],
)
def test_two_states_with_the_same_view_get_the_same_card(file, options):
    notes, rng = np.zeros(GAME.facts.notes), generators(4, 1)[0]
    for cards in (6, 38):
        truth = mid_game(8, cards)
        seat, other = GAME.turn(truth), positions(GAME)[0]
        view = view_of(GAME, truth, seat)
        GAME.prepare(view, seat, notes)
        assert GAME.determinize(view, seat, notes, rng, other)
        assert other.hands.tolist() != truth.hands.tolist()
        moves = []
        for state in (truth, other):
            player = make(f"doko:{file},simulations=6{options.format(file=file)}")
            player.begin(GAME, seat, 1)
            moves.append(player.move(view_of(GAME, state, seat)))
        assert moves[0] == moves[1]
        assert moves[0] in legal_actions(GAME, truth)


@pytest.mark.parametrize("part", ["belief", "policy"])
def test_a_network_plays_without_search(file, network, part):
    player, state = make(f"cards:{file},part={part}"), mid_game()
    seat, legal = GAME.turn(state), legal_actions(GAME, state)
    player.begin(GAME, seat, 1)
    encoding = np.zeros(GAME.facts.encoding, np.float32)
    GAME.observe(state, seat, encoding)
    assert player.move(view_of(GAME, state, seat)) == legal[np.argmax(logits(getattr(network, part), encoding)[legal])]


# ---------------------------------------------------------------- expert iteration

SMALL = {"iterations": 3, "games": 3, "plies": 1, "steps": 2, "batch_size": 4, "keep_every": 1}


def test_iteration_resumes_exactly_and_keeps_its_networks(tmp_path, file, monkeypatch):
    config = trainer.configured(
        "exit-rollouts", RULES, None, SMALL | {"start": str(file), "capacity": 7, "device": "cpu"}
    )
    (tmp_path / "whole").mkdir()
    whole = trainer.new_run(tmp_path / "whole" / "run", "exit-rollouts", config)
    trainer.train(whole, processes=1)
    monkeypatch.setattr(trainer.Training, "save_seconds", 0.0)
    monkeypatch.setattr(trainer.Training, "save_share", 0.0)
    run = trainer.new_run(tmp_path / "run", "exit-rollouts", config)
    with pytest.raises(Killed):
        trainer.train(run, processes=1, report=Kill(5))
    trainer.train(Run(run.folder), processes=1)
    assert run.path("metrics.jsonl").read_text() == whole.path("metrics.jsonl").read_text()
    networks = [run.path(f"networks/{i:06d}.safetensors").read_bytes() for i in (1, 2, 3)]
    assert networks[-1] == whole.path("networks/000003.safetensors").read_bytes()
    assert len({file.read_bytes(), *networks}) == 4
    [folder] = run.path("checkpoints").iterdir()
    kept = safetensors.numpy.load_file(folder / "apprentice.safetensors")
    assert len(kept["actions"]) == len(kept["action_values"]) == 7


def test_the_expert_gives_the_value_of_each_legal_card(network):
    """Near the end nobody has a choice after a card, so its value is the reward of the only continuation."""
    config = ExitRolloutsConfig(game=RULES, plies=48)
    [(_, rows)] = self_play(config)((5,), network)
    known = ~np.isnan(rows["action_values"][0])
    record = [int(action) for action in rows["actions"][0] if action != 255]
    state, seen = positions(GAME)[0], 0
    end = positions(GAME)[0]
    for action in record:
        GAME.play(end, action)
    assert GAME.turn(end) == OVER
    for action in record:
        turn, count = GAME.turn(state), int(state.count)
        if turn >= 0 and not GAME.is_announcement(state):
            legal = legal_actions(GAME, state)
            assert np.flatnonzero(known[count]).tolist() == (legal if len(legal) > 1 else [])
            if len(legal) > 1 and all(bin(int(hand)).count("1") <= 2 for hand in state.hands):
                after = positions(GAME)
                for card in legal:  # with two cards each, nobody has a choice afterwards
                    after[0] = state
                    GAME.play(after[0], card)
                    while GAME.turn(after[0]) != OVER and len(legal_actions(GAME, after[0])) == 1:
                        GAME.play(after[0], legal_actions(GAME, after[0])[0])
                    if GAME.turn(after[0]) == OVER:
                        found, reward = float(rows["action_values"][0, count, card]), GAME.reward(after[0], turn)
                        assert abs(found - reward) <= 1.0001 * 2**-11 * abs(reward)  # kept in half precision
                        seen += 1
        GAME.play(state, action)
    assert seen


def test_only_one_seat_learns_where_the_others_are_fixed(network, file):
    config = ExitRolloutsConfig(game=RULES, plies=48, others=str(file))
    for number in range(4, 8):
        [(_, rows)] = self_play(config)((number,), network)
        known = ~np.isnan(rows["action_values"][0])
        state, seen = positions(GAME)[0], 0
        for action in [int(action) for action in rows["actions"][0] if action != 255]:
            turn, count = GAME.turn(state), int(state.count)
            if turn >= 0 and not GAME.is_announcement(state):
                legal = legal_actions(GAME, state)
                learns = turn == number % 4 and len(legal) > 1
                assert np.flatnonzero(known[count]).tolist() == (legal if learns else [])
                seen += learns
            GAME.play(state, action)
        assert seen


def test_expected_regret_is_least_where_the_best_card_is_certain():
    values, legal = torch.tensor([[1.0, 3.0, torch.nan]]), torch.tensor([[True, True, False]])
    scores = torch.zeros(1, 3, requires_grad=True)
    found = expected_regret(scores, values, legal, 0.0)
    found.sum().backward()
    assert found.item() == 1.0
    np.testing.assert_allclose(scores.grad[0], [0.5, -0.5, 0.0], atol=1e-6)
    assert expected_regret(torch.tensor([[-50.0, 0.0, 9.0]]), values, legal, 0.0).item() < 1e-6
    assert expected_regret(torch.zeros(1, 3), values, legal, 1.0).item() == pytest.approx(1 - np.log(2))
    assert expected_regret(torch.zeros(1, 3), torch.full((1, 3), torch.nan), legal, 1.0).item() == 0.0


def test_evaluation_is_deterministic_and_an_untrained_network_loses(network):
    one, again = (evaluate_policy(GAME, card_policy(network), 300, seed) for seed in (1, 1))
    assert one == again
    assert one.mean < -3 * one.error < 0
    assert evaluate_policy(GAME, card_policy(network), 300, 2) != one


def test_a_policy_against_itself_gets_nothing(network):
    """The same policy on all four seats."""
    assert evaluate_policy(GAME, card_policy(network), 50, 1, card_policy(network)).mean == pytest.approx(0, abs=1e-9)
    other = card_policy(new_card_network([(16,), (16, 8), (16, 8)], 2))
    assert evaluate_policy(GAME, card_policy(network), 50, 1, other).mean != 0


def test_models_of_others_trained_without_solos_refuse_games_with_solos(file):
    with pytest.raises(BadInput, match="knows no solos"):
        make_for(f"doko:models/doppelkopf,others={file}", load("doppelkopf"))


def test_iteration_starts_from_networks_of_the_same_game(file):
    with pytest.raises(BadInput, match="--start is missing"):
        trainer.configured("exit-rollouts", RULES, None, SMALL)
    with pytest.raises(BadInput, match=r"is for doppelkopf:solos=False.*, not doppelkopf"):
        trainer.configured("exit-rollouts", "doppelkopf", None, SMALL | {"start": str(file)})
    with pytest.raises(BadInput, match="no card network file 'nowhere'"):
        trainer.configured("exit-rollouts", RULES, None, SMALL | {"start": str(file), "others": "nowhere"})
