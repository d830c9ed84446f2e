"""What becomes of a pod that asks a kubelet's managers for a place."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from trainyard.upstream.kubelet.hints import Merge


@dataclass(frozen=True, slots=True)
class Given:
    """What a container of an admitted pod got.

    `affinity` is the topology manager's set of NUMA nodes, None where it has no opinion; `preferred` tells whether all
    hints preferred it. `cpus` are the container's own; `memory` is the set of NUMA nodes that its memory comes from;
    `devices` are ids by resource.
    """

    name: str
    affinity: int | None = None
    preferred: bool = False
    cpus: int = 0
    memory: int = 0
    devices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Admitted:
    """The pod runs."""

    containers: tuple[Given, ...]
    merges: tuple[Merge, ...] = ()


@dataclass(frozen=True, slots=True)
class Refused:
    """The pod is Failed for good, with the kubelet's own words."""

    reason: str
    message: str
    merges: tuple[Merge, ...] = ()


@dataclass(frozen=True, slots=True)
class Exploded:
    """The kubelet takes no other pod for long or for ever.

    It would walk through so many permutations of hints, or sets of NUMA nodes; or is caught in an endless loop.
    """

    permutations: int | None = None
    masks: int | None = None
    endless: bool = False
    merges: tuple[Merge, ...] = ()


@dataclass(frozen=True, slots=True)
class Crashed:
    """The kubelet panics, again after each restart."""

    message: str
    merges: tuple[Merge, ...] = ()


Outcome = Admitted | Refused | Exploded | Crashed


class Refusal(Exception):  # noqa: N818  # a decision on its way up, not an error of ours
    """A manager cannot give a container what it asks for."""

    def __init__(self, message: str, reason: str | None = None) -> None:
        """Take the kubelet's reason, or what it calls unexpected (cm/admission/errors.go, 1.35.4)."""
        super().__init__(message)
        self.reason = reason or "UnexpectedAdmissionError"
        self.message = message if reason else f"Allocate failed due to {message}, which is unexpected"


class Explosion(Exception):  # noqa: N818  # as above
    """What would keep the kubelet busy too long."""

    def __init__(self, outcome: Exploded) -> None:
        """Carry the outcome up."""
        super().__init__("the kubelet would try too many combinations of NUMA nodes")
        self.outcome = outcome


class Panic(Exception):  # noqa: N818  # as above
    """Go's panic, with its message."""
