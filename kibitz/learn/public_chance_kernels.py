"""The two steps at a node of the public tree on a GPU, each fused into one Triton kernel.

Tensors are [boards, ways, hands], and with one plane per action [actions, boards, ways, hands]. Hands of one bucket add
to the same entry of a table, in no fixed order: two runs agree up to rounding. Programs of one way follow
each other, so that its entries stay in the cache.
"""

import torch
import triton
import triton.language as tl

BLOCK = 256


@triton.jit
def _choose(
    regrets, sums, buckets, reach, strategy, after, boards, ways, hands, count, plane, average,
    N: tl.constexpr, ADD: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    way, board = tl.program_id(0) // boards, tl.program_id(0) % boards
    hand = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    live = hand < hands
    bucket = tl.load(buckets + board * hands + hand, live, 0)
    entry = (way * count + bucket).to(tl.int64) * N
    here = (board * ways + way).to(tl.int64) * hands + hand
    mine = tl.load(reach + here, live, 0.0)
    total = tl.zeros([BLOCK], tl.float32)
    for a in tl.static_range(N):
        total += tl.maximum(tl.load(regrets + entry + a, live, 0.0), 0.0)
    for a in tl.static_range(N):
        positive = tl.maximum(tl.load(regrets + entry + a, live, 0.0), 0.0)
        chosen = tl.where(total > 0, positive / total, 1.0 / N)
        tl.store(strategy + a * plane + here, chosen, live)
        tl.store(after + a * plane + here, mine * chosen, live)
        if ADD:
            tl.atomic_add(sums + entry + a, average * mine * chosen, live & (mine > 0), sem="relaxed")


@triton.jit
def _update(
    regrets, buckets, strategy, own0, own1, own2, other0, other1, other2, scale0, scale1, scale2, back0, back1, back2,
    value, other, boards, ways, hands, count, plane, weight, N: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    way, board = tl.program_id(0) // boards, tl.program_id(0) % boards
    hand = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    live = hand < hands
    bucket = tl.load(buckets + board * hands + hand, live, 0)
    entry = (way * count + bucket).to(tl.int64) * N
    here = (board * ways + way).to(tl.int64) * hands + hand
    x0 = tl.load(own0 + here, live, 0.0) * tl.load(scale0 + way)
    x1 = tl.load(own1 + here, live, 0.0) * tl.load(scale1 + way)
    mean = x0 * tl.load(strategy + here, live, 0.0) + x1 * tl.load(strategy + plane + here, live, 0.0)
    rest = tl.load(other0 + here, live, 0.0) * tl.load(back0 + way)
    rest += tl.load(other1 + here, live, 0.0) * tl.load(back1 + way)
    if N == 3:
        x2 = tl.load(own2 + here, live, 0.0) * tl.load(scale2 + way)
        mean += x2 * tl.load(strategy + 2 * plane + here, live, 0.0)
        rest += tl.load(other2 + here, live, 0.0) * tl.load(back2 + way)
        tl.atomic_add(regrets + entry + 2, weight * (x2 - mean), live, sem="relaxed")
    tl.atomic_add(regrets + entry, weight * (x0 - mean), live, sem="relaxed")
    tl.atomic_add(regrets + entry + 1, weight * (x1 - mean), live, sem="relaxed")
    tl.store(value + here, mean, live)
    tl.store(other + here, rest, live)


def choose(regrets, sums, buckets, reach, n, count, average):
    """Regret matching and the mover's reach after each action, both [actions, boards, ways, hands]."""
    boards, ways, hands = reach.shape
    strategy = reach.new_empty(n, boards, ways, hands)
    after = torch.empty_like(strategy)
    grid = (boards * ways, triton.cdiv(hands, BLOCK))
    _choose[grid](
        regrets, sums, buckets, reach, strategy, after, boards, ways, hands, count, reach.numel(), float(average),
        N=n, ADD=average > 0, BLOCK=BLOCK,
    )  # fmt: skip
    return strategy, after


def update(regrets, buckets, strategy, seat, children, count, weight):
    """Add to the regrets; return the mover's value and the other's. `children`: by action ((value, scale), ...)."""
    n, boards, ways, hands = strategy.shape
    value, other = strategy.new_empty(boards, ways, hands), strategy.new_empty(boards, ways, hands)
    own = [child[seat] for child in children] + [children[0][seat]] * (3 - n)
    rest = [child[1 - seat] for child in children] + [children[0][1 - seat]] * (3 - n)
    grid = (boards * ways, triton.cdiv(hands, BLOCK))
    _update[grid](
        regrets, buckets, strategy, *(x[0] for x in own), *(x[0] for x in rest), *(x[1] for x in own),
        *(x[1] for x in rest), value, other, boards, ways, hands, count, value.numel(), float(weight), N=n, BLOCK=BLOCK,
    )  # fmt: skip
    return value, other


@triton.jit
def _follow(probs, buckets, reach, after, boards, ways, hands, count, plane, N: tl.constexpr, BLOCK: tl.constexpr):
    way, board = tl.program_id(0) // boards, tl.program_id(0) % boards
    hand = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    live = hand < hands
    bucket = tl.load(buckets + board * hands + hand, live, 0)
    entry = (way * count + bucket).to(tl.int64) * N
    here = (board * ways + way).to(tl.int64) * hands + hand
    mine = tl.load(reach + here, live, 0.0)
    for a in tl.static_range(N):
        tl.store(after + a * plane + here, mine * tl.load(probs + entry + a, live, 0.0), live)


def follow(probs, buckets, reach, n, count):
    """The mover's reach after each action, [actions, boards, ways, hands]."""
    boards, ways, hands = reach.shape
    after = reach.new_empty(n, boards, ways, hands)
    grid = (boards * ways, triton.cdiv(hands, BLOCK))
    _follow[grid](probs, buckets, reach, after, boards, ways, hands, count, reach.numel(), N=n, BLOCK=BLOCK)
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
    best = tl.load(own0 + here, live, 0.0) * tl.load(scale0 + way)
    second = tl.load(own1 + here, live, 0.0) * tl.load(scale1 + way)
    chosen = tl.where(second > best, 1, 0)
    best = tl.maximum(best, second)
    rest = tl.load(other0 + here, live, 0.0) * tl.load(back0 + way)
    rest += tl.load(other1 + here, live, 0.0) * tl.load(back1 + way)
    if N == 3:
        third = tl.load(own2 + here, live, 0.0) * tl.load(scale2 + way)
        chosen = tl.where(third > best, 2, chosen)
        best = tl.maximum(best, third)
        rest += tl.load(other2 + here, live, 0.0) * tl.load(back2 + way)
    tl.store(value + here, best, live)
    tl.store(other + here, rest, live)
    if KEEP:
        tl.store(action + here, chosen.to(tl.int8), live)


def respond(seat, children):
    """The mover's best value, and the other's value."""
    value, other, _ = _responded(seat, children, False)
    return value, other


def answer(seat, children):
    """The same, and the best action of each hand, [boards, ways, hands] i1."""
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
    """The mover's reach after each action if each hand does what it answered, [actions, boards, ways, hands]."""
    boards, ways, hands = reach.shape
    after = reach.new_empty(n, boards, ways, hands)
    _obey[(boards * ways, triton.cdiv(hands, BLOCK))](action, reach, after, hands, reach.numel(), N=n, BLOCK=BLOCK)
    return after
