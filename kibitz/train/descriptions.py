"""What `kibitz models` shows of a file of any format."""

from pathlib import Path

from ..core.names import BadInput, located
from ..core.tensor_files import Format, tensor_file_about
from ..games import load_stored
from ..nets.model_files import FORMATS, Description
from .learner import LEARNERS


def describe(path: Path) -> Description:
    """Describe a file of any registered format.

    Raises:
        BadInput: It is missing, damaged, of another format, or its game doesn't exist.
    """
    list(LEARNERS)  # imports every module that has a format
    about = tensor_file_about(path)
    found = about.get("format", "")
    if found not in FORMATS:
        Format("", "network").read(path)  # raises the reason, unless the format is empty
        raise BadInput(f"{path} is no network of Kibitz (its format is {found!r})")
    format, what = FORMATS[found]
    said = what(path)
    with located(path):
        load_stored(about["game"])
    return Description(about["game"], about["made"], said, format.player, format.search, path.stat().st_size)
