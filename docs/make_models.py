"""Writes `models.md`, the cards of the models that ship, from what their files say."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kibitz.app.commands.models import lines
from kibitz.app.index import index

FILE = Path(__file__).with_name("models.md")
INTRODUCTION = """\
# Models

The trained networks and pattern features that ship with Kibitz, each with its card: what it plays, how it was \
trained, and what was measured. `kibitz models` lists them, `kibitz models leduc` shows the card of one. This page is \
generated from the files by `python docs/make_reference.py`; the preset that commands call `kibitz` is `best` now.

Intervals are 95% intervals. NashConv is the sum over seats of what a best response gains; exploitability is NashConv \
divided by the number of seats. The rules stamp is a fingerprint of turns, legal actions and payoffs in three games: \
where `kibitz.nets.model_cards.rules_stamp(game)` gives another one, the rules have changed since the card was written.

A model is a safetensors file; its card is JSON in the metadata, under `about` and then `card`:

```python
import json

from safetensors import safe_open

from kibitz.nets.model_files import network_file

with safe_open(network_file("models/leduc"), "numpy") as file:
    about = json.loads(file.metadata()["about"])
print(about["game"], about["card"]["exploitability"])
```

`kibitz.nets.model_cards` reads a card (`read_card`) and writes one (`write_card`), also into a network of your own; \
the tensors stay as they are, byte by byte.
"""
CODE = {"trained by", "play it", "rules stamp", "game", "model"}


def page() -> str:
    """The page in Markdown."""
    models = index()["models"]
    table = ["| model | game | bytes | exploitability |", "|---|---|---|---|"]
    for model in models:
        link = f"[`{model['network']}`](#{_anchor(model['network'])})"
        known = model.get("exploitability", "unknown")
        table.append(f"| {link} | `{model['game']}` | {model['bytes']:,} | {known} |")
    cards = [line for model in models for line in _card(model)]
    return "\n".join([INTRODUCTION, *table, *cards]) + "\n"


def _card(model: dict[str, Any]) -> Iterator[str]:
    yield from ("", f"## {model['network']}", "", "| | |", "|---|---|")
    for head, value in lines(model):
        if head == "more" and value.startswith("docs/"):
            value = f"[{value}]({value.removeprefix('docs/')})"
        elif head in CODE:
            value = f"`{value}`"
        yield f"| {head} | {value.replace('|', '&#124;')} |"


def _anchor(title: str) -> str:
    """The name of a heading, as GitHub makes it."""
    return "".join(letter for letter in title if letter.isalnum() or letter in "-_")
