"""A program hears that it is to end, whatever it is about to do."""

from __future__ import annotations

import subprocess
import sys

import pytest

from conftest import ROOT

WAITS = """
import os, signal, threading, time
from contract import End

def tell():
    time.sleep(0.0003)
    os.kill(os.getpid(), signal.SIGTERM)

for _ in range(ROUNDS):
    end, other = End(), threading.Thread(target=tell)
    other.start()
    while not end.told(within=WITHIN):
        pass
    other.join()
    assert 0 < end.left(30) <= 30
print("heard")
"""


@pytest.mark.parametrize(("within", "rounds"), [("0", "200"), ("1", "20")])
def test_the_end_is_heard_at_any_instruction(within, rounds):
    """SIGTERM that comes while the program begins to wait for it is neither lost nor holds the program for good."""
    words = [sys.executable, "-c", WAITS.replace("WITHIN", within).replace("ROUNDS", rounds)]
    done = subprocess.run(
        words, cwd=ROOT / "jobs" / "programs", capture_output=True, text=True, timeout=100, check=False
    )
    assert done.stdout == "heard\n", done.stderr


def test_a_child_that_is_told_to_end_does_not_end_its_parent():
    """A worker that loads data inherits the handler, and is ended by the program itself."""
    text = """
import os, signal
from contract import End

end = End()
child = os.fork()
if child == 0:
    os.kill(os.getpid(), signal.SIGTERM)
    os._exit(int(end.told()))
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), end.told(within=0.01))
"""
    words = [sys.executable, "-c", text]
    done = subprocess.run(
        words, cwd=ROOT / "jobs" / "programs", capture_output=True, text=True, timeout=100, check=False
    )
    assert done.stdout == "1 False\n", done.stderr
