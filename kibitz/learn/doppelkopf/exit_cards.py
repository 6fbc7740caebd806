"""Expert iteration on Doppelkopf: rollouts by the card networks are the expert, the networks the apprentice.

Workers play whole games by the policy network and estimate, for every legal card, the reward of playing it. The expert
rolls out on the true deal. Hidden information averages out over many games, as the network that learns from these
values sees no more than its seat: it does not learn the best card of each deal, but to maximize the mean of what it
gets (the objective of `tspg`).

All four seats learn, or one against three others whose networks are fixed, for a best response to players of whom
there are records.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, Any, NamedTuple

import numpy as np

from ...core.names import BadInput
from ...games import Game, full_name, load, positions
from ...games.doppelkopf.cards import KINDS
from ...games.doppelkopf.state import CARDS
from ...games.game import CHANCE, OVER
from ...jit import generators, kernel
from ...search.policies import Heuristic, choose
from ..method import Method
from ..model_files import network_file
from .card_network import CardNetwork, CardPolicy, PerSeatPolicy, card_policy, check_rules, read_card_network
from .recorded_games import NOTHING

Samples = dict[str, np.ndarray]
ALL = -1  # all seats learn
EVALUATION_SEED = 10**6  # the same deals for all networks
GAME_BYTES = 2700  # in a checkpoint: the actions of a game and the values of 48 cards


@dataclass(frozen=True)
class ExitCardsConfig:
    game: Annotated[str, "the game, with its parameters"]
    start: Annotated[str, "run of the learner cards whose networks it starts from"] = ""
    others: Annotated[str, "fixed networks of three seats, a run or file; none: all four seats learn"] = ""
    iterations: Annotated[int, "number of iterations of self-play and learning", range(1, 10**6)] = 100
    games: Annotated[int, "games of self-play per iteration", range(1, 10**7)] = 500
    plies: Annotated[int, "cards per rollout before the value network evaluates; 48: to the end", range(49)] = 48
    steps: Annotated[int, "gradient steps per iteration", range(1, 10**6)] = 25
    batch: Annotated[int, "games per minibatch", range(1, 10**6)] = 256
    positions: Annotated[int, "positions per game in a minibatch", range(1, 49)] = 8
    rate: Annotated[float, "initial learning rate of Adam; it decays linearly to a tenth"] = 0.001
    entropy: Annotated[float, "entropy bonus, in points per nat"] = 0.01
    capacity: Annotated[int, "games in the replay buffer: the latest", range(1, 10**8)] = 5000
    device: Annotated[str, "device of torch", ("auto", "cpu", "cuda")] = "auto"
    evaluate_every: Annotated[int, "iterations between evaluation matches; 0: never", range(10**7)] = 5
    evaluation_size: Annotated[int, "deals per evaluation match, each from four seats", range(1, 10**6)] = 2000
    keep_every: Annotated[int, "iterations between networks that are kept", range(1, 10**7)] = 10
    seed: Annotated[int, "random seed; the same seed gives the same run", range(2**63)] = 1


# ---------------------------------------------------------------- self-play


def self_play(config: ExitCardsConfig) -> Callable[[tuple[int, ...], CardNetwork], list[tuple[int, Samples]]]:
    """The function of a worker: numbers of games and networks -> the games and their action values."""
    game = load(config.game)
    others = card_policy(read_card_network(network_file(config.others))[0]) if config.others else None
    learner = np.zeros(1, np.int64)  # the seat that learns
    policies: list[tuple[CardNetwork, CardPolicy | PerSeatPolicy]] = []  # the last one, with its networks

    def play(numbers: tuple[int, ...], network: CardNetwork) -> list[tuple[int, Samples]]:
        if not policies or policies[0][0] is not network:
            own = card_policy(network)
            policies[:] = [(network, own if others is None else PerSeatPolicy(own, others, learner))]
        count = len(numbers)
        actions = np.full((count, game.facts.max_game_length), NOTHING, np.uint8)
        values = np.full((count, 48, KINDS), np.nan, np.float32)
        rngs = np.concatenate([generators(config.seed * 2**32 + number, 1) for number in numbers])
        wide = max(game.facts.num_actions, game.facts.max_chance_outcomes)
        room = np.zeros((2, wide), np.int64), np.zeros(wide), np.zeros(4)
        learners = np.array([ALL if others is None else number % 4 for number in numbers])
        play_games(
            game, policies[0][1], config.plies, positions(game, 2), *room, rngs, learners, learner, actions, values
        )
        return [
            (number, {"actions": actions[i : i + 1], "action_values": values[i : i + 1].astype(np.float16)})
            for i, number in enumerate(numbers)
        ]

    return play


@kernel
def play_games(game, policy, plies, states, room, probs, rewards, rngs, learners, learner, actions, values):
    """Play whole games by a policy; values[i, card, kind]: the mover's reward by every kind that it could play."""
    legal, later = room[0], room[1]
    for i in range(len(actions)):
        rng, state, done = rngs[i], states[0], 0
        learner[0] = learners[i]
        game.start(state)
        turn = game.turn(state)
        while turn != OVER:
            if turn == CHANCE:
                action = game.sample_action(state, rng)
            elif state.phase != CARDS:
                action = game.heuristic(state, rng)
            else:
                n = game.actions(state, legal)
                action = legal[0]
                if n > 1:
                    for k in range(n if learners[i] == ALL or learners[i] == turn else 0):
                        states[1] = state
                        values[i, state.count, legal[k]] = value_after(
                            game, states[1], legal[k], turn, policy, plies, later, probs, rewards, rng
                        )
                    policy.weigh(game, state, legal, n, probs)
                    action = legal[choose(probs, n, rng)]
            actions[i, done] = action
            done += 1
            game.play(state, action)
            turn = game.turn(state)


