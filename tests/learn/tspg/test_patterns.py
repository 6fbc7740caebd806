"""Patterns and their text: any walk and any image is the same pattern, and what is written is what is read."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kibitz.core.names import BadInput
from kibitz.games import boards
from kibitz.train.tspg.patterns import (
    ALL,
    ANCHORS,
    KINDS,
    Element,
    Mark,
    Pattern,
    atoms,
    canonical,
    combined,
    end_of,
    images,
    parse,
    spelled,
    spelled_kinds,
    turned,
    walk_to,
    window,
)

from .oracle import is_hexagonal, symmetries, turned_places

WINDOWS = {
    "squares": window(boards.square(8, 8)),
    "rich": window(boards.square(5, 9), True),
    "hexagons": window(boards.hexagon(5)),
    "rhombus": window(boards.rhombus(7), True),
}
every_window = pytest.mark.parametrize("eye", WINDOWS.values(), ids=WINDOWS)
SQUARES, HEXAGONS = WINDOWS["squares"], WINDOWS["hexagons"]


@st.composite
def patterns(draw, eye):
    """Any, as it comes: in no special form."""
    anchors = draw(st.sampled_from([(0,), (1,), (0, 1)]))
    spots = st.tuples(st.sampled_from(anchors), st.sampled_from(list(eye.places)))
    tests = draw(st.dictionaries(spots, st.integers(1, ALL - 1), max_size=6))
    marks = draw(st.sets(st.tuples(st.sampled_from(anchors), st.sampled_from(["goal", "lines"]), st.integers(0, 9))))
    elements = [Element(anchor, place, allowed) for (anchor, place), allowed in tests.items()]
    ordered = sorted(elements, key=lambda element: (element.anchor, eye.places[element.place]))
    return Pattern(anchors, tuple(ordered), tuple(sorted(Mark(*mark) for mark in marks)))


windows_and_patterns = st.sampled_from(list(WINDOWS.values())).flatmap(
    lambda eye: st.tuples(st.just(eye), patterns(eye), patterns(eye))
)


# ---------------------------------------------------------------- where patterns look


@every_window
def test_a_window_has_straight_rays_and_what_lies_between_them(eye):
    straight = {place for step in steps_of(eye) for place in multiples(step)}
    between = {(a + c, b + d) for a, b in steps_of(eye) for c, d in steps_of(eye)} - {(0, 0)} - straight
    expected = {(0, 0)} | straight | between
    if eye is WINDOWS["rich"]:
        expected |= {(n * up, n * right) for up in (1, -1) for right in (1, -1) for n in range(1, 5)}
    assert set(eye.places) == expected
    assert sorted(eye.places.values()) == list(range(len(expected)))
    assert eye.places[0, 0] == 0
    assert eye.places[0, 1] == 1  # straight ahead


def steps_of(eye):
    """To the cells that share an edge."""
    return [step for step in eye.board.directions if is_hexagonal(eye.board) or 0 in step]


def multiples(step):
    return [(n * step[0], n * step[1]) for n in range(1, 5)]


@every_window
def test_symmetries_are_all_rotations_and_reflections(eye):
    assert len(eye.turns) == symmetries(eye.board)
    by_matrices = sorted(zip(*(turned_places(eye.board, place) for place in eye.places), strict=True))
    assert sorted(tuple(eye.turned(place, s) for place in eye.places) for s in range(len(eye.turns))) == by_matrices
    assert all(eye.turned(place, 0) == place for place in eye.places)


# ---------------------------------------------------------------- one pattern, many images


@settings(max_examples=50, deadline=None)
@given(windows_and_patterns)
def test_all_images_have_one_canonical_form_and_it_is_one_of_them(drawn):
    eye, pattern, _ = drawn
    found = canonical(pattern, eye)
    assert {canonical(image, eye) for image in images(pattern, eye)} == {found}
    assert found in images(pattern, eye)
    assert canonical(found, eye) == found
    by_matrices = {by_matrix(pattern, eye, s) for s in range(symmetries(eye.board))}
    assert {frozenset(image.elements) for image in images(pattern, eye)} == by_matrices


def by_matrix(pattern, eye, symmetry):
    return frozenset(
        Element(anchor, turned_places(eye.board, place)[symmetry], allowed)
        for anchor, place, allowed in pattern.elements
    )


@settings(max_examples=50, deadline=None)
@given(windows_and_patterns)
def test_two_patterns_that_are_no_images_of_each_other_have_two_forms(drawn):
    eye, one, other = drawn
    alike = one.anchors == other.anchors and one.marks == other.marks
    alike = alike and frozenset(other.elements) in {by_matrix(one, eye, s) for s in range(symmetries(eye.board))}
    assert (canonical(one, eye) == canonical(other, eye)) == alike


@settings(max_examples=50, deadline=None)
@given(windows_and_patterns, st.integers(0, 11))
def test_turning_goes_well_with_combining(drawn, symmetry):
    eye, one, other = drawn
    symmetry %= len(eye.turns)
    both = combined(one, other, eye)
    again = combined(turned(one, eye, symmetry), turned(other, eye, symmetry), eye)
    assert again == (both and turned(both, eye, symmetry))


# ---------------------------------------------------------------- combinations


@settings(max_examples=60, deadline=None)
@given(windows_and_patterns)
def test_a_combination_asks_for_all_that_its_parts_ask_for(drawn):
    eye, one, other = drawn
    both = combined(one, other, eye)
    spots = {(anchor, place) for anchor, place, _ in one.elements + other.elements}
    wanted = {spot: asked(one, spot) & asked(other, spot) for spot in spots}
    if 0 in wanted.values():
        assert both is None
        return
    assert {(anchor, place): allowed for anchor, place, allowed in both.elements} == wanted
    assert len(both.elements) == len(wanted)
    assert both.anchors == tuple(sorted({*one.anchors, *other.anchors}))
    assert both.marks == tuple(sorted({*one.marks, *other.marks}))
    assert both == combined(other, one, eye)
    assert combined(both, one, eye) == both
    assert combined(one, Pattern(one.anchors, ()), eye) == one


def asked(pattern, spot):
    return next((allowed for anchor, place, allowed in pattern.elements if (anchor, place) == spot), ALL)


def test_two_tests_of_one_cell_are_one():
    for one, other, both in [
        ("to: !friend(0)", "to: !enemy(0)", "to: empty|off(0)"),
        ("to: !friend(0)", "to: empty(0)", "to: empty(0)"),
        ("to: empty|off(0)", "to: off|enemy(0)", "to: off(0)"),
        ("to: empty(0)", "from: enemy(0)", "to: empty(0); from: enemy(0)"),
        ("to: goal=1", "to: friend()", "to: friend() goal=1"),
        ("to: friend(0)", "to:", "to: friend(0)"),
    ]:
        assert spelled(combined(parse(one, SQUARES), parse(other, SQUARES), SQUARES), SQUARES) == both
    assert combined(parse("to: friend(0)", SQUARES), parse("to: !friend(0)", SQUARES), SQUARES) is None
    assert combined(parse("to: friend(0)", SQUARES), parse("from: enemy(0)", SQUARES), SQUARES) is not None


# ---------------------------------------------------------------- atoms


@pytest.mark.parametrize(("name", "each"), [("squares", 49), ("rich", 73), ("hexagons", 49), ("rhombus", 49)])
def test_atoms_are_no_test_or_one_at_each_distance(name, each):
    eye = WINDOWS[name]
    found = atoms(eye)
    assert len(set(found)) == len(found) == each
    assert found[0] == Pattern((0,), ())
    assert all(canonical(pattern, eye) == pattern for pattern in found)
    moves = eye.board.directions
    both = atoms(eye, moves)
    kinds = eye.board.orthogonal  # of directions: on squares straight and diagonal
    assert len(set(both)) == 2 * each + kinds
    assert both[:each] == found
    assert [pattern._replace(anchors=(0,), elements=at_to(pattern)) for pattern in both[each : 2 * each]] == found
    assert {pattern[:3] for pattern in both[2 * each :]} == {((0, 1), (), ())}
    for place in eye.places:
        for bit in range(4):
            for allowed in (1 << bit, ALL - (1 << bit)):
                assert canonical(Pattern((0,), (Element(0, place, allowed),)), eye) in found
    assert len(atoms(eye, moves, [("goal", 0), ("goal", 1), ("lines", 8)])) == 2 * (each + 3) + kinds
    assert Pattern((1,), (), (Mark(1, "lines", 8),)) in atoms(eye, moves, [("lines", 8)])


def test_a_direction_is_part_of_a_pattern():
    ahead, aside = parse("to: enemy(0); from(1/2):", SQUARES), parse("to: enemy(0); from(1/4):", SQUARES)
    assert len({ahead, aside, parse("to: enemy(0); from:", SQUARES)}) == 3
    assert ahead.start == (0, -1)
    assert parse("to: enemy(1/4); from(3/4):", SQUARES) == ahead  # turned by a quarter
    assert parse("to: enemy(0); from(3/4):", SQUARES) == aside  # mirrored
    assert combined(ahead, aside, SQUARES) is None  # a move has one direction
    step = parse("to:; from(1/2):", SQUARES)
    [towards] = {each for each in images(step, SQUARES) if each.start == ahead.start}
    assert combined(parse("to: enemy(0)", SQUARES), towards, SQUARES) == ahead == combined(ahead, towards, SQUARES)
    for pattern in (ahead, aside, step):
        assert parse(spelled(pattern, SQUARES), SQUARES) == pattern


def test_the_leap_of_a_knight_has_a_walk():
    leap = Pattern((0, 1), (), (), (-2, 1))
    assert len(set(images(leap, SQUARES))) == 8
    assert parse(spelled(canonical(leap, SQUARES), SQUARES), SQUARES) == canonical(leap, SQUARES)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("from(1/2): enemy(0)", "should have `to:` too"),
        ("to:; from(0,1/2):", "goes nowhere"),
        ("to(0): enemy(0)", "should begin with"),
        ("to:; from(x):", "should begin with"),
        ("to:; from(1/3):", "between two directions"),
    ],
)
def test_a_wrong_direction_is_refused(text, message):
    with pytest.raises(BadInput, match=message):
        parse(text, SQUARES)


def at_to(pattern):
    return tuple(element._replace(anchor=0) for element in pattern.elements)


# ---------------------------------------------------------------- text


@settings(max_examples=60, deadline=None)
@given(windows_and_patterns)
def test_what_is_written_is_read_as_the_same_pattern(drawn):
    eye, pattern, _ = drawn
    found = parse(spelled(pattern, eye), eye)
    assert found == canonical(pattern, eye)
    assert spelled(found, eye) == spelled(parse(spelled(found, eye), eye), eye)


@settings(max_examples=60, deadline=None)
@given(windows_and_patterns, st.data())
def test_any_walk_and_any_image_in_any_order_is_the_same_pattern(drawn, data):
    eye, pattern, _ = drawn
    image = turned(pattern, eye, data.draw(st.integers(0, len(eye.turns) - 1)))
    words = {
        anchor: [f"{mark.name}={mark.value}" for mark in image.marks if mark.anchor == anchor] for anchor in (0, 1)
    }
    for anchor, place, allowed in image.elements:
        walk = ",".join(str(turn) for turn in data.draw(walks(eye, place)))
        words[anchor].append(f"{data.draw(kinds(allowed))}({walk})")
    parts = [f"{ANCHORS[a]}: {' '.join(data.draw(st.permutations(words[a])))}" for a in image.anchors]
    assert parse(" ; ".join(data.draw(st.permutations(parts))), eye) == canonical(pattern, eye)


@st.composite
def walks(draw, eye, place):
    """There by any steps in any order, with detours; turns of more than a circle, to either side."""
    steps = eye.board.directions
    way = draw(st.lists(st.integers(0, len(steps) - 1), max_size=2))
    way += [(direction + len(steps) // 2) % len(steps) for direction in way]  # and back
    up, right = place
    way += [steps.index((1, 0) if up > 0 else (-1, 0))] * abs(up)
    way += [steps.index((0, 1) if right > 0 else (0, -1))] * abs(right)
    walk, heading = [], 0
    for direction in draw(st.permutations(way)):
        walk.append(Fraction(direction - heading, len(steps)) + draw(st.integers(-2, 2)))
        heading = direction
    return walk


@st.composite
def kinds(draw, allowed):
    """A set of kinds, or NOT the others."""
    chosen = [kind for bit, kind in enumerate(KINDS) if allowed >> bit & 1]
    others = [kind for kind in KINDS if kind not in chosen]
    return draw(
        st.sampled_from(["|".join(draw(st.permutations(chosen))), "!" + "|".join(draw(st.permutations(others)))])
    )


@every_window
def test_a_walk_leads_where_it_was_led_to(eye):
    for place in eye.places:
        walk = walk_to(eye, place)
        assert end_of(eye, walk) == place
        assert len(walk) <= 4
        assert len(walk) <= 2 or set(walk[1:]) == {0}
    with pytest.raises(ValueError, match="out of sight"):
        walk_to(eye, (9, 4))


@pytest.mark.parametrize("allowed", range(1, ALL))
def test_every_set_of_kinds_has_one_name(allowed):
    text = spelled_kinds(allowed)
    assert parse(f"to: {text}(0)", SQUARES).elements == (Element(0, (0, 1), allowed),)
    assert text.startswith("!") == (allowed.bit_count() == 3)


@pytest.mark.parametrize(
    ("text", "expected", "eye"),
    [
        ("to:", "to:", SQUARES),
        ("from:", "from:", SQUARES),
        ("to: ; from:", "to:; from:", SQUARES),
        ("to: friend(1/4)", "to: friend(0)", SQUARES),
        ("to: friend(1/4,1/4)", "to: friend(1/8)", SQUARES),
        ("to: friend(0,  -1/4)", "to: friend(1/8)", SQUARES),
        ("to: friend(1/3)", "to: friend(0)", HEXAGONS),
        ("to: friend(0,1/3)", "to: friend(0)", HEXAGONS),
        ("to: friend(1/2,-1/6)", "to: friend(0,1/6)", HEXAGONS),
        ("to: friend(0,1/2) friend()", "to: friend()", HEXAGONS),
        ("to: enemy(1/2,0,0) friend(0)", "to: friend(0) enemy(1/2,0,0)", HEXAGONS),
        ("from:enemy(0);to:empty()", "to: empty(); from: enemy(0)", SQUARES),
        ("to: !friend(0) !enemy(0) !off(0)", "to: empty(0)", SQUARES),
        ("to: goal=2 goal=2 friend(0)", "to: friend(0) goal=2", SQUARES),
    ],
)
def test_examples_of_text(text, expected, eye):
    assert spelled(parse(text, eye), eye) == expected


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("", "''"),
        ("empty(0)", "'empty(0)'"),
        ("to", "'to'"),
        ("at: empty(0)", "'at: empty(0)'"),
        ("to: empty(0); to: friend(0)", "to twice"),
        ("to: empty(0); ", "''"),
        ("to: empty", "'empty'"),
        ("to: empty(0", "'empty(0'"),
        ("to: empty(0)friend(0)", "'empty(0)friend(0)'"),
        ("to: full(0)", "'full'"),
        ("to: empty|full(0)", "'full'"),
        ("to: empty|(0)", "''"),
        ("to: EMPTY(0)", "'EMPTY(0)'"),
        ("to: !!empty(0)", "'!!empty(0)'"),
        ("to: empty|friend|enemy|off(0)", "empty|friend|enemy|off"),
        ("to: !empty|friend|enemy|off(0)", "!empty|friend|enemy|off"),
        ("to: empty(1/0)", "(1/0)"),
        ("to: empty(,)", "(,)"),
        ("to: empty(1//4)", "(1//4)"),
        ("to: empty(0.25)", "'empty(0.25)'"),
        ("to: empty(1/3)", "1/3"),
        ("to: empty(0,1/16)", "1/16"),
        ("to: empty(0,0,0,0,0)", "empty(0,0,0,0,0)"),
        ("to: empty(1/8,0)", "empty(1/8,0)"),
        ("to: empty(0) friend(0)", "two things at once"),
        ("to: empty(0,1/4) !empty(1/8)", "two things at once"),
        ("to: goal=", "'goal='"),
        ("to: goal=-1", "'goal=-1'"),
        ("to: =1", "'=1'"),
    ],
)
def test_a_bad_text_is_refused_in_one_line_that_names_the_bad_word(text, named):
    with pytest.raises(BadInput) as caught:
        parse(text, SQUARES)
    assert named in str(caught.value)
    assert "\n" not in str(caught.value)


def test_diagonals_are_in_sight_of_the_rich_alone():
    assert parse("to: friend(1/8,0,0,0)", WINDOWS["rich"]).elements[0].place == (4, 4)
    for text in ("to: friend(1/8,0)", "to: friend(0,0,1/4,0)"):
        with pytest.raises(BadInput, match="out of sight"):
            parse(text, SQUARES)
