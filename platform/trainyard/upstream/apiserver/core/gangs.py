"""Gangs of kube-scheduler: what a server leaves out of Jobs and pods while the gates are off, and asks with them on.

Source: k8s.io/kubernetes v1.37.2 pkg/api/job/util.go, pkg/apis/batch/validation/validation.go validateJobScheduling;
k8s.io/api v0.37.2 scheduling/v1alpha3/types.go.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from trainyard.base.findings import Severity
from trainyard.base.versions import minor
from trainyard.upstream.apiserver.core.shapes import Object, child, count, each, inner, number
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.problems import Path, Problem, Rule

SOURCE = "k8s.io/kubernetes v1.37.2 pkg/apis/batch/validation/validation.go"
IGNORED = Rule(
    "core/gate-off",
    "k8s.io/kubernetes v1.37.2 pkg/api/job/util.go DropDisabledFields, pkg/api/pod/util.go dropDisabledSchedulingGroup",
    title="No field of a gang is set whose feature gate is off.",
    fix="turn the gate on and say so with --feature-gates, or in featureGates of the cluster; or remove the field",
    why="the server leaves the field out without a word, and pods start one by one",
    severity=Severity.WARNING,
)
GANG = Rule(
    "core/job-gang",
    f"{SOURCE} validateJobScheduling, validateGangMinCount",
    title="The gang of a Job has one policy, and no more pods than run at once.",
    fix="set exactly one of basic and gang; minCount is 1 to parallelism",
)

OF_JOBS, OF_PODS = "WorkloadWithJob", "GenericWorkload"
SINCE = 37
"""Minor release whose Jobs have the field."""
_FIELDS: dict[tuple[str, str], tuple[Path, str]] = {
    ("batch", "Job"): (("spec", "scheduling"), OF_JOBS),
    ("batch", "CronJob"): (("spec", "jobTemplate", "spec", "scheduling"), OF_JOBS),
    ("", "Pod"): (("spec", "schedulingGroup"), OF_PODS),
}
_POLICIES, _MODES = ("basic", "gang"), ("all", "single")
_MOST_CLAIMS = 4
_CLAIMED = ("resourceClaimName", "resourceClaimTemplateName")


def check(value: Object, group: str, kind: str, *, kubernetes: str, gates: Collection[str]) -> Iterator[Problem]:
    """Yield the problems with the gang that an object names: its gate is off, or it cannot be."""
    if (group, kind) not in _FIELDS or minor(kubernetes) < SINCE:
        return
    path, gate = _FIELDS[group, kind]
    owner = inner(value, *map(str, path[:-1]))
    if owner.get(str(path[-1])) is None:
        return
    if not {OF_PODS, gate} <= {*gates}:
        off = gate if gate not in gates else OF_PODS
        detail = f"the server leaves it out, as its feature gate {off} is off"
        yield replace(IGNORED.forbidden(path, detail), warns=True)
    elif gate == OF_JOBS:
        yield from check_gang(owner, path)


def check_gang(spec: Object, path: Path) -> Iterator[Problem]:
    """Yield the problems with the gang of a Job whose gates are on."""
    scheduling = inner(spec, "scheduling")
    policy, mode = child(scheduling, "schedulingPolicy"), child(scheduling, "disruptionMode")
    for name, union, choices in (("schedulingPolicy", policy, _POLICIES), ("disruptionMode", mode, _MODES)):
        if union is not None and len(given := [choice for choice in choices if union.get(choice) is not None]) != 1:
            yield GANG.invalid((*path, name), given, f"must have exactly one of {' and '.join(choices)}")
    least = number(inner(policy or {}, "gang"), "minCount")
    most = spec.get("parallelism")
    most = most if isinstance(most, int) else 1
    where = (*path, "schedulingPolicy", "gang", "minCount")
    if least is not None and least < 1:
        yield GANG.invalid(where, least, "must be greater than or equal to 1")
    elif least is not None and least > most:
        yield GANG.invalid(where, least, f"must not be greater than parallelism ({most})")
    basic = policy is None or policy.get("gang") is None
    if basic and mode is not None and mode.get("all") is not None:
        yield GANG.invalid((*path, "disruptionMode"), mode, "all needs the policy gang")
    yield from _check_parts(scheduling, path)


def _check_parts(scheduling: Object, path: Path) -> Iterator[Problem]:
    """Yield levels of a topology that are no labels, and claims that are too many or name none or both."""
    for index, level in each(inner(scheduling, "schedulingConstraints"), "topology"):
        if detail := names.label_key(level.get("key") or ""):
            where = (*path, "schedulingConstraints", "topology", index, "key")
            yield GANG.invalid(where, level.get("key"), detail)
    if count(scheduling, "resourceClaims") > _MOST_CLAIMS:
        yield GANG.too_many((*path, "resourceClaims"), count(scheduling, "resourceClaims"), _MOST_CLAIMS)
    for index, claim in each(scheduling, "resourceClaims"):
        if len([name for name in _CLAIMED if claim.get(name)]) != 1:
            detail = f"must have exactly one of {' and '.join(_CLAIMED)}"
            yield GANG.invalid((*path, "resourceClaims", index), claim, detail)
