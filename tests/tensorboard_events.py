"""What TensorBoard is shown of a run."""

from tensorboard.backend.event_processing.event_file_loader import RawEventFileLoader
from tensorboard.compat.proto.event_pb2 import Event


def shown(run):
    """(step, metric, value) in all event files."""
    found = []
    for path in sorted(run.folder.glob("events.out.tfevents.*")):
        for raw in RawEventFileLoader(str(path)).Load():
            event = Event.FromString(raw)
            found += [(event.step, value.tag, value.simple_value) for value in event.summary.value]
    return found
