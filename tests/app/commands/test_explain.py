"""`kibitz explain`: contributions add up to the player's policy, and the page is safe and complete."""

import html.parser
import json
import re
import shutil

import numpy as np
import pytest
import safetensors.numpy

from kibitz import games
from kibitz.app.ui.explain_page import data, page
from kibitz.core.names import BadInput
from kibitz.play.players import make_for
from kibitz.train.tspg import sample_games as sampling
from kibitz.train.tspg.contributions import MAX_CONTRIBUTIONS, Explainer
from kibitz.train.tspg.explain import BINS, explain
from kibitz.train.tspg.linear import STEEP
from kibitz.train.tspg.pattern_words import describe_pattern
from kibitz.train.tspg.patterns import images, parse, spelled, window
from kibitz.train.tspg.sample_games import evenly_spaced, parse_line, sample_games, select_positions
from kibitz.train.tspg.store import FORMAT, POLICIES, Features, save_features

from ...learn.tspg.oracle import OFF, activities, contents, positions_met, some_patterns

# Pieces placed on squares, on hexagons; pieces that move; a pass that has no cell.
GAMES = ["tic_tac_toe", "yavalath:4", "breakthrough", "othello:4"]
VOID = {"meta", "link", "input", "br", "img", "hr"}


def some_features(game, kind="faithful", counts=(90, 87), size=1.0, seed=1):
    states, generator = positions_met(game, 3, seed), np.random.default_rng(seed)
    patterns = tuple(
        tuple(some_patterns(game, kind, seat, states, count, seed, count // 2)) for seat, count in enumerate(counts)
    )
    vectors = {name: tuple(size * generator.normal(size=len(each)) for each in patterns) for name in POLICIES}
    return Features(kind, patterns, vectors)


def some_explanation(name, kind="faithful", count=3, moves=None, made="by hand", run="a run"):
    game = games.load(name)
    return explain(game, some_features(game, kind), run, "tspg", made, count, 1, moves)


@pytest.fixture
def run(tmp_path):
    """A run folder, as far as `explain` reads it."""
    game = games.load("tic_tac_toe")
    (tmp_path / "a run").mkdir()
    save_features(tmp_path / "a run" / "network.safetensors", game, some_features(game), "by hand")
    return tmp_path / "a run"


# ---------------------------------------------------------------- contributions


@pytest.mark.parametrize("kind", ["faithful", "rich"])
@pytest.mark.parametrize("name", [*GAMES[:3], pytest.param(GAMES[3], marks=pytest.mark.heavy)])
def test_contributions_sum_to_the_logits_of_the_players_policy(tmp_path, name, kind):
    game = games.load(name)
    features = some_features(game, kind, size=0.4)
    save_features(tmp_path / "f", game, features)
    explainer = Explainer(game, features)
    for policy in POLICIES:
        player = make_for(f"features:{tmp_path / 'f'},policy={policy}", game)
        for state in positions_met(game, 4, 7):
            seat = game.turn(state)
            moves, _ = explainer.explain(state, seat, features.weights(policy)[seat], 10**6)
            logits = np.array([move.logit for move in moves])
            for move in moves:
                adds, relative = (
                    sum(getattr(each, key) for each in move.contributions) for key in ("adds", "relative")
                )
                # Patterns that are active for all moves aren't listed: they add the same to each.
                shared = move.logit - adds
                assert shared == pytest.approx(
                    moves[0].logit - sum(each.adds for each in moves[0].contributions), abs=1e-9
                )
                assert relative == pytest.approx(move.logit - logits.mean(), abs=1e-9)
            probs = np.exp(logits - logits.max())
            np.testing.assert_allclose(probs / probs.sum(), [move.prob for move in moves], rtol=1e-9)
            player.begin(game, seat, 1)
            advice = player.advise(state)
            np.testing.assert_allclose([move.prob for move in moves], advice.policy, rtol=1e-4, atol=1e-9)
            legal = games.legal_actions(game, state)
            assert [move.name for move in moves] == [game.action_to_string(state, action) for action in legal]


def test_the_player_agrees_at_extreme_logits(tmp_path):
    game = games.load("tic_tac_toe")
    features = some_features(game, size=30.0)
    save_features(tmp_path / "f", game, features)
    player, explainer, steep = make_for(f"features:{tmp_path / 'f'}", game), Explainer(game, features), 0
    for state in positions_met(game, 20, 3):
        seat = game.turn(state)
        player.begin(game, seat, 1)
        moves, _ = explainer.explain(state, seat, features.weights("tspg")[seat])
        np.testing.assert_allclose([move.prob for move in moves], player.advise(state).policy, rtol=1e-3, atol=1e-9)
        steep += sum(abs(move.logit) > STEEP for move in moves)
    assert steep > 10


@pytest.mark.parametrize("name", GAMES)
def test_the_largest_contributions_come_first_and_their_images_match(name):
    game = games.load(name)
    features = some_features(game)
    explainer, eye = Explainer(game, features), window(game.board())
    for state in positions_met(game, 4, 5):
        seat, there = game.turn(state), contents(game, state, game.turn(state))
        weights = features.weights("ce")[seat]
        few, _ = explainer.explain(state, seat, weights)
        many, active = explainer.explain(state, seat, weights, 10**6)
        real, _ = activities(game, [state], seat, features.patterns[seat])
        assert active.tolist() == real.sum(axis=0).tolist()
        for i, (short, long) in enumerate(zip(few, many, strict=True)):
            assert short.contributions == long.contributions[:MAX_CONTRIBUTIONS]
            sizes = [abs(each.relative) for each in long.contributions]
            assert sizes == sorted(sizes, reverse=True)
            for f, adds, _, image in long.contributions:
                assert (image >= 0) == bool(real[i, f])
                assert adds == (weights[f] if image >= 0 else 0)
                if image >= 0:
                    for anchor, place, allowed in images(features.patterns[seat][f], eye)[image].elements:
                        row, column = game.board().places[(short.to, short.start)[anchor]]
                        assert allowed >> there.get((row + place[0], column + place[1]), OFF) & 1


def test_a_single_legal_move_is_explained_by_its_weights():
    game = games.load("tic_tac_toe")
    *_, last = parse_line(game, "b2 a1 c1 a3 a2 c2 b3 b1")
    features = some_features(game)
    weights = features.weights("ce")[last.seat]
    [move], active = Explainer(game, features).explain(last.state, last.seat, weights, 10**6)
    assert move.prob == 1
    assert [each.relative for each in move.contributions] == [0] * int(active.sum())
    assert sum(each.adds for each in move.contributions) == pytest.approx(move.logit)


def test_patterns_in_words():
    square, hexagonal = games.load("tic_tac_toe").board(), games.load("yavalath:4").board()

    def words(text, board, rich=False):
        return describe_pattern(parse(text, window(board, rich)), board)

    assert words("to: enemy(0); from(1/2):", square) == "to a cell: enemy 1 east; from the cell 1 west"
    assert words("to:; from(0,1/8):", square) == "to any cell; from the cell 2 south 1 west"
    assert words("to:", square) == "to any cell"
    assert words("to: friend(0) !empty(1/4,0)", square) == "to a cell: friend 1 east, not empty 2 north"
    assert words("to: empty|off(1/8,0)", square, True) == "to a cell: empty or off the board 2 north-east"
    assert (
        words("to: !off(); from: enemy(0)", square) == "to a cell: not off the board there; from a cell: enemy 1 east"
    )
    assert words("to: friend(0,1/6)", hexagonal) == "to a cell: friend between east and north-east"
    assert words("from: enemy(0,0,0)", hexagonal) == "from a cell: enemy 3 east"


# ---------------------------------------------------------------- sample games


@pytest.mark.parametrize("name", GAMES)
def test_frequencies_of_patterns_are_exact(name):
    game = games.load(name)
    features = some_features(game, counts=(60, 57))
    explainer = Explainer(game, features)
    found = sample_games(explainer, "ce", 2, 3)
    for seat in range(2):
        states = [decision.state for each in found.games for decision in each if decision.seat == seat]
        real, _ = activities(game, states, seat, features.patterns[seat])
        np.testing.assert_allclose(found.fires[seat], real.mean(axis=0), atol=1e-12)


def test_games_follow_the_policy_to_the_end_whatever_their_number():
    game = games.load("tic_tac_toe")
    features = some_features(game, size=0.5)
    explainer = Explainer(game, features)
    few, many = sample_games(explainer, "double", 2, 3), sample_games(explainer, "double", 300, 3)
    assert [[decision.played for decision in each] for each in few.games] == [
        [decision.played for decision in each] for each in many.games[:2]
    ]
    for each in many.games[:20]:
        state = games.positions(game)[0]
        for ply, decision in enumerate(each):
            assert (decision.ply, decision.line) == (ply, tuple(other.played for other in each[:ply]))
            assert game.infoset(decision.state, 0) == game.infoset(state, 0)
            game.play(state, game.parse_action(state, decision.played))
        assert game.turn(state) == games.OVER
    moves, _ = explainer.explain(games.positions(game)[0], 0, features.weights("double")[0])
    opened = [each[0].played for each in many.games]
    for move in moves:
        assert opened.count(move.name) / 300 == pytest.approx(move.prob, abs=0.09)
    assert ((many.stage >= 0) & (many.stage < 1)).all()
    assert len(many.stage) == len(many.entropy["ce"]) <= sum(map(len, many.games))
    for values in many.entropy.values():
        assert ((values >= 0) & (values <= 1 + 1e-12)).all()


def test_without_weights_entropy_is_one_everywhere():
    game = games.load("tic_tac_toe")
    features = Features("faithful", ((), ()), {name: (np.zeros(0), np.zeros(0)) for name in POLICIES})
    found = explain(game, features, "none", "tspg", "", 5, 1)
    counts, lines = found.stages()
    assert sum(counts) == len(found.sample.stage)
    assert all(value == pytest.approx(1) for line in lines.values() for value in line if value is not None)
    assert found.histogram()[1]["ce"] == [0] * BINS
    assert page(found)


def test_the_number_of_positions_is_limited(monkeypatch):
    assert evenly_spaced(5, 9) == [0, 1, 2, 3, 4]
    assert evenly_spaced(9, 3) == [0, 4, 8]
    game = games.load("tic_tac_toe")
    explainer = Explainer(game, some_features(game))
    found, line = sample_games(explainer, "ce", 80, 3).games, parse_line(game, "b2 a1 c1")
    shown = select_positions(explainer, found, line)
    assert len(shown) == sampling.MAX_POSITIONS
    assert [number for number, _, _ in shown[:5]] == [0, 0, 0, 0, 1]
    assert shown[4][2].line == ()
    assert len({number for number, _, _ in shown}) > 10
    monkeypatch.setattr(sampling, "MAX_MOVES", 90)
    assert len(select_positions(explainer, found, line)) == 10


# ---------------------------------------------------------------- the page


class Balance(html.parser.HTMLParser):
    """Records tags, attributes and text, and checks that tags are balanced."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.attributes, self.text = [], [], [], {}

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, text):
        if self.open:
            self.text.setdefault(self.open[-1], []).append(text)


def read_page(text):
    found = Balance()
    found.feed(text)
    found.close()
    assert found.open == []
    return found


def check_self_contained(text):
    """Nothing is loaded from anywhere."""
    assert not re.search(r"https?:|//|\bsrc\s*=|@import|url\((?!#)", text)
    links = [value for key, value in read_page(text).attributes if key in ("href", "src", "action", "xlink:href")]
    assert all(link.startswith("#") or link == "data:," for link in links)


@pytest.mark.parametrize("kind", ["faithful", "rich"])
@pytest.mark.parametrize("name", GAMES)
def test_a_page_is_complete_and_self_contained(name, kind):
    found = some_explanation(name, kind)
    text = page(found)
    check_self_contained(text)
    assert len(text) < 3e6
    read = read_page(text)
    assert read.tags.count("script") == 2
    assert "{{" not in text
    held = json.loads(read.text["script"][0])
    assert held == json.loads(json.dumps(data(found)))
    assert held["square"] == (name != "yavalath:4")
    for position in held["positions"]:
        probs = [move[4] for move in position["moves"]]
        assert sum(probs) == pytest.approx(1)
        for _, start, to, _, _, parts in position["moves"]:
            assert all(-1 <= cell < len(held["cells"]) for cell in (start, to))
            assert all(str(f) in position["active"] for f in parts[::2])
            assert all(-1 <= image < len(held["turns"]) for image in parts[1::2])
            assert len(parts) <= 2 * MAX_CONTRIBUTIONS


def test_the_sums_of_the_page_are_the_logits():
    """Add up as the script of the page does: weights of the patterns, shares from the counts."""
    found = some_explanation("breakthrough")
    held = json.loads(json.dumps(data(found)))
    position = held["positions"][5]
    whole, _ = found.explainer.explain(
        found.positions[5].decision.state, position["seat"], found.weights[position["seat"]], 10**6
    )
    n, logits = len(position["moves"]), [move[3] for move in position["moves"]]
    for move, (_, _, _, logit, _, parts) in zip(whole, position["moves"], strict=True):
        assert logit == pytest.approx(move.logit, abs=1e-6)
        for k, (f, image) in enumerate(zip(parts[::2], parts[1::2], strict=True)):
            weight = held["seats"][position["seat"]][f]["weight"]
            adds = weight if image >= 0 else 0
            assert adds == pytest.approx(move.contributions[k].adds, abs=1e-6)
            assert adds - weight * position["active"][str(f)] / n == pytest.approx(
                move.contributions[k].relative, abs=1e-6
            )
        assert logit - sum(logits) / n == pytest.approx(sum(each.relative for each in move.contributions), abs=1e-5)


HOSTILE = "</script><script>alert(1)</script><img src=http://evil.example onerror=alert(1)> & \" ' {{data}} \u2028"


def test_text_of_a_file_stays_text():
    text = page(some_explanation("tic_tac_toe", made=HOSTILE, run=HOSTILE))
    found = read_page(text)
    harmless = read_page(page(some_explanation("tic_tac_toe")))
    assert (found.tags, found.attributes) == (harmless.tags, harmless.attributes)
    assert found.text["title"] == [f"{HOSTILE} explained"]
    held = json.loads(found.text["script"][0])
    assert held["made"] == held["name"] == HOSTILE
    assert "innerHTML" not in text
    assert "insertAdjacentHTML" not in text


def test_only_the_script_of_the_page_may_run():
    text = page(some_explanation("tic_tac_toe"))
    [security] = [value for key, value in read_page(text).attributes if key == "content" and "default-src" in value]
    assert security.startswith("default-src 'none'; ")
    assert "unsafe" not in security
    assert security.count("sha256-") == 2


# ---------------------------------------------------------------- the command


def test_a_run_is_explained(kibitz, run):
    code, out, err = kibitz("explain", "a run", "--games", "4", "--json", "found.json")
    assert (code, err) == (0, "")
    assert "page: a run/explained.html" in out
    found = json.loads((run.parent / "found.json").read_text())
    strongest = sorted(found["patterns"], key=lambda each: -abs(each["weight"]))[:10]
    for each in strongest:
        assert f"{each['weight']:+.3f}" in out
        assert " ".join(each["words"].split()[:4]) in out
    assert found["position"]["line"] == []
    assert sum(move["probability"] for move in found["position"]["moves"]) == pytest.approx(1)
    text = (run / "explained.html").read_text()
    check_self_contained(text)
    kibitz("explain", "a run", "--games", "4", "--out", "again.html")
    assert (run.parent / "again.html").read_text() == text


def test_the_page_of_a_file_is_beside_it_and_shows_the_line_first(kibitz, run):
    code, out, _ = kibitz(
        "explain", "a run/network.safetensors", "--games", "2", "--policy", "ce", "--moves", "B2, a1", "--json", "j"
    )  # fmt: skip
    assert code == 0
    assert "page: a run/network-explained.html" in out
    found = json.loads((run.parent / "j").read_text())
    assert (found["position"]["line"], found["position"]["seat"]) == (["b2", "a1"], 1)
    assert len(found["position"]["moves"]) == 7
    read = read_page((run / "network-explained.html").read_text())
    held = json.loads(read.text["script"][0])
    assert [position["game"] for position in held["positions"][:4]] == [0, 0, 0, 1]
    assert held["start"] == 2
    assert held["positions"][2]["content"] == "200010000"


def test_an_iteration_may_be_chosen(kibitz, run):
    game = games.load("tic_tac_toe")
    (run / "networks").mkdir()
    save_features(run / "networks" / "000002.safetensors", game, some_features(game, seed=5), "iteration two")
    assert kibitz("explain", "a run", "--games", "1", "--iteration", "2", "--json", "j")[0] == 0
    assert json.loads((run.parent / "j").read_text())["made"] == "iteration two"


def test_patterns_may_be_named_as_a_player(kibitz, run):
    assert kibitz("explain", "features:a run,policy=tspg", "--games", "1")[0] == 0
    assert (run / "explained.html").exists()


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["nowhere"], "no feature set file 'nowhere'"),
        (["."], "it is no run"),
        (["models/leduc"], "is no feature set of Kibitz"),
        (["net:models/leduc"], "is a network, which has no patterns"),
        (["a run", "--policy", "best"], "no policy is called 'best'"),
        (["a run", "--iteration", "7"], "kept no network of iteration 7"),
        (["a run", "--games", "0"], "--games should be at least 1"),
        (["a run", "--seed", "-1"], "--seed should be at least 0"),
        (["a run", "--out", "no/where.html"], "its folder does not exist"),
        (["a run", "--out", "."], "it is a folder"),
        (["a run", "--moves", "b2 b2"], "move 2: 'b2' is no move here"),
        (["a run", "--moves", "a1 a2 b1 b2 c1 c2"], "the game is over before move 6, 'c2'"),
        (["a run", "--moves", "a1 a2 b1 b2 c1"], "there is no move to explain"),
        (["a run", "--game", "hex:7"], "is a feature set for tic_tac_toe, not for hex:size=7"),
        (["text"], "damaged or foreign"),
        (["cards"], "has no board"),
        (["code"], "if you trust that code, give --trust"),
        (["heavy"], "should be below 1e+09"),
    ],
)  # fmt: skip
def test_bad_input_gives_a_one_line_error(kibitz, run, arguments, text):
    folder = run.parent
    about = {
        "format": FORMAT.name,
        "game": "tic_tac_toe",
        "made": "",
        "kind": "faithful",
        "patterns": [["to:"], ["to:"]],
    }
    (folder / "text").write_text("hello")
    (folder / "evil.py").write_text("raise SystemExit('it was run')")
    for name, change, weight in (("cards", "leduc", 1), ("code", "evil.py:Game", 1), ("heavy", "tic_tac_toe", 1e308)):
        tensors = {f"{policy}.{seat}": np.full(1, float(weight)) for policy in POLICIES for seat in range(2)}
        metadata = {"about": json.dumps(about | {"game": change})}
        (folder / name).write_bytes(safetensors.numpy.save(tensors, metadata))
    code, out, err = kibitz("explain", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("kibitz: ")
    assert err.count("\n") == 1
    assert text in err
    assert not list(folder.glob("**/*.html"))


def test_illegal_moves_are_bad_input():
    with pytest.raises(BadInput, match="move 1: 'z9' is no move here"):
        parse_line(games.load("tic_tac_toe"), "z9")


# ---------------------------------------------------------------- in a browser


@pytest.mark.skipif(shutil.which("chromium") is None, reason="needs chromium")
@pytest.mark.parametrize("name", ["tic_tac_toe", "yavalath:4", "breakthrough"])
def test_a_browser_shows_the_page(tmp_path, name):
    browsers = pytest.importorskip("playwright.sync_api")
    found = some_explanation(name, "rich", made=HOSTILE)
    (tmp_path / "page.html").write_text(page(found))
    wrong, asked = [], []
    arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    with browsers.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=arguments)
        tab = browser.new_page(viewport={"width": 390, "height": 800})
        tab.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
        tab.on("pageerror", lambda error: wrong.append(str(error)))
        tab.on("dialog", lambda dialog: wrong.append(dialog.message))
        tab.on("request", lambda request: asked.append(request.url))
        tab.goto((tmp_path / "page.html").as_uri())
        assert HOSTILE.split("{{")[0] in tab.inner_text("#about")
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390
        cards = tab.locator(".card")
        assert cards.count() == 8
        assert tab.locator(".card svg").count() >= 8
        first = found.strongest(0)[0]
        assert found.words(0, first) in cards.first.inner_text()
        tab.click("#more")
        assert cards.count() > 8
        tab.select_option("#sign", "against")
        assert all(text.startswith("−") for text in tab.locator(".card b").all_inner_texts())
        tab.fill("#search", "no such pattern")
        assert cards.count() == 0
        tab.click("#on")
        position = found.positions[1]
        moves = sorted(position.moves, key=lambda move: -move.prob)
        assert tab.locator("#moves .move").count() == len(moves)
        tab.locator("#moves .move").nth(1).click()
        assert tab.inner_text("#contributions h3").startswith(f"{moves[1].name}: ")
        assert tab.locator("#contributions tbody tr").count() >= len(moves[1].contributions)
        assert tab.inner_text("#logit").replace("−", "-") == f"{moves[1].logit:+.3f}"
        fitting = [k for k, each in enumerate(moves[1].contributions) if each.image >= 0]
        tab.locator("#contributions tbody tr").nth(fitting[-1]).focus()
        assert tab.locator("#board .anchor").count() >= 1
        cell = tab.locator("#board .target").first
        cell.focus()
        tab.keyboard.press("Enter")
        chosen_name = tab.inner_text("#contributions h3").split(":")[0]
        assert chosen_name in tab.evaluate("document.activeElement.getAttribute('aria-label')")
        tab.keyboard.press("ArrowRight")
        assert tab.locator("#entropy svg polyline").count() == 3
        assert tab.locator("#spread svg path").count() == 2
        browser.close()
    assert wrong == []
    assert asked == [(tmp_path / "page.html").as_uri()]


def test_patterns_on_the_page_are_those_of_the_file():
    found = some_explanation("tic_tac_toe")
    eye = window(found.game.board())
    held = data(found)
    for seat in range(2):
        assert [each["text"] for each in held["seats"][seat]] == [
            spelled(each, eye) for each in found.explainer.patterns(seat)
        ]
        assert sorted(each["rank"] for each in held["seats"][seat]) == [
            k + 1 for k in range(len(found.explainer.patterns(seat)))
        ]
