"""Who pods run as, and what they may: contexts that pass Pod Security `restricted` unless a job asks for root.

Source: kubernetes/pod-security-admission v0.35 policy/check_*_restricted.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from trainyard.base.system.once import once
from trainyard.render.sizing import RoleSize, Sized
from trainyard.specs.run import Run

T = TypeVar("T")

USER = 1000
"""User and group of those who say nothing; images for training mostly say root, which `restricted` refuses."""

USER_NAME = "trainer"
"""Programs ask for it: user 1000 mostly has no entry in the image's passwd, and then Python's getpass fails."""

HOME = "/tmp"  # noqa: S108 - writable in every image, where `/`, the home of an unknown user, is not
"""Where caches go that programs keep below the home directory."""


@dataclass(frozen=True, slots=True)
class Who:
    """Who a run's processes are, by numbers, each with its origin."""

    user: Sized[int]
    group: Sized[int]
    groups: Sized[tuple[int, ...]]

    @property
    def name(self) -> str:
        """The user's name, as programs see it."""
        return USER_NAME if self.user.value else "root"

    def facts(self) -> Iterator[tuple[str, Sized[Any]]]:
        """Yield every value by its name, for `explain`."""
        yield "user", self.user
        yield "group", self.group
        if self.groups.value:
            yield "groups", Sized(", ".join(map(str, self.groups.value)), self.groups.origin)


@once
def who(run: Run) -> Who:
    """Return the user and the groups of a run's processes: the job's, else the team's."""
    job, team = run.job, run.team
    user = field_value("runAsUser", job.run_as_user, team.run_as_user) or Sized(
        USER, "default: neither the job nor the team sets runAsUser"
    )
    group = field_value("runAsGroup", job.run_as_group, team.run_as_group) or Sized(
        user.value, "default: same as runAsUser"
    )
    of_job = job.supplemental_groups if "supplemental_groups" in job.model_fields_set else None
    groups = field_value("supplementalGroups", of_job, team.supplemental_groups)
    return Who(user, group, groups or Sized((), "none"))


def field_value(field: str, job: T | None, team: T | None) -> Sized[T] | None:
    """Return the value of a field from the job, or else from its team, or None where neither sets it."""
    if job is not None:
        return Sized(job, f"{field} of the job")
    return None if team is None else Sized(team, f"{field} of the team")


def pod(person: Who, devices: Sequence[int] = (), *, owns: bool = True) -> dict[str, Any]:
    """Return the pod's security context; `devices` are the groups that its GPUs' device files are open to.

    The kubelet gives volumes the user's own group where the pod `owns` them, and walks through a big one only if its
    root has another (kubernetes v1.35 pkg/volume/volume_linux.go).
    """
    group = {"fsGroup": person.group.value, "fsGroupChangePolicy": "OnRootMismatch"} if owns else {}
    return {
        "runAsNonRoot": True if person.user.value else None,
        "runAsUser": person.user.value,
        "runAsGroup": person.group.value,
        "supplementalGroups": list(dict.fromkeys((*person.groups.value, *devices))),
        **group,
        "seccompProfile": {"type": "RuntimeDefault"},
    }


def device_groups(run: Run, size: RoleSize) -> tuple[int, ...]:
    """Return the groups that a role's pods need to open their GPUs (`/dev/kfd` and `/dev/dri` of AMD's)."""
    return run.cluster.pools[size.pool].device_groups if size.gpus.value else ()


def container(person: Who, *, privileged: bool = False) -> dict[str, Any]:
    """Return a container's security context; a privileged one may open every device of the node.

    A capability that RDMA wants would be gone at exec: runtimes keep none for users other than root. Root keeps those
    that its runtime gives by default, since without them it is less than any other user. Privileged goes with no limit
    of escalation (kubernetes v1.35 pkg/apis/core/validation/validation.go).
    """
    if privileged:
        return {"privileged": True}
    capabilities = {"capabilities": {"drop": ["ALL"]}} if person.user.value else {}
    return {"allowPrivilegeEscalation": False, **capabilities}
