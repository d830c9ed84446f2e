"""What starts a container as a plain process, and ends all that comes of it, also what has left its session.

A program of its own, which knows nothing of the package: `python -I -S tend.py COMMAND...`. It ends as the command
does, and then nothing that the command has started is left, as in a container whose first process has ended. SIGTERM
is handed to the command alone; SIGHUP ends everything at once, and comes too when whoever started this is gone.
Facts: PR_SET_CHILD_SUBREAPER(2const), PR_SET_PDEATHSIG(2const), proc_pid_stat(5).
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress

DEATH_SIGNAL, SUBREAPER = 1, 36
IS_LINUX = sys.platform == "linux"
KILLED = 128 + signal.SIGKILL
PATIENCE_SECONDS, TICK_SECONDS = 10.0, 0.01
"""How long what is killed may take to be gone, and between two looks."""

NOT_FOUND, NOT_STARTED = 127, 126
"""Exit codes of a shell for what is not there, and for what cannot be started."""


def main(command: Sequence[str]) -> int:
    """Start the command, wait for its end, end what is left, and return its exit code."""
    told, ending = (signal.SIGTERM, signal.SIGINT), signal.SIGHUP
    signal.pthread_sigmask(signal.SIG_BLOCK, (*told, ending))
    parent = os.getppid()
    if IS_LINUX:
        control(SUBREAPER, 1)
        control(DEATH_SIGNAL, ending)
        if os.getppid() != parent:
            return KILLED
    child = os.fork()
    if child == 0:
        start(command)

    def end(_number: int, _frame: object) -> None:
        signal.signal(ending, signal.SIG_IGN)
        raise KeyboardInterrupt

    try:
        for number in told:
            signal.signal(number, lambda number, _: send(child, number))
        signal.signal(ending, end)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, (*told, ending))
        code = wait_for(child)
        signal.signal(ending, signal.SIG_IGN)
    except KeyboardInterrupt:
        code = KILLED
    end_all()
    return code


def control(option: int, value: int) -> None:
    """Set an attribute of this process; a system that refuses it leaves more behind."""
    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def start(command: Sequence[str]) -> None:
    """Become the command, in a session of its own."""
    try:
        os.setsid()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        if IS_LINUX:
            control(DEATH_SIGNAL, signal.SIGKILL)
        os.execvp(command[0], list(command))
    except OSError as error:
        print(f"cannot start {command[0]}: {error.strerror}", file=sys.stderr, flush=True)
        os._exit(NOT_FOUND if isinstance(error, FileNotFoundError) else NOT_STARTED)


def send(process: int, number: int) -> None:
    """Send a signal to a process, if it is still there."""
    with suppress(ProcessLookupError, PermissionError):
        os.kill(process, number)


def wait_for(child: int) -> int:
    """Return the exit code of the command; what is orphaned in between ends here."""
    while True:
        process, status = os.wait()
        if process == child:
            code = os.waitstatus_to_exitcode(status)
            return 128 - code if code < 0 else code


def end_all() -> None:
    """End whatever comes of this process, until nothing does, or what is left is somebody else's."""
    until = time.monotonic() + PATIENCE_SECONDS
    with suppress(ChildProcessError):
        while time.monotonic() < until:
            for process in below(os.getpid()):
                send(process, signal.SIGKILL)
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
            time.sleep(TICK_SECONDS)


def below(root: int) -> Iterator[int]:
    """Yield the processes that come of one, as far as their parents live; on Linux that is all of them."""
    children: dict[int, list[int]] = {}
    for process, parent in processes():
        children.setdefault(parent, []).append(process)
    left = children.get(root, [])
    while left:
        process = left.pop()
        yield process
        left += children.get(process, [])


def processes() -> Iterator[tuple[int, int]]:
    """Yield every process of this machine with its parent."""
    if not IS_LINUX:
        listed = subprocess.run(["/bin/ps", "-axo", "pid=,ppid="], capture_output=True, text=True, check=False)
        for line in listed.stdout.splitlines():
            process, parent = line.split()
            yield int(process), int(parent)
        return
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError), open(f"/proc/{name}/stat") as file:
            yield int(name), int(file.read().rpartition(")")[2].split()[1])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
