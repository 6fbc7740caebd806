"""The study of Deep CFR at a tiny scale: every part runs, has the published numbers beside ours, shares training."""

import pytest

from kibitz.core.names import BadInput
from kibitz.core.runs import Run
from kibitz.poker import deep_cfr_study as deep_cfr
from kibitz.poker.deep_cfr_study import MODELS, PARTS, DeepCfrStudy, Scale
from kibitz.train.deep_cfr import config
from kibitz.train.deep_cfr.thesis_defects import DEFECTS


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setitem(deep_cfr.SCALES, "quick", Scale(2, 2, MODELS, 4, 3, 6, "for tests"))
    monkeypatch.setitem(config.THESIS, "hidden", "8")


def study(part, folder, **given):
    return DeepCfrStudy(part=part, out=folder, processes=1, device="cpu", **given)


def test_leduc_has_the_published_curves_beside_ours(tmp_path):
    report = study("leduc", tmp_path).run()
    assert [row[0] for row in report.rows] == ["2"]
    assert {"ours, seed 1", "ours, seed 2", *deep_cfr.PUBLISHED} == set(report.curves)
    mean, each = float(report.rows[0][1]), [float(value) for value in report.rows[0][2].split(", ")]
    assert mean == pytest.approx(sum(each) / 2, abs=1)
    assert 100 < mean < 3000
    assert study("leduc", tmp_path).run() == report  # nothing is repeated


def test_the_thesis_and_its_ablation_share_their_training(tmp_path):
    report = study("thesis", tmp_path).run()
    assert [row[:2] for row in report.rows] == [
        [name, str(model)] for name in ("faithful", "corrected") for model in range(1, 6)
    ]
    assert [row[2 + i % MODELS] for i, row in enumerate(report.rows)] == [""] * 10
    before = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*/network.safetensors")}
    assert len(before) == 2
    ablation = study("ablation", tmp_path).run()
    assert [row[0] for row in ablation.rows] == [
        *(f"{number + 1} {defect}" for number, defect in enumerate(DEFECTS)), "all seven", "none",
    ]  # fmt: skip
    assert all(path.stat().st_mtime_ns == time for path, time in before.items())


def test_unknown_parts_and_folders_of_other_runs_are_refused(tmp_path):
    with pytest.raises(BadInput, match="no part of deep-cfr is called 'leduk': did you mean 'leduc'"):
        study("leduk", tmp_path)
    Run.create(tmp_path / "leduc-best-1", "", {"command": "train", "method": "deep-cfr"})
    with pytest.raises(BadInput, match="holds another training run: give another folder with --out"):
        study("leduc", tmp_path).run()
    assert set(PARTS) == {"leduc", "thesis", "ablation"}
