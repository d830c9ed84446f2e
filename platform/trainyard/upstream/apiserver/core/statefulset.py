"""StatefulSets: claims of their own, ordinals, and the few fields that an update may change.

Source: k8s.io/kubernetes v1.35.4 pkg/apis/apps/validation/validation.go ValidateStatefulSet.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.upstream.apiserver.core.apps import SOURCE, check_counts, check_endless, check_selector, options_for
from trainyard.upstream.apiserver.core.equality import differs
from trainyard.upstream.apiserver.core.fractions import amount, check_fraction
from trainyard.upstream.apiserver.core.persistentvolumeclaim import check_claim_spec
from trainyard.upstream.apiserver.core.pods.defaults import default_template
from trainyard.upstream.apiserver.core.pods.template import check_template
from trainyard.upstream.apiserver.core.shapes import EMPTY, Object, child, each, fill, fill_absent, inner, number, text
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.problems import Problem, Rule

STATEFUL = Rule(
    "core/stateful-set",
    f"{SOURCE} ValidateStatefulSetSpec",
    title="A StatefulSet has a selector, a template and valid policies.",
    fix="add spec.selector and spec.template; set rollingUpdate only for type RollingUpdate",
)
IMMUTABLE = Rule(
    "update/stateful-set",
    f"{SOURCE} ValidateStatefulSetUpdate",
    title="An update of a StatefulSet keeps its selector, service name and claim templates.",
    fix="restore the field, or delete the StatefulSet with --cascade=orphan and create it again",
)

_UNAVAILABLE_MINOR = 37
"""From here on `maxUnavailable` counts (gate MaxUnavailableStatefulSet)."""
_CHANGEABLE = frozenset(
    {
        "replicas",
        "ordinals",
        "template",
        "updateStrategy",
        "revisionHistoryLimit",
        "persistentVolumeClaimRetentionPolicy",
        "minReadySeconds",
    }
)


def default(value: Object, minor: int) -> None:
    """Default a StatefulSet; `maxUnavailable` is behind a gate that is off before Kubernetes 1.37."""
    if (spec := child(value, "spec")) is None:
        return
    fill(spec, "podManagementPolicy", "OrderedReady")
    fill_absent(spec, "replicas", 1)
    fill_absent(spec, "revisionHistoryLimit", 10)
    fill_absent(spec, "updateStrategy", {})
    if (strategy := child(spec, "updateStrategy")) is not None:
        if not strategy.get("type"):
            strategy["type"] = "RollingUpdate"
            fill_absent(strategy, "rollingUpdate", {})
        if (rolling := child(strategy, "rollingUpdate")) is not None and strategy["type"] == "RollingUpdate":
            fill_absent(rolling, "partition", 0)
            if minor < _UNAVAILABLE_MINOR:
                rolling.pop("maxUnavailable", None)
            else:
                fill_absent(rolling, "maxUnavailable", 1)
    fill_absent(spec, "persistentVolumeClaimRetentionPolicy", {})
    if (policy := child(spec, "persistentVolumeClaimRetentionPolicy")) is not None:
        fill(policy, "whenDeleted", "Retain")
        fill(policy, "whenScaled", "Retain")
    claims = spec.get("volumeClaimTemplates")
    for claim in claims if isinstance(claims, list) else ():
        if isinstance(claim, dict) and (claim_spec := child(claim, "spec")) is not None:
            fill_absent(claim_spec, "volumeMode", "Filesystem")
    default_template(spec, minor)


def check(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:
    """Yield the problems with a StatefulSet, and changes that an update may not make."""
    spec, path = inner(value, "spec"), ("spec",)
    policy = spec.get("podManagementPolicy") or "OrderedReady"
    if policy not in ("OrderedReady", "Parallel"):
        yield STATEFUL.unsupported((*path, "podManagementPolicy"), policy, ("OrderedReady", "Parallel"))
    yield from _check_strategy(inner(spec, "updateStrategy"))
    for field, choice in inner(spec, "persistentVolumeClaimRetentionPolicy").items():
        if choice not in ("Retain", "Delete"):
            where = (*path, "persistentVolumeClaimRetentionPolicy", field)
            yield STATEFUL.unsupported(where, choice, ("Delete", "Retain"))
    yield from check_counts(spec, path, ("replicas", "minReadySeconds"))
    yield from check_counts(inner(spec, "ordinals"), (*path, "ordinals"), ("start",))
    yield from check_selector(spec, path)
    if old is None:
        for index, claim in each(spec, "volumeClaimTemplates"):
            yield from check_claim_spec(inner(claim, "spec"), (*path, "volumeClaimTemplates", index, "spec"))
        service = spec.get("serviceName")
        if service and (detail := names.dns_label(service)):
            yield STATEFUL.invalid((*path, "serviceName"), service, detail)
    template = child(spec, "template") or EMPTY
    yield from check_template(_with_claims(spec, template), (*path, "template"), options_for(old, kubernetes))
    yield from check_endless(template)
    if old is not None:
        yield from _check_update(spec, inner(old, "spec"))


def _check_strategy(strategy: Object) -> Iterator[Problem]:
    kind, rolling = strategy.get("type") or "RollingUpdate", child(strategy, "rollingUpdate")
    path = ("spec", "updateStrategy")
    if kind == "OnDelete":
        if rolling is not None:
            yield STATEFUL.invalid((*path, "rollingUpdate"), rolling, "only allowed with type RollingUpdate")
    elif kind != "RollingUpdate":
        yield STATEFUL.unsupported((*path, "type"), kind, ("RollingUpdate", "OnDelete"))
    elif rolling is not None:
        partition = number(rolling, "partition")
        if partition is not None and partition < 0:
            where = (*path, "rollingUpdate", "partition")
            yield STATEFUL.invalid(where, partition, "must be greater than or equal to 0")
        unavailable, where = rolling.get("maxUnavailable"), (*path, "rollingUpdate", "maxUnavailable")
        yield from check_fraction(unavailable, where, STATEFUL)
        if amount(unavailable) == 0:
            yield STATEFUL.invalid(where, unavailable, "cannot be 0")


def _with_claims(spec: Object, template: Object) -> Object:
    """Return the template as its pods will have it: with the claims as volumes, which replace those of the same name.

    Host name and subdomain are set per pod, so the template's own are not judged.
    """
    pod = {**inner(template, "spec")}
    pod.pop("subdomain", None)
    pod.pop("hostname", None)
    claims = {text(inner(claim, "metadata"), "name") for _, claim in each(spec, "volumeClaimTemplates")}
    if claims:
        own = pod.get("volumes")
        kept = [
            entry for entry in (own if isinstance(own, list) else []) if not isinstance(entry, dict) or
            text(entry, "name") not in claims
        ]  # fmt: skip
        made = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in sorted(claims)]
        pod["volumes"] = kept + made
    return {**template, "spec": pod}


def _check_update(spec: Object, before: Object) -> Iterator[Problem]:
    for field in sorted({*spec, *before} - _CHANGEABLE, key=str):
        if differs(_comparable(spec.get(field)), _comparable(before.get(field)), field):
            detail = "only replicas, ordinals, template, strategy, history, claim retention and readiness may change"
            yield IMMUTABLE.forbidden(("spec", field), detail)


_WRITTEN = ("apiVersion", "kind", "status")


def _comparable(value: object) -> object:
    """Return claim templates without what the server writes into them, or leaves out."""
    if not isinstance(value, list):
        return value
    claims = [
        {key: part for key, part in claim.items() if key not in _WRITTEN} for claim in value if isinstance(claim, dict)
    ]
    return claims if len(claims) == len(value) else value
