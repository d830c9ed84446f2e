"""The releases of Kubernetes whose schedulers are decided here, each measured against its own program."""

from __future__ import annotations

from typing import Final

from trainyard.base.versions import line, nearest

MEASURED = {"1.34": "1.34.4", "1.35": "1.35.4", "1.36": "1.36.3", "1.37": "1.37.2"}
"""The release whose program was asked, by minor."""

RELEASE: Final = "1.35"
"""The minor of nodes of which nobody says one."""

BALANCED: Final = "1.36"
"""From here on a node counts for how much more even a pod makes the parts of its CPUs and memory that are taken.

Before, it counted for how even they are with the pod (kubernetes v1.36.3
pkg/scheduler/framework/plugins/noderesources/balanced_allocation.go balancedResourceScorer).
"""


def decided_as(release: str) -> str:
    """Return the minor that a release is decided as: its own, or the nearest that was measured.

    >>> decided_as("1.36.2"), decided_as("1.30"), decided_as("1.99")
    ('1.36', '1.34', '1.37')
    """
    minor = line(release)
    return minor if minor in MEASURED else nearest(minor, MEASURED)
