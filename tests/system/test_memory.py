"""When Python looks for garbage."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import gc
from trainyard.system import memory

searched = []
gc.callbacks.append(lambda phase, about: searched.append(phase))
with memory.uncollected():
    searched.clear()
    kept = [[] for _ in range(100 * gc.get_threshold()[0])]
few = [[] for _ in range(gc.get_threshold()[0] // 2)]
print(searched, gc.isenabled(), gc.get_freeze_count())
"""


def test_what_was_made_while_no_garbage_was_looked_for_is_not_searched_after_it() -> None:
    """What is left behind counts as old: the next search does not go through all of it, and nothing stays frozen."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert done.stdout == "[] True 0\n"
