"""What stopped a command that nobody foresaw, in one sentence: too little memory, too few files, or our own fault."""

from __future__ import annotations

import errno
import os
import traceback
from collections.abc import Iterator

from trainyard.system.unforeseen import TRACEBACK

LACKS = {
    errno.EMFILE: "there are too few open files; allow 256 or more (ulimit -n)",
    errno.ENFILE: "the system has no open files left; end other programs",
    errno.ENOMEM: "there is too little memory; allow 2 GiB or more (ulimit -v)",
    errno.EAGAIN: "no process or thread can be started; allow more of them (ulimit -u)",
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
    return f"this is a fault of Trainyard: {type(error).__name__}: {first}; report it with what {TRACEBACK}=1 prints"


def lack(error: BaseException) -> str | None:
    """Return what the system lacks, where an error or what caused it is about that."""
    for each in chain(error):
        if isinstance(each, MemoryError):
            return LACKS[errno.ENOMEM]
        number = each.errno if isinstance(each, OSError) and each.errno in LACKS else None
        text = str(each).lower()
        number = number or next((known for words, known in WORDS.items() if words in text), None)
        if number is not None:
            return LACKS[number]
    return None


def chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an error, what it was made of, and what that was made of."""
    seen: set[int] = set()
    each: BaseException | None = error
    while each is not None and id(each) not in seen:
        seen.add(id(each))
        yield each
        each = each.__cause__ or each.__context__
