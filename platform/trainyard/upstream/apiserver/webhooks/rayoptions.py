"""What KubeRay 1.7 refuses beyond 1.6: priorities, storage of the GCS, the autoscaler's command, steps of an upgrade.

Fields behind gates are refused while these are off; `raygated` says what they may be where one is on.

Source: kuberay v1.7.0 ray-operator/controllers/ray/utils/validation.go, pkg/features/features.go.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from trainyard.upstream.apiserver.core.shapes import Object, child, each, flag, inner, number, text
from trainyard.upstream.apiserver.gates import OFF, Gates
from trainyard.upstream.apiserver.problems import Path, Problem, Rule
from trainyard.upstream.apiserver.webhooks import raygated

SINCE = "1.7.0"

_GATED = {
    "historyServerOptions": ("RayClusterHistoryServer", raygated.check_history),
    "networkPolicy": ("RayClusterNetworkPolicy", raygated.check_network),
    "tlsOptions": ("RayClusterMTLS", raygated.check_tls),
}
"""Fields of a cluster that need a gate, and what is looked at where it is on."""
_EMBEDDED = "GCSFaultToleranceEmbeddedStorage"
_COMMAND = "KUBERAY_GEN_AUTOSCALER_START_CMD"
_V2 = "RAY_enable_autoscaler_v2"
_ON = ("1", "true")
_PRIORITY_SINCE = (2, 56, 0)
_INCREMENTAL = "NewClusterWithIncrementalUpgrade"
_version = re.compile(r"v?(\d+)\.(\d+)(?:\.(\d+))?.*").fullmatch


def version_of(written: str) -> tuple[int, ...] | None:
    """Return a release of Ray as numbers, None where it is none."""
    found = _version(written.strip())
    return None if found is None else tuple(int(part or 0) for part in found.groups())


def check_options(
    spec: Object, environment: Mapping[str, object], path: Path, rule: Rule, gates: Gates
) -> Iterator[Problem]:
    """Yield the fields that a cluster may not have since 1.7; `environment` is that of the head's Ray container."""
    for field, (gate, looks) in _GATED.items():
        if spec.get(field) is not None and gate not in gates:
            yield rule.forbidden((*path, field), OFF.format(gate))
        else:
            yield from looks(spec, path, rule)
    options = inner(spec, "autoscalerOptions")
    for index, variable in each(options, "env"):
        if text(variable, "name") == _COMMAND:
            yield rule.forbidden((*path, "autoscalerOptions", "env", index), f"{_COMMAND} is set by KubeRay; remove it")
    yield from _check_storage(spec, path, rule, gates)
    v2 = text(options, "version") == "v2" or environment.get(_V2) in _ON
    for index, group in each(spec, "workerGroupSpecs"):
        if number(group, "priority"):
            yield from _check_priority(group, spec, (*path, "workerGroupSpecs", index, "priority"), rule, v2=v2)


def _check_storage(spec: Object, path: Path, rule: Rule, gates: Gates) -> Iterator[Problem]:
    """Yield storage that the backend does not use: Redis, the default, keeps its own."""
    options = child(spec, "gcsFaultToleranceOptions")
    if options is None:
        return
    at: Path = (*path, "gcsFaultToleranceOptions")
    if text(options, "backend") == "rocksdb":
        if _EMBEDDED not in gates:
            yield rule.forbidden((*at, "backend"), OFF.format(_EMBEDDED))
        else:
            yield from raygated.check_storage(options, inner(spec, "headGroupSpec", "template", "spec"), path, rule)
    elif options.get("storage") is not None:
        yield rule.forbidden((*at, "storage"), "is for the backend rocksdb alone; remove it")


def _check_priority(group: Object, spec: Object, at: Path, rule: Rule, *, v2: bool) -> Iterator[Problem]:
    written = text(spec, "rayVersion")
    found = version_of(written)
    if found is None or found < _PRIORITY_SINCE:
        yield rule.invalid(at, group.get("priority"), f"needs Ray 2.56.0 or later, but rayVersion is {written!r}")
    elif not v2:
        yield rule.forbidden(at, "needs autoscalerOptions.version v2")


def check_upgrade(spec: Object, rule: Rule) -> Iterator[Problem]:
    """Yield the problems of a RayService whose new cluster takes over step by step, for which there is a gate."""
    strategy = inner(spec, "upgradeStrategy")
    if text(strategy, "type") != _INCREMENTAL:
        return
    if not flag(inner(spec, "rayClusterConfig"), "enableInTreeAutoscaling"):
        yield rule.required(("spec", "rayClusterConfig", "enableInTreeAutoscaling"), f"{_INCREMENTAL} needs it")
    options = child(strategy, "clusterUpgradeOptions")
    at: Path = ("spec", "upgradeStrategy", "clusterUpgradeOptions")
    if options is None:
        yield rule.required(at, f"{_INCREMENTAL} needs it")
        return
    surge, step = number(options, "maxSurgePercent"), number(options, "stepSizePercent")
    surge = 100 if surge is None else surge
    if not 0 <= surge <= 100:
        yield rule.invalid((*at, "maxSurgePercent"), surge, "must be between 0 and 100")
    if step is None or not 0 <= step <= 100:
        yield rule.invalid((*at, "stepSizePercent"), step, "must be between 0 and 100")
    elif step > surge:
        yield rule.invalid((*at, "stepSizePercent"), step, f"must not be greater than maxSurgePercent {surge}")
    if (number(options, "intervalSeconds") or 0) <= 0:
        yield rule.invalid((*at, "intervalSeconds"), options.get("intervalSeconds"), "must be greater than 0")
    if not text(options, "gatewayClassName"):
        yield rule.required((*at, "gatewayClassName"))
