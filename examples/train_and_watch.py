"""Train a network by expert iteration, watch its exploitability fall, and ask it for advice.

Run it: python examples/train_and_watch.py
"""

import tempfile
from pathlib import Path

import kibitz
from kibitz.core.progress import Reporter


class Watch(Reporter):
    """Prints a line per iteration; a live plot, or a chat message, could stand here."""

    iteration = ""

    def progress(self, done, total=None, note=""):
        iteration, *rest = note.split("  ")
        if iteration != self.iteration:
            self.iteration = iteration
            print(", ".join([iteration, *rest]))


def main(game="leduc", folder=None, **options):
    folder = Path(folder or tempfile.mkdtemp(prefix="kibitz-"))
    options = {"preset": "small", "iterations": 20, "simulations": 2000} | options
    run = kibitz.train("exit-oos", game, out=folder / "run", report=Watch(), **options)
    for line in run.metrics:
        if "nash_conv" in line:
            print(f"after {line['games']:>5,} games: NashConv {line['nash_conv']:.3f}")
    run.plot(path=folder / "training.png")
    print(f"plot: {folder / 'training.png'}")
    print(f"NashConv of the network: {kibitz.exploit(game, run.player()).nash_conv:.3f}")
    print(kibitz.match(game, [run.player(), "random"], games=200))
    state = run.game.initial(seed=1).deal()
    print(state.view(state.turn), kibitz.advise(game, state, run.player()), sep="\n")
    print(f"it plays: kibitz play {game} --against net:{run.folder}")
    return run


if __name__ == "__main__":
    main()
