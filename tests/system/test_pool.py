"""Processes that are split off end with what they were split off for, whoever handles signals here."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from trainyard.base.system.pool import split_off

_factor = 0


def begin(factor: int) -> None:
    """Keep what a process is given."""
    global _factor
    _factor = factor


def times(number: int) -> tuple[int, bool]:
    """Multiply by it, and say whether SIGTERM ends the process at once."""
    return _factor * number, signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


@pytest.fixture
def handled():
    """Handle SIGTERM here, as a command does that has something to end first."""
    heard = []
    before = signal.signal(signal.SIGTERM, lambda *_: heard.append(True))
    yield heard
    signal.signal(signal.SIGTERM, before)


def test_a_process_has_what_it_was_given_and_forgets_no_signal(handled):
    """One that this process told to end before it had begun would wait for ever if Python handled the signal in it."""
    with split_off(begin, 7) as pool:
        assert pool.map(times, range(3)) == [(0, True), (7, True), (14, True)]
    assert not handled
    os.kill(os.getpid(), signal.SIGTERM)
    assert handled


def test_a_handler_is_back_after_an_error(handled):
    """What handles the signal here does so again, also where the work has failed."""
    with pytest.raises(ZeroDivisionError), split_off(begin, 7) as pool:
        pool.apply(divmod, (1, 0))
    os.kill(os.getpid(), signal.SIGTERM)
    assert handled


def test_many_that_end_before_they_have_begun(handled):
    """Pools are left while processes begin, of which one in hundreds hung where Python handled the signal."""
    for _ in range(50):
        with split_off(begin, 2) as pool:
            assert next(pool.imap(times, [3])) == (6, True)


def test_other_threads_split_off_too(handled):
    """Only the main thread may say who handles a signal; of another, nothing is changed and nothing fails."""
    found = []

    def ask() -> None:
        with split_off(begin, 2) as pool:
            found.append(pool.apply(times, (3,))[0])

    thread = threading.Thread(target=ask)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    thread.start()
    thread.join(60)
    assert found == [6]
