"""Runs programs that make jobs under a kernel that lacks some calls, as in a container that forbids them.

`python confined.py CALL...` reads the programs from standard input and writes what the process that ran them says.
"""

import ctypes
import errno
import json
import os
import sys

from trainyard.base.system.trust import unsafe
from trainyard.specs.reading import python_jobs
from trainyard.specs.reading.programs import kernel, seccomp


def without(*calls):
    """Refuse these calls to this process and all that it starts; `capabilities` are what an ordinary user lacks."""
    kernel.no_new_privileges()
    if "capabilities" in calls:
        kernel.drop_capabilities()
    calls = [call for call in calls if call != "capabilities"]
    numbers = [kernel.SAME.get(call) or kernel.NUMBERS[kernel.machine()][call] for call in calls]
    steps = [seccomp.step(seccomp.LOAD, seccomp.NUMBER)]
    for number in numbers:
        steps += seccomp.on(number, [seccomp.step(seccomp.RETURN, seccomp.ERROR | errno.EPERM)])
    code = b"".join([*steps, seccomp.step(seccomp.RETURN, seccomp.ALLOW)])
    kernel.call("prctl", kernel.PR_SET_SECCOMP, kernel.SECCOMP_FILTER, seccomp._Program(len(code) // 8, code), 0, 0)


def main():
    """Run the programs, and print a line of JSON: this process, and what was answered to each or why none was run."""
    programs = [(file, text.encode()) for file, text in json.load(sys.stdin)]
    ctypes.CDLL(None)
    without(*sys.argv[1:])
    try:
        lines = python_jobs.ask_process(programs, "other", unsafe=unsafe())
        answers = [json.loads(line)["hashed"] for line in lines]
    except kernel.RefusedError as error:
        answers = str(error)
    sys.stdout.write(json.dumps({"process": os.getpid(), "answers": answers}))


if __name__ == "__main__":
    main()
