"""UCT+LSTM: priors in the tree are the LSTM's predictions after the line so far, and its moves are legal."""

import numpy as np
import pytest

from kibitz.core.names import BadInput
from kibitz.doppelkopf.learn.lstm import BatchedLstm, LstmReader, line_so_far, read_lstm, save_lstm
from kibitz.doppelkopf.learn.lstm_training import as_network, new_lstm
from kibitz.games import OVER, legal_actions, load, positions, view_of
from kibitz.jit import generators
from kibitz.play.players import make, make_for
from kibitz.search.batched_ensemble import BatchedEnsemble
from kibitz.search.determinization import sample_worlds

DEALS = 3


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("network") / "network.safetensors"
    network = as_network(new_lstm(2, 8, 1))
    save_lstm(
        path, "doppelkopf", network._replace(weights=network.weights * 9), "a test"
    )  # else predictions are nearly uniform
    return path


def after(game, cards):
    """A position with a choice of cards, after at least `cards` cards of a game by the heuristic."""
    state, rng = positions(game)[0], generators(1, 1)[0]
    while (
        state.count < cards
        or game.turn(state) < 0
        or game.is_announcement(state)
        or len(legal_actions(game, state)) == 1
    ):
        game.play(state, game.heuristic(state, rng))
    return state


def expanded(search, worlds):
    """Expanded nodes: position, actions and priors of the children."""
    todo = [(root, world) for root, world in enumerate(worlds)]
    while todo:
        node, state = todo.pop()
        first, count = int(search.tree.first[node]), int(search.tree.children[node])
        if count:
            yield state, search.tree.action[first : first + count], search.tree.prior[first : first + count]
        for child in range(first, first + count):
            if search.tree.visits[child]:
                following = np.array([state], search.game.state)[0]
                search.played.play(following, int(search.tree.action[child]))
                todo.append((child, following))


@pytest.mark.parametrize(
    ("name", "cards"), [("doppelkopf:thesis", 0), ("doppelkopf:thesis", 22), ("doppelkopf:calls=1", 6)]
)
def test_priors_are_the_predictions_after_the_line_of_the_searching_seat(file, name, cards):
    network, game = read_lstm(file)[0], load(name)
    state = after(game, cards)
    seat = game.turn(state)
    view = view_of(game, state, seat)
    search = BatchedEnsemble(game, BatchedLstm(network), determinizations=DEALS, exact=0, announcements="tree")
    worlds = sample_worlds(game, view, seat, DEALS, search.rng)
    search.grow(view, seat, worlds, np.full(DEALS, 150))
    kinds, lines = set(), set()
    for position, actions, priors in expanded(search, worlds):
        n = len(actions)
        wanted = np.full(n, 1 / n)
        if n > 1 and not game.is_announcement(position):
            line = line_so_far(position, seat)
            lines.add(tuple(line))
            said = LstmReader(network).next_logits(line)[actions].astype(float)
            wanted = np.exp(said - said.max()) / np.exp(said - said.max()).sum()
        np.testing.assert_allclose(priors, wanted, atol=1e-5)
        kinds.add((n > 1, bool(game.is_announcement(position))))
    assert len(lines) == search.asked >= search.batches > 0  # no line is read twice
    assert len(lines) > 5
    assert ((True, True) in kinds) == ("calls" in name)  # announcements have uniform priors


def test_moves_are_legal_and_deterministic(file):
    game = load("doppelkopf:thesis")
    player = make_for(f"uct-lstm:{DEALS}x40,net={file},exact=0", game)
    games = []
    for _ in range(2):
        state, rng = positions(game)[0], generators(3, 1)[0]
        player.begin(game, 2, 7)
        moves = []
        while game.turn(state) != OVER:
            mine = game.turn(state) == 2 and not game.is_announcement(state)
            action = player.move(view_of(game, state, 2)) if mine else game.sample_action(state, rng)
            assert action in legal_actions(game, state)
            moves.append(int(action))
            game.play(state, action)
        games.append(moves)
    assert games[0] == games[1]
    assert player.search.asked > 100


def test_a_missing_or_foreign_network_is_refused(file, tmp_path):
    with pytest.raises(BadInput, match="uct-lstm: net is missing"):
        make("uct-lstm:10x100")
    with pytest.raises(BadInput, match="budget=100 should be worlds x simulations"):
        make(f"uct-lstm:100,net={file}")
    with pytest.raises(BadInput, match="no next-card network file"):
        make(f"uct-lstm:10x100,net={tmp_path / 'nowhere'}")
    with pytest.raises(BadInput, match=r"can.t play kuhn.*next-card is for doppelkopf with nines"):
        make_for(f"uct-lstm:10x100,net={file}", load("kuhn"))
