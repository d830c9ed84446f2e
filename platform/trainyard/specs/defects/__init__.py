"""Known defects of releases: what happens, who meets it, and the first releases without it; a file for each project."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Literal

from trainyard.base.versions import line, order
from trainyard.specs.facts import read_facts
from trainyard.specs.models.base import Spec, Text, Version

Meets = Literal["always", "topology", "pods", "kueue", "volcano", "batch-scheduler", "others"]
"""Which clusters meet a defect: all, those with `topology`, those whose Kueue manages single pods, those with queues of
Kueue or of Volcano, those whose KubeRay has a batchScheduler; `others`: only objects that Trainyard does not render."""


class Defect(Spec):
    """One defect of a project."""

    happens: Text
    """What happens, in one sentence of lower case without a full stop."""
    meets: Meets = "always"
    since: tuple[Version, ...] = ()
    """The first release with it, of each line of patches that got it; unsaid: all releases before the fixed one."""
    fixed: tuple[Version, ...] = ()
    """The first release without it, of each line of patches that got it; newer lines are without it from the start.

    Empty where no release is without it yet.
    """
    issue: Text
    """Address of the issue or the change that tells of it."""
    source: Text

    def has(self, release: str) -> bool:
        """Whether a release has the defect: it is older than the fixed one of its line, or its line got none."""
        begun = same_line(self.since, release)
        if self.since and order(release) < (order(begun) if begun else min(map(order, self.since))):
            return False
        if not self.fixed:
            return True
        fixed = same_line(self.fixed, release)
        return order(release) < (order(fixed) if fixed else min(map(order, self.fixed)))

    def better_release(self, release: str, known: Iterable[str]) -> str | None:
        """Return the known release to use instead: the oldest of the same line without it, else the newest of all."""
        newer = [one for one in known if order(one) > order(release) and not self.has(one)]
        near = [one for one in newer if line(one) == line(release)]
        return min(near, key=order) if near else max(newer, key=order, default=None)


def same_line(releases: Iterable[str], release: str) -> str | None:
    """Return the one of these that is of the same line of patches as a release, None where none is."""
    return next((one for one in releases if line(one) == line(release)), None)


class Defects(Spec):
    """All that is known of one project."""

    defects: tuple[Defect, ...]


@cache
def defects() -> Mapping[str, Defects]:
    """Return the defects of each project by name; raises SpecError where a file is damaged."""
    return read_facts(__name__, Defects, "defects")


def defects_of(project: str, release: str) -> Iterator[Defect]:
    """Yield the defects of a project's release."""
    known = defects().get(project)
    yield from (defect for defect in (known.defects if known else ()) if defect.has(release))
