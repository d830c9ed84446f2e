"""Other values of a job's fields, and whether the job fits with them when it has its cluster to itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain

from trainyard.judge.admission.asks import Ask, with_change
from trainyard.judge.admission.change import Change
from trainyard.judge.admission.cluster_jobs import Crowd
from trainyard.judge.admission.job_workloads import is_judged
from trainyard.judge.preflight.job.placement import check_alone
from trainyard.judge.preflight.jobs import check_run

STEPS = 8
"""Values that are tried below the most that fits, where something else is wrong with that one."""


class Try:
    """A job, and whether it would fit with other values of its fields."""

    def __init__(self, ask: Ask, crowd: Crowd) -> None:
        """Take a job that has a run."""
        self.ask, self.crowd = ask, crowd
        self.job = ask.file.job

    def fits(self, change: Change) -> bool:
        """Whether it gets quota on the empty cluster, and nodes."""
        other = with_change(self.ask, self.crowd.where, change.of)
        return other is not None and is_judged(other) and self.crowd.takes(other)

    def valid(self, change: Change) -> bool:
        """Whether nothing else would be wrong with it then."""
        assert self.ask.run is not None
        run = replace(self.ask.run.run, job=change.of(self.job))
        wrong = chain(check_alone(replace(self.ask.file, job=run.job), run.cluster), check_run(run)[1])
        return not any(finding.is_error for finding in wrong)

    def would(self, *changes: Change) -> Iterator[Change]:
        """Yield the changes that would do."""
        return (change for change in changes if self.fits(change) and self.valid(change))

    def most(self, low: int, high: int, change: Callable[[int], Change]) -> Iterator[Change]:
        """Yield the change with the most of a number, from `low` on and below `high`, that would do; if any does."""
        if low >= high or not self.fits(change(low)):
            return
        found = self.largest(low, high, change)
        tried = (change(index) for index in range(found, max(low - 1, found - STEPS), -1))
        yield from (one_change for one_change in [next(filter(self.valid, tried), None)] if one_change is not None)

    def largest(self, low: int, high: int, change: Callable[[int], Change]) -> int:
        """Return the most of a number below `high` with which it fits, as it does with `low`."""
        while high - low > 1:
            middle = roundest(low, high)
            low, high = (middle, high) if self.fits(change(middle)) else (low, middle)
        return low


def roundest(low: int, high: int) -> int:
    """Return of the numbers between two the one that is divided by the largest power of two: most jobs try the same."""
    power = 1 << ((high - 1) ^ low).bit_length() - 1
    return (high - 1) // power * power
