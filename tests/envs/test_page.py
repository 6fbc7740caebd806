"""The learner of docs/environments.md learns."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "environments.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
LEARNER = next(block for block in BLOCKS if "torch" in block)


def test_the_learner_learns():
    scope: dict = {}
    exec(LEARNER.replace("range(150)", "range(40)"), scope)
    assert scope["after"].payoff.mean > scope["before"].payoff.mean + 0.4
    code = [line for line in LEARNER.splitlines() if line.strip()]
    assert len(code) <= 40
