"""Slow tests that `make test` leaves to `make test-all`, and what guards the same behaviour in `make test`.

A key is the beginning of the name of a test, or of several.
"""

HEAVY = {
    "app/commands/test_demo.py::test_a_study_writes_markdown": "studies/",
    "app/commands/test_match.py::test_one_against_three_on_the_same_deals": "arena/test_match.py",
    "app/commands/test_train.py::test_a_network_learns_from_recorded_games": "learn/test_contract.py: cards, next-card",
    "app/commands/test_train.py::test_ctrl_c_prints_how_to_resume": "test_cli.py, test_expert_iteration.py",
    "arena/test_aivat.py::test_in_holdem_the_estimate_is_unbiased": "test_it_is_unbiased_where_seats_are_all_in",
    "arena/test_doppelkopf_session.py::test_any_number_of_processes_and_any_kill": "arena/test_resume.py",
    "arena/test_holdem_best_response.py::test_batches_and_processes_make_no_difference": "core/test_workers.py",
    "core/test_ray_cluster.py::test_a_second_cluster_waits": "test_a_node_that_is_killed_costs_no_task",
    "core/test_ray_cluster.py::test_training_on_two_nodes": "test_a_node_that_is_killed_costs_no_task",
    "core/test_ray_cluster.py::test_without_a_cluster_one_is_started": "test_a_node_that_is_killed_costs_no_task",
    "envs/test_vector.py::test_every_compiled_game_is": "test_compiled_games_are_those_of_the_rules",
    "learn/doppelkopf/test_cards.py::test_iteration_resumes_exactly": "learn/test_contract.py: exit-rollouts",
    "learn/doppelkopf/test_cards.py::test_only_one_seat_learns": "learn/test_contract.py: exit-rollouts",
    "learn/doppelkopf/test_cards.py::test_two_states_with_the_same_view": "players/test_no_peeking.py",
    "learn/doppelkopf/test_lstm_search.py::test_priors_are_the_predictions": "test_moves_are_legal_and_deterministic",
    "learn/doppelkopf/test_next_card.py::test_it_overfits": "learn/test_contract.py: next-card",
    "learn/test_expert_iteration.py::test_a_run_killed_at_random": "test_a_run_may_be_killed_before_and_within",
    "learn/test_expert_iteration.py::test_a_run_may_be_killed_before_and_within_any_write[checkpoints": "faults/",
    "players/test_defaults.py::test_a_game_of_three_seats": "search/test_mcts_seats.py",
    "search/test_lying_games.py::test_a_seat_too_many": "the other facts that lie",
    "search/test_mcts_seats.py::test_each_of_three_seats_gets_its_own_payoff[0-": "[21-",
    "search/test_mcts_seats.py::test_each_of_three_seats_gets_its_own_payoff[10-": "[21-",
    "studies/test_deep_cfr.py::test_the_thesis_and_its_ablation_share": "test_leduc_has_the_published_curves",
    "studies/test_exit_oos.py::test_a_table_has_the_papers_numbers_beside_ours_and_is_not_repeated[table-3": "[table-1",
    **{
        f"app/commands/test_explain.py::{test}[{game}": "tic_tac_toe"
        for test in (
            "test_contributions_sum_to_the_logits_of_the_players_policy",
            "test_the_largest_contributions_come_first_and_their_images_match",
            "test_frequencies_of_patterns_are_exact",
        )
        for game in ("breakthrough", "othello", "yavalath")
    },
    **{
        f"search/test_tactics.py::{test}[{game}": "tic_tac_toe, connect_four, breakthrough, hex"
        for test in (
            "test_alpha_beta_proves_that_the_move_wins_and_no_other",
            "test_uct_finds_the_only_move_that_wins",
        )
        for game in ("gomoku", "knightthrough", "othello", "teeko", "yavalath")
    },
}

# Tests of what is displayed: `make test` has one or two rows of each game (games/facts.py).
DISPLAYED = (
    "app/commands/test_play.py",
    "app/ui/test_terminal.py",
    "games/test_action_strings.py",
    "games/test_determinize.py",
    "games/test_state.py",
    "games/test_svg.py",
)