@kernel
def value_after(game, state, action, seat, policy, plies, legal, probs, rewards, rng):
    """Reward of a seat after an action and a rollout of some plies by a policy."""
    game.play(state, action)
    for _ in range(plies):
        if game.turn(state) == OVER:
            break
        game.play(state, policy.step(game, state, legal, probs, rng))
    if game.turn(state) == OVER:
        return game.reward(state, seat)
    policy.evaluate(game, state, 0, legal, probs, rng, rewards)
    return rewards[seat]


# ---------------------------------------------------------------- evaluation


class Points(NamedTuple):
    mean: float  # per game
    error: float  # standard error over deals


def evaluate_policy(game: Game, policy: CardPolicy, deals: int, seed: int, others: Any = None) -> Points:
    """Points of a policy against three `others` (a policy; none: the heuristic), each deal from all four seats."""
    wide = max(game.facts.num_actions, game.facts.max_chance_outcomes)
    scores, legal, probs = np.zeros(deals), np.zeros(wide, np.int64), np.zeros(wide)
    others = Heuristic() if others is None else others
    play_deals(game, policy, others, positions(game), legal, probs, generators(seed, deals), scores)
    return Points(float(scores.mean()), float(scores.std() / math.sqrt(deals)))


@kernel
def play_deals(game, policy, others, states, legal, probs, rngs, scores):
    """scores[deal]: mean over the four seats of the policy, all with the same chance outcomes."""
    state = states[0]
    for deal in range(len(scores)):
        one, two = rngs[deal, 0], rngs[deal, 1]
        for seat in range(4):
            rng = rngs[deal]
            rng[0], rng[1] = one, two
            game.start(state)
            turn = game.turn(state)
            while turn != OVER:
                if turn == CHANCE:
                    action = game.sample_action(state, rng)
                elif turn == seat and state.phase == CARDS:
                    action = policy.step(game, state, legal, probs, rng)
                elif state.phase == CARDS:
                    action = others.step(game, state, legal, probs, rng)
                else:
                    action = game.heuristic(state, rng)
                game.play(state, action)
                turn = game.turn(state)
            scores[deal] += game.payoff(state, seat) / 4.0


# ---------------------------------------------------------------- learner
PRESETS = {"kibitz": "what we found to be good", "small": "a minute, to see that it works"}
VALUES: dict[str, dict[str, Any]] = {
    "kibitz": {},
    "small": {"iterations": 2, "games": 100, "steps": 10, "batch": 16, "keep_every": 1},
}


def started(config: ExitCardsConfig) -> CardNetwork:
    network, about = read_card_network(network_file(config.start))
    if about.game != full_name(load(config.game)):
        raise BadInput(f"start={config.start} plays {about.game}, not {full_name(load(config.game))}")
    return network


def refuse(config: ExitCardsConfig, game: Game) -> None:
    check_rules(game)
    if not config.start:
        raise BadInput("--start is missing: a run of kibitz train cards, whose networks it begins with")
    started(config)
    if config.others:
        check_rules(game, read_card_network(network_file(config.others))[1])
    if not 0 < config.rate < 1:
        raise BadInput(f"rate={config.rate} should be above 0 and below 1")
    if not 0 <= config.entropy <= 100:
        raise BadInput(f"entropy={config.entropy} should be from 0 to 100")
    if config.device == "cuda":
        from ..torch_mlp import pick_device

        pick_device(config.device, large=True)


def learner(config: ExitCardsConfig, game: Game) -> Any:
    from .card_apprentice import CardApprentice

    return CardApprentice(config, game, started(config))


def evaluate(config: ExitCardsConfig, game: Game) -> Callable[[CardNetwork], dict[str, float]]:
    """Points a game against three who play as is usual, or against those that it learns to meet."""
    if not config.evaluate_every:
        return lambda network: {}

    others = card_policy(read_card_network(network_file(config.others))[0]) if config.others else None

    def measured(network: CardNetwork) -> dict[str, float]:
        found = evaluate_policy(game, card_policy(network), config.evaluation_size, EVALUATION_SEED, others)
        return {"points": found.mean, "points_error": found.error}

    return measured


def probe(config: ExitCardsConfig) -> tuple[ExitCardsConfig, float]:
    steps = min(config.steps, 3)
    return replace(config, steps=steps), config.steps / steps


def size(config: ExitCardsConfig, game: Game, knowledge: CardNetwork, rows: Any) -> int:
    weights = sum(array.nbytes for layers in knowledge for layer in layers for array in layer)
    kept = config.iterations // config.keep_every + 2
    return kept * weights + 3 * weights + min(config.capacity, config.iterations * config.games) * GAME_BYTES


METHOD = Method(
    config=ExitCardsConfig,
    about="Expert iteration on Doppelkopf: looking ahead by networks plays, and the networks learn from it.",
    examples=("doppelkopf:thesis --start runs/doppelkopf-cards-001",),
    presets=PRESETS,
    preset=lambda game, name: VALUES[name],
    refuse=refuse,
    learner=learner,
    self_play=self_play,
    tasks=lambda config, game, workers: min(config.games, 8 * workers),
    evaluate=evaluate,
    probe=probe,
    size=size,
    player="doko",
)
