"""DeviceTaintRules, which keep pods from devices; servers serve them from Kubernetes 1.37 on.

Source: k8s.io/kubernetes v1.37.2 pkg/apis/resource/validation/validation.go validateDeviceTaintRuleSpec.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.upstream.apiserver.core.equality import differs
from trainyard.upstream.apiserver.core.pods.sources import driver_name
from trainyard.upstream.apiserver.core.shapes import Object, inner, text
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.problems import Path, Problem, Rule

SOURCE = "k8s.io/kubernetes v1.37.2 pkg/apis/resource/validation/validation.go"
TAINT = Rule(
    "core/device-taint",
    f"{SOURCE} validateDeviceTaintRuleSpec",
    title="A DeviceTaintRule has a taint with a key and an effect, and valid names of devices.",
    fix="set taint.key, and taint.effect to NoSchedule, NoExecute or None",
)
EFFECTS = ("NoExecute", "NoSchedule", "None")
_LONGEST_POOL = 253


def check(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:  # noqa: ARG001  # one signature for all kinds
    """Yield the problems with a DeviceTaintRule."""
    spec = inner(value, "spec")
    yield from _check_selector(inner(spec, "deviceSelector"), ("spec", "deviceSelector"))
    before = None if old is None else inner(old, "spec", "taint")
    yield from check_taint(inner(spec, "taint"), ("spec", "taint"), before)


def check_taint(taint: Object, path: Path, before: Object | None = None) -> Iterator[Problem]:
    """Yield the problems with a taint; an effect that stays is passed over."""
    if detail := names.label_key(text(taint, "key")):
        yield TAINT.invalid((*path, "key"), text(taint, "key"), detail)
    if (content := text(taint, "value")) and (detail := names.label_value(content)):
        yield TAINT.invalid((*path, "value"), content, detail)
    effect = taint.get("effect")
    if before is not None and not differs(effect, before.get("effect"), "effect"):
        return
    if not effect:
        yield TAINT.required((*path, "effect"))
    elif effect not in EFFECTS:
        yield TAINT.unsupported((*path, "effect"), effect, EFFECTS)


def _check_selector(selector: Object, path: Path) -> Iterator[Problem]:
    if (driver := selector.get("driver")) is not None:
        if not driver:
            yield TAINT.required((*path, "driver"))
        elif detail := driver_name(driver):
            yield TAINT.invalid((*path, "driver"), driver, detail)
    if (pool := selector.get("pool")) is not None:
        name = text(selector, "pool")
        if not pool:
            yield TAINT.required((*path, "pool"))
        elif names.size(name) > _LONGEST_POOL:
            yield TAINT.too_long((*path, "pool"), _LONGEST_POOL)
        elif detail := next((found for part in name.split("/") if (found := names.dns_subdomain(part))), None):
            yield TAINT.invalid((*path, "pool"), name, detail)
    if selector.get("device") is not None and (detail := names.dns_label(selector["device"])):
        yield TAINT.invalid((*path, "device"), selector["device"], detail)
