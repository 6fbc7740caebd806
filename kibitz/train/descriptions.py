"""What `kibitz models` shows of a file of any format."""

from pathlib import Path

from ..core.files import read_tensors, tensor_file_format
from ..core.names import BadInput
from ..games import load_stored
from ..nets.model_files import FORMATS, Description
from .learner import LEARNERS


def describe(path: Path) -> Description:
    """Describe a file of any registered format.

    Raises:
        BadInput: It is missing, damaged, of another format, or its game doesn't exist.
    """
    list(LEARNERS)  # imports every module that has a format
    found = tensor_file_format(path)
    if found not in FORMATS:
        read_tensors(path, "", "network")  # raises the reason, unless the format is empty
        raise BadInput(f"{path} is no network of Kibitz (its format is {found!r})")
    described = FORMATS[found](path)
    try:
        load_stored(described.game)
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from None
    return described._replace(bytes=path.stat().st_size)
