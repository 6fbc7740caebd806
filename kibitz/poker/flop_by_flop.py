"""An exact best response flop by flop, as a measure of `kibitz exploit`."""

from typing import Any

from ..core.names import BadInput
from ..games import Game
from ..play.measures import Measure, measure


@measure("flops")
class FlopByFlop(Measure):
    about = "an exact best response in poker of any size, one flop after the other, in a run folder"

    def replaces_exact(self, game: Game, player: str, chosen: Any, given: dict[str, Any]) -> bool:
        from .app.exploit_exact import is_for_flops, is_run_folder

        if is_run_folder(player):
            return True
        return is_for_flops(game, chosen, {f"--{name}": given[name] for name in ("out", "flops", "device")})

    def run(self, game: Game, player: str, chosen: Any, given: dict[str, Any]) -> None:
        from .app.exploit_exact import is_for_flops, is_run_folder, measure_flops, show_run

        if is_run_folder(player):
            refused = ("out", "flops", "device", "seeds", "save", "processes")
            show_run(game, player, {f"--{name}": given[name] for name in refused}, given["json"])
            return
        is_for_flops(game, chosen, {"--with": "flops"})  # refuses what isn't measured so
        if given["save"] is not None:
            raise BadInput(
                f"--save {given['save']} is for players that are queried at every infoset, and {player} isn't"
            )
        for name in ("seeds", "processes"):
            if given[name] is not None:
                raise BadInput(f"--{name} {given[name]} is not for a best response flop by flop, which needs none")
        device = given["device"] or "cpu"
        measure_flops(game, player, chosen, given["flops"], given["seed"], device, given["out"], given["json"])
