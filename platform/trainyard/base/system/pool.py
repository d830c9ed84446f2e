"""Processes for each core, split off with all that this one knows."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from multiprocessing.pool import Pool


@contextmanager
def split_off(begin: Callable[..., None], *given: Any, tasks: int | None = None) -> Iterator[Pool]:
    """Split off a process for each core, each of which begins with what is given, and end them all afterwards.

    Each is replaced after so many tasks, where a number is given. SIGTERM, by which a pool ends its processes, ends
    this one too meanwhile, without whoever else waits for it: a process forgets signals that came before it had begun,
    except those that the system itself acts upon, and a pool waits for ever for one that has forgotten.
    """
    import multiprocessing  # most commands need one process

    handled = signal.getsignal(signal.SIGTERM)
    is_main = threading.current_thread() is threading.main_thread()
    if is_main and handled is not None:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        with multiprocessing.get_context("fork").Pool(os.cpu_count(), begin, given, tasks) as pool:
            yield pool
    finally:
        if is_main and handled is not None:
            signal.signal(signal.SIGTERM, handled)
