"""For all tests."""

import os
import signal

os.environ.setdefault("OMP_NUM_THREADS", "1")  # small networks: threads of several processes would only wait

# A shell starts what runs in the background with Ctrl-C ignored, and children inherit that: the tests of
# Ctrl-C must not depend on how they were started.
signal.signal(signal.SIGINT, signal.default_int_handler)
