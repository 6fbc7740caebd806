"""Tests that need what a system lacks, and what that is. Everything else runs on Linux, macOS and Windows alike.

A key is a file, or the beginning of the name of a test, or of several.
"""

WINDOWS = "win32"
LINUX = "linux"

# Files that import what Windows lacks: the module `resource`, or OpenSpiel, whose wheels aren't relied on there.
UNREADABLE_ON_WINDOWS = (
    "core/test_memory.py",
    "faults/test_faults.py",
    "fuzz/test_command_line.py",
    "fuzz/test_files.py",
    "fuzz/test_names.py",
    "games/test_hex.py",
    "games/test_holdem.py",
    "games/test_holdem_evaluator.py",
    "search/test_against_openspiel.py",
)

NOT_ON_WINDOWS = {
    "app/commands/test_play.py::test_a_person_plays_at_a_terminal": "terminals of POSIX",
    "app/commands/test_play.py::test_ctrl_c_leaves_with_one_line": "terminals of POSIX",
    "app/commands/test_serve.py::test_refusals[arguments7": "/dev/null",
    "app/test_cli.py::test_bad_input_is_reported_in_one_line[bench magic": "OpenSpiel",
    "app/test_cli.py::test_bench_measures": "OpenSpiel",
    "app/test_cli.py::test_bench_works": "OpenSpiel",
    "app/test_cli.py::test_every_benchmark_runs": "OpenSpiel",
    "app/test_streams.py::test_a_file_is_never_opened_in_place_of_a_missing_stream": "closed streams of a shell",
    "app/test_streams.py::test_an_error_of_the_system_names_its_file": "paths of POSIX",
    "app/test_streams.py::test_an_interrupt_that_foreign_code_swallows": "SIGINT to oneself",
    "app/test_streams.py::test_without_standard_input": "closed streams of a shell",
    "app/web/test_store.py::test_a_process_killed_in_the_middle_of_a_move": "SIGSTOP",
    "app/web/test_workers.py::test_a_killed_process_is_replaced": "SIGKILL",
    "app/web/test_workers.py::test_a_server_with_processes_plays_on_after_a_kill": "SIGKILL",
    "app/web/test_workers.py::test_a_silent_process_is_replaced": "SIGSTOP",
    "core/test_files.py::test_a_pipe_or_device_is_written_to": "named pipes",
    **{
        f"games/test_{game}.py::test_random_games_agree_with_openspiel": "OpenSpiel"
        for game in ("breakthrough", "connect_four", "gomoku", "oracles", "othello", "tic_tac_toe")
    },
    "games/test_breakthrough.py::test_openspiel_counts": "OpenSpiel",
    "games/test_oracles.py::test_many_random_games": "OpenSpiel",
    "jit/test_compiler.py::test_a_folder_of_another_user_is_not_used": "owners of files",
    "players/test_contract.py::test_every_player_keeps_the_contract[openspiel-bot": "OpenSpiel",
    "players/test_no_peeking.py::test_no_player_peeks[openspiel-bot": "OpenSpiel",
    "players/test_no_peeking.py::test_no_player_peeks_in_any_game[openspiel-bot": "OpenSpiel",
    "search/test_solutions.py::test_cfr_equals_openspiels": "OpenSpiel",
    "search/test_solutions.py::test_uniform_nashconv_and_value_equal_openspiels": "OpenSpiel",
}

ONLY_ON_LINUX = {
    "app/test_streams.py::test_output_that_cannot_be_written": "/dev/full",
    "app/test_streams.py::test_results_stay_when_they_cannot_be_printed": "/dev/full",
    "core/test_memory.py::test_fifty_million_simulations": "/proc",
    "core/test_memory.py::test_the_peak_of_this_process": "kilobytes of getrusage",
    "faults/test_faults.py": "kilobytes of getrusage, and limits of file sizes",
    "fuzz/": "kilobytes of getrusage",
}


def lacking(place: str, system: str) -> str:
    """Why a test, such as `core/test_files.py::test_it`, can't run on a system of `sys.platform`; empty: it can."""
    tables = [ONLY_ON_LINUX] * (system != LINUX) + [NOT_ON_WINDOWS] * (system == WINDOWS)
    return next((why for table in tables for key, why in table.items() if place.startswith(key)), "")
