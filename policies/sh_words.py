"""A shell gets its script as one text, with each option of a program as a word of its own.

Why: A shell takes the one text behind -c as its script. Those after it are $0, $1 and so on. A backslash in front of a
 blank makes the blank a part of the next word. The program starts without its options.
Fix: write the script as one text behind -c. Where lines end with a backslash, use `|` in YAML, as `>` joins them.
Source: POSIX.1-2024 Shell Command Language 2.2.1, sh; YAML 1.2.2 section 8.1.3, folded style
"""

import re
from collections.abc import Iterator

from trainyard.checks import Problem, World, shells

PROGRAM = re.compile(r"(?:[\w./-]*/)?(?:python(?:3(?:\.\d+)?)?|torchrun|accelerate|deepspeed|mpirun|horovodrun)")
"""A program that trains nothing without arguments."""

TRAINS = re.compile(r"\b(?:python3?|torchrun|accelerate|deepspeed|mpirun|horovodrun)\s")

JOINED = re.compile(r"\\[ \t]+(-{1,2}[A-Za-z][\w-]*)")
"""A backslash and blanks in front of an option."""


def check(world: World) -> Iterator[Problem]:
    """Look at the scripts of containers that stay."""
    for job in world.workloads():
        for pods in job.pod_sets():
            for shell in shells(pods):
                script, joined = shell.text.strip(), JOINED.search(shell.text)
                if shell.behind and PROGRAM.fullmatch(script):
                    message = f"the script is {script!r} alone, without {shell.behind[0][:40]!r}; write one text"
                    yield Problem(shell.place, message)
                elif joined and TRAINS.search(shell.text):
                    message = f"a backslash makes a blank part of {joined[1]!r}; end the line behind the backslash"
                    yield Problem(shell.place, message)
