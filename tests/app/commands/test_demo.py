"""`kibitz demo` and `kibitz study`."""


def test_the_demo_trains_plays_and_suggests_what_to_try_next(kibitz, tmp_path):
    code, out, err = kibitz("demo", "--iterations", "10", "--simulations", "50", "--games", "20", "--out", "run")
    assert code == 0, err
    assert "after   320 games  NashConv" in err
    assert "against oos:1000" in out
    assert "kibitz play leduc --against net:run" in out
    assert (tmp_path / "run" / "nash_conv.png").stat().st_size > 1000


def test_a_study_writes_markdown_and_a_picture(kibitz, tmp_path):
    code, out, err = kibitz("study", "exit-oos", "figure-1", "--out", "study")
    assert code == 0, err
    assert "simulations" in out
    assert "kibitz study exit-oos figure-1 --scale quick" in (tmp_path / "study" / "figure-1-paper.md").read_text()
    assert (tmp_path / "study" / "figure-1-paper.png").stat().st_size > 1000


def test_bad_studies_are_refused_in_one_line(kibitz):
    for arguments, why in (
        (("table-9",), "no part of exit-oos is called 'table-9'"),
        (("table-1", "--scale", "huge"), "no scale is called 'huge'"),
        (("table-1", "--preset", "mine"), "no preset is called 'mine'"),
        (("table-1", "--seed", "-1"), "--seed should be at least 0"),
    ):
        code, _, err = kibitz("study", "exit-oos", *arguments)
        assert code == 2
        assert why in err
        assert "Traceback" not in err
