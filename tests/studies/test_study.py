"""The contract of all studies, found by the registry."""

from dataclasses import fields

import pytest

from kibitz.core import names
from kibitz.reproduce.report import Report
from kibitz.reproduce.study import STUDIES

SCALES = ["quick", "half", "paper"]


def test_studies_are_found_by_name():
    assert list(STUDIES) == ["deep-cfr", "doko", "doppelkopf", "exit-oos", "tspg"]
    with pytest.raises(names.BadInput, match="no study is called 'exit': did you mean 'exit-oos'"):
        STUDIES["exit"]


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_describes_itself(name):
    study = STUDIES[name]
    assert study.name == name
    assert f"Example: kibitz study {name} " in study.__doc__
    assert all(callable(getattr(study, f"report_{part.replace('-', '_')}")) for part in study.parts)
    assert list(study.scales) == SCALES
    assert all(text for text in [*study.parts.values(), *(scale.what for scale in study.scales.values())])
    hints = names.hints(study)
    assert [field.name for field in fields(study) if not hints[field.name][1]] == ["part", "scale"]


def test_a_report_is_written_as_markdown(tmp_path):
    path = Report("Table 1", ["a", "b"], [["1", "2"]], ["A note."]).write(tmp_path, "table-1", "kibitz study", "quick")
    assert path.read_text() == (
        "### Table 1\n\n```\nkibitz study\n```\n\nScale: quick.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- A note.\n"
    )


def test_the_command_names_everything_that_decides_the_result(tmp_path):
    study = STUDIES["tspg"](part="table-1", game=["hex:7", "othello"], out=tmp_path, processes=2, unvisited="mixed")
    assert study.command() == (
        "kibitz study tspg table-1 --scale quick --seed 1 --game hex:size=7 --game othello --preset paper "
        "--features faithful --repetitions 2 --unvisited mixed"
    )
    assert study.file_name() == "table-1-paper-faithful-mixed"
