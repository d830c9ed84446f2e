"""A prerequisite: what a cluster needs and nothing here installs, why, how to see it, and how to get it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from trainyard.base.documents import Path
from trainyard.render.prerequisites.questions import Question
from trainyard.specs import Cluster, Team
from trainyard.specs.sources import Specs


@dataclass(frozen=True, slots=True)
class Prerequisite:
    """One thing that somebody else installs or sets."""

    what: str
    """The state that is needed, as a sentence without a full stop; commands and names stand in backticks."""
    why: str
    """The object or pod that needs it, and what happens without it."""
    at: Path
    """Field that calls for it."""
    get: str
    """How to get it: a command, or what to do and where that is documented."""
    question: Question | None = None
    """What a machine asks the API server; None where only a person can see it."""
    look: str = ""
    """Command by which a person sees it, where the API server does not show it."""
    file: str = ""
    """Spec file of the field; default: the cluster's."""
    for_jobs: bool = False
    """Whether only jobs that name it need it."""


@dataclass(frozen=True, slots=True)
class Site:
    """A cluster whose prerequisites are asked for, and who uses it."""

    name: str
    specs: Specs
    teams: Mapping[str, Team] = field(default_factory=dict)
    """Teams that its queues admit, by name."""

    @property
    def cluster(self) -> Cluster:
        """The cluster as its file says it."""
        return self.specs.clusters[self.name]


def names_text(names: Sequence[str]) -> str:
    """Return names as text: all of a few, else three and how many more there are."""
    return ", ".join(names) if len(names) <= 4 else f"{', '.join(names[:3])} and {len(names) - 3} more"


def labels_text(site: Site, pool: str) -> str:
    """Return the labels that select the nodes of a pool, in words."""
    pairs = [f"`{key}={value}`" for key, value in site.cluster.selector_of(pool).items()]
    return f"the label{'s' if len(pairs) > 1 else ''} {' and '.join(pairs)}"


def of_pools(names: Sequence[str]) -> str:
    """Return pools as the subject of a sentence, such as `nodes of pools a, b`."""
    return f"nodes of {'pool' if len(names) == 1 else 'pools'} {', '.join(names)}"
