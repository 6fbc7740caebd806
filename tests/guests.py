"""Which files of the package belong to a guest.

A guest is a folder of the package with a file `plugin.py`. Its files that still lie in general rooms are listed here,
by folder; when they have moved into the guest's folder, this list is empty.
"""

PLACES = {
    "arena": (
        "acpc_client acpc_dealer acpc_lines aivat doppelkopf_session exact_runs flop_by_flop flop_sample "
        "holdem_best_response holdem_lbr"
    ),
    "app/commands": "abstract acpc dealer exploit_exact ranges session solve_boards",
    "app/ui": "range_grid range_plot",
    "games/doppelkopf": "",  # the whole folder
    "games/holdem": "",
    "learn": (
        "card_network cfr_br nearest_centers nearest_centers_kernel pcs_runs pcs_solvers public_best_response "
        "public_chance public_chance_kernels public_levels public_replies public_streets public_tree_cfr torch_subgame"
    ),
    "learn/deep_cfr": "distill holdem network_best_response table_samples unpacking",
    "learn/doppelkopf": "",
    "players": (
        "doppelkopf doppelkopf_beliefs holdem holdem_beliefs holdem_insight holdem_measured holdem_ranges resolve"
    ),
    "search": "policy_announcements",
    "search/public_chance": "",
    "studies": "deep_cfr doppelkopf_ablation doppelkopf_thesis",
}


def is_of_a_guest(place, guests):
    """Whether a file, or a name in one, belongs to a guest: by its path in the package, `games/holdem/rules`."""
    roots = [*guests]
    for folder, names in PLACES.items():
        roots += [f"{folder}/{name}" for name in names.split()] or [folder]
    return any(place == root or place.startswith(f"{root}/") for root in roots)
