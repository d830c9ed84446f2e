"""Known defects of releases: what happens, who meets it, and the first releases without it; a file for each project."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Literal

from trainyard.base.versions import line, order
from trainyard.specs.facts import read_facts
from trainyard.specs.models.base import Spec, Text, Version

Meets = Literal["always", "topology", "pods"]
"""Which clusters meet a defect: all, those with `topology`, or those whose Kueue manages single pods."""


class Defect(Spec):
    """One defect of a project."""

    happens: Text
    """What happens, in one sentence of lower case without a full stop."""
    meets: Meets = "always"
    fixed: tuple[Version, ...]
    """The first release without it, of each line of patches that got it; newer lines are without it from the start."""
    issue: Text
    """Address of the issue or the change that tells of it."""
    source: Text

    def has(self, release: str) -> bool:
        """Whether a release has the defect: it is older than the fixed one of its line, or its line got none."""
        of_line = next((one for one in self.fixed if line(one) == line(release)), None)
        if of_line is not None:
            return order(release) < order(of_line)
        return order(release) < min(map(order, self.fixed))

    def better_release(self, release: str) -> str:
        """Return the release to use instead: of the same line where it got one, else the newest."""
        return next((one for one in self.fixed if line(one) == line(release)), self.fixed[-1])


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
