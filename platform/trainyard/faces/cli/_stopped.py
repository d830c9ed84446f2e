"""The unexpected end of a command in one sentence: too little memory, too few open files, or a bug."""

from __future__ import annotations

import errno
import os
import traceback
from collections.abc import Iterator

from trainyard.base.system.unforeseen import TRACEBACK

LACKS = {
    errno.EMFILE: "too few open files are allowed; allow at least 256 (ulimit -n)",
    errno.ENFILE: "the system has no open files left; stop other programs",
    errno.ENOMEM: "not enough memory; allow at least 2 GiB (ulimit -v)",
    errno.EAGAIN: "no process or thread can be started; allow more (ulimit -u)",
}
"""What a system lacks, by how calls to it fail."""

WORDS = {
    "cannot allocate memory": errno.ENOMEM,
    "failed to map segment": errno.ENOMEM,
    "out of memory": errno.ENOMEM,
    "too many open files": errno.EMFILE,
    "can't start new thread": errno.EAGAIN,
    "resource temporarily unavailable": errno.EAGAIN,
}
"""What says the same in other errors: of the loader, of Python's threads, of Node."""


def explained(error: BaseException) -> str:
    """Return the sentence for an error that nothing below has improved."""
    if found := lack(error):
        return found
    if os.environ.get(TRACEBACK):
        traceback.print_exception(error)
    first = next(iter(str(error).strip().splitlines()), "")[:200]
    return f"this is a bug in Trainyard: {type(error).__name__}: {first}; report it with the output of {TRACEBACK}=1"


def lack(error: BaseException) -> str | None:
    """Return the system resource that an error or its cause names as missing."""
    for exception in chain(error):
        if isinstance(exception, MemoryError):
            return LACKS[errno.ENOMEM]
        number = exception.errno if isinstance(exception, OSError) and exception.errno in LACKS else None
        text = str(exception).lower()
        number = number or next((known for words, known in WORDS.items() if words in text), None)
        if number is not None:
            return LACKS[number]
    return None


def chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an error, what it was made of, and what that was made of."""
    seen: set[int] = set()
    value: BaseException | None = error
    while value is not None and id(value) not in seen:
        seen.add(id(value))
        yield value
        value = value.__cause__ or value.__context__
