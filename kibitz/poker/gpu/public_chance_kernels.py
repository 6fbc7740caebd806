"""The steps at a node of the public tree on a GPU, each fused into one Triton kernel.

Tensors are [boards, ways, hands], and with one plane per action [actions, boards, ways, hands], in single or half
precision; sums are in single precision. Hands of one bucket add to the same entry of a table, in no fixed order: two
runs agree up to rounding. Programs of one way follow each other, so that its entries stay in the cache.
`kibitz.poker.gpu.public_streets.plain` has the same steps in plain torch, and says what they do.
"""

import torch
import triton
import triton.language as tl

BLOCK = 256


@triton.jit
def _read(pointer, live):
    return tl.load(pointer, live, 0.0).to(tl.float32)


@triton.jit
def _choose(
    regrets, sums, buckets, reach, strategy, after, scale, boards, ways, hands, count, plane, average,
    N: tl.constexpr, ADD: tl.constexpr, SCALED: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    way, board = tl.program_id(0) // boards, tl.program_id(0) % boards
    hand = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    live = hand < hands
    bucket = tl.load(buckets + board * hands + hand, live, 0)
    entry = (way * count + bucket).to(tl.int64) * N
    here = (board * ways + way).to(tl.int64) * hands + hand
    mine = _read(reach + here, live)
    weight = average
    if SCALED:
        weight = average * tl.load(scale + board * ways + way)
    total = tl.zeros([BLOCK], tl.float32)
    for a in tl.static_range(N):
        total += tl.maximum(tl.load(regrets + entry + a, live, 0.0), 0.0)
    for a in tl.static_range(N):
        positive = tl.maximum(tl.load(regrets + entry + a, live, 0.0), 0.0)
        chosen = tl.where(total > 0, positive / total, 1.0 / N)
        tl.store(strategy + a * plane + here, chosen, live)
        tl.store(after + a * plane + here, mine * chosen, live)
        if ADD:
            tl.atomic_add(sums + entry + a, weight * mine * chosen, live & (mine > 0), sem="relaxed")


@triton.jit
def _update(
    regrets, buckets, strategy, own0, own1, own2, other0, other1, other2, scale0, scale1, scale2, back0, back1, back2,
    value, other, scale, boards, ways, hands, count, plane, weight, N: tl.constexpr, SCALED: tl.constexpr,
    BLOCK: tl.constexpr,
):  # fmt: skip
    way, board = tl.program_id(0) // boards, tl.program_id(0) % boards
    hand = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    live = hand < hands
    bucket = tl.load(buckets + board * hands + hand, live, 0)
    entry = (way * count + bucket).to(tl.int64) * N
    here = (board * ways + way).to(tl.int64) * hands + hand
    if SCALED:
        weight *= tl.load(scale + board * ways + way)
    x0 = _read(own0 + here, live) * tl.load(scale0 + way)
    x1 = _read(own1 + here, live) * tl.load(scale1 + way)
    mean = x0 * _read(strategy + here, live) + x1 * _read(strategy + plane + here, live)
    rest = _read(other0 + here, live) * tl.load(back0 + way)
    rest += _read(other1 + here, live) * tl.load(back1 + way)
    if N == 3:
        x2 = _read(own2 + here, live) * tl.load(scale2 + way)
        mean += x2 * _read(strategy + 2 * plane + here, live)
        rest += _read(other2 + here, live) * tl.load(back2 + way)
        tl.atomic_add(regrets + entry + 2, weight * (x2 - mean), live, sem="relaxed")
    tl.atomic_add(regrets + entry, weight * (x0 - mean), live, sem="relaxed")
    tl.atomic_add(regrets + entry + 1, weight * (x1 - mean), live, sem="relaxed")
    tl.store(value + here, mean, live)
    tl.store(other + here, rest, live)


def choose(regrets, sums, buckets, reach, n, count, average, scale=None):
    boards, ways, hands = reach.shape
    strategy = reach.new_empty(n, boards, ways, hands)
    after = torch.empty_like(strategy)
    grid = (boards * ways, triton.cdiv(hands, BLOCK))
    _choose[grid](
        regrets, sums, buckets, reach, strategy, after, regrets if scale is None else scale, boards, ways, hands, count,
        reach.numel(), float(average), N=n, ADD=average > 0, SCALED=scale is not None, BLOCK=BLOCK,
    )  # fmt: skip
    return strategy, after


def update(regrets, buckets, strategy, seat, children, count, weight, scale=None):
    n, boards, ways, hands = strategy.shape
    value, other = strategy.new_empty(boards, ways, hands), strategy.new_empty(boards, ways, hands)
    own = [child[seat] for child in children] + [children[0][seat]] * (3 - n)
    rest = [child[1 - seat] for child in children] + [children[0][1 - seat]] * (3 - n)
    grid = (boards * ways, triton.cdiv(hands, BLOCK))
    _update[grid](
        regrets, buckets, strategy, *(x[0] for x in own), *(x[0] for x in rest), *(x[1] for x in own),
        *(x[1] for x in rest), value, other, regrets if scale is None else scale, boards, ways, hands, count,
        value.numel(), float(weight), N=n, SCALED=scale is not None, BLOCK=BLOCK,
    )  # fmt: skip
    return value, other


@triton.jit
def _follow(
    probs, buckets, reach, after, boards, ways, hands, count, plane, N: tl.constexpr, PACKED: tl.constexpr,
    BLOCK: tl.constexpr,
):  # fmt: skip
    way, board = tl.program_id(0) // boards, tl.program_id(0) % boards
    hand = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    live = hand < hands
    bucket = tl.load(buckets + board * hands + hand, live, 0)
    entry = (way * count + bucket).to(tl.int64)
    here = (board * ways + way).to(tl.int64) * hands + hand
    mine = _read(reach + here, live)
    if PACKED:
        both = tl.load(probs + entry, live, 0)
        first = (both & 65535).to(tl.float32) / 65535
        rest = 1 - first
        tl.store(after + here, mine * first, live)
        if N == 3:
            second = (both >> 16 & 65535).to(tl.float32) / 65535
            rest -= second
            tl.store(after + plane + here, mine * second, live)
        tl.store(after + (N - 1) * plane + here, mine * rest, live)
    else:
        for a in tl.static_range(N):
            tl.store(after + a * plane + here, mine * tl.load(probs + entry * N + a, live, 0.0), live)


def follow(probs, buckets, reach, n, count):
    boards, ways, hands = reach.shape
    after = reach.new_empty(n, boards, ways, hands)
    _follow[(boards * ways, triton.cdiv(hands, BLOCK))](
        probs, buckets, reach, after, boards, ways, hands, count, reach.numel(), N=n, PACKED=probs.dtype == torch.int32,
        BLOCK=BLOCK,
    )  # fmt: skip
    return after


@triton.jit
def _respond(
    own0, own1, own2, other0, other1, other2, scale0, scale1, scale2, back0, back1, back2, value, other, action, ways,
    hands, N: tl.constexpr, KEEP: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0)
    way = row % ways
    hand = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    live = hand < hands
    here = row.to(tl.int64) * hands + hand
    best = _read(own0 + here, live) * tl.load(scale0 + way)
    second = _read(own1 + here, live) * tl.load(scale1 + way)
    chosen = tl.where(second > best, 1, 0)
    best = tl.maximum(best, second)
    rest = _read(other0 + here, live) * tl.load(back0 + way)
    rest += _read(other1 + here, live) * tl.load(back1 + way)
    if N == 3:
        third = _read(own2 + here, live) * tl.load(scale2 + way)
        chosen = tl.where(third > best, 2, chosen)
        best = tl.maximum(best, third)
        rest += _read(other2 + here, live) * tl.load(back2 + way)
    tl.store(value + here, best, live)
    tl.store(other + here, rest, live)
    if KEEP:
        tl.store(action + here, chosen.to(tl.int8), live)


def respond(seat, children):
    value, other, _ = _responded(seat, children, False)
    return value, other


def answer(seat, children):
    return _responded(seat, children, True)


def _responded(seat, children, keep):
    n, like = len(children), children[0][seat][0]
    boards, ways, hands = like.shape
    value, other = torch.empty_like(like), torch.empty_like(like)
    action = torch.empty(like.shape if keep else 1, dtype=torch.int8, device=like.device)
    own = [child[seat] for child in children] + [children[0][seat]] * (3 - n)
    rest = [child[1 - seat] for child in children] + [children[0][1 - seat]] * (3 - n)
    grid = (boards * ways, triton.cdiv(hands, BLOCK))
    _respond[grid](
        *(x[0] for x in own), *(x[0] for x in rest), *(x[1] for x in own), *(x[1] for x in rest), value, other, action,
        ways, hands, N=n, KEEP=keep, BLOCK=BLOCK,
    )  # fmt: skip
    return value, other, action


@triton.jit
def _obey(action, reach, after, hands, plane, N: tl.constexpr, BLOCK: tl.constexpr):
    hand = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    live = hand < hands
    here = tl.program_id(0).to(tl.int64) * hands + hand
    mine, chosen = tl.load(reach + here, live, 0.0), tl.load(action + here, live, 0)
    for a in tl.static_range(N):
        tl.store(after + a * plane + here, tl.where(chosen == a, mine, 0.0), live)


def obey(action, reach, n):
    boards, ways, hands = reach.shape
    after = reach.new_empty(n, boards, ways, hands)
    _obey[(boards * ways, triton.cdiv(hands, BLOCK))](action, reach, after, hands, reach.numel(), N=n, BLOCK=BLOCK)
    return after


@triton.jit
def _deal(reach, parents, places, found, ways, hands, inside, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    board, way = row // ways, row % ways
    hand = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    live = hand < inside
    place = tl.load(places + board * inside + hand, live, -1)
    start = (tl.load(parents + board) * ways + way).to(tl.int64) * hands
    here = tl.load(reach + start + place, live & (place >= 0), 0.0)
    tl.store(found + row.to(tl.int64) * inside + hand, here, live)


def deal(reach, parents, places):
    _, ways, hands = reach.shape
    boards, inside = places.shape
    found = reach.new_empty(boards, ways, inside)
    _deal[(boards * ways, triton.cdiv(inside, BLOCK))](
        reach, parents, places, found, ways, hands, inside, BLOCK=BLOCK
    )  # fmt: skip
    return found


@triton.jit
def _collect(values, which, places, first, weights, found, ways, hands, inside, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    above, way = row // ways, row % ways
    hand = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    live = hand < hands
    total = tl.zeros([BLOCK], tl.float32)
    for term in range(tl.load(first + above), tl.load(first + above + 1)):
        place = tl.load(places + term * hands + hand, live, -1)
        start = (tl.load(which + term) * ways + way).to(tl.int64) * inside
        total += tl.load(weights + term) * _read(values + start + place, live & (place >= 0))
    tl.store(found + row.to(tl.int64) * hands + hand, total, live)


def collect(values, which, places, first, weights):
    _, ways, inside = values.shape
    boards, hands = len(first) - 1, places.shape[1]
    found = values.new_empty(boards, ways, hands, dtype=torch.float32)
    _collect[(boards * ways, triton.cdiv(hands, BLOCK))](
        values, which, places, first, weights, found, ways, hands, inside, BLOCK=BLOCK
    )  # fmt: skip
    return found


@triton.jit
def _compare(held, ranks, meets, wins, hands, size, BLOCK: tl.constexpr):
    board, row = tl.program_id(0) // size, tl.program_id(0) % size
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    live = column < tl.where(row < hands, hands, 0)
    mine = tl.load(held + board * hands + tl.minimum(row, hands - 1))
    other = tl.load(held + board * hands + column, live, 0)
    meet = tl.where(live & (mine & other == 0), 1.0, 0.0)
    rank = tl.load(ranks + board * hands + tl.minimum(row, hands - 1))
    gap = rank - tl.load(ranks + board * hands + column, live, 0)
    win = tl.where(gap > 0, meet, tl.where(gap < 0, -meet, 0.0))
    here = tl.program_id(0).to(tl.int64) * size + column
    tl.store(meets + here, meet, column < size)
    tl.store(wins + here, win, column < size)


def compare(held, ranks, size):
    """`compared` of boards of the last street, in half precision: [boards, size, size] each."""
    boards, hands = held.shape
    meets = torch.empty(boards, size, size, dtype=torch.float16, device=held.device)
    wins = torch.empty_like(meets)
    grid = (boards * size, triton.cdiv(size, BLOCK))
    _compare[grid](held, ranks, meets, wins, hands, size, BLOCK=BLOCK)
    return meets, wins
