"""How a device's capacity may be shared: the amounts that a claim may ask for, of a ResourceSlice's requestPolicy.

From Kubernetes 1.37 on amounts may be fractions down to thousandths (gate DRAFractionalCapacityRange).
Source: k8s.io/kubernetes v1.37.2 pkg/apis/resource/validation/validation.go validateRequestPolicy, compared with
v1.36.3.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.upstream.apiserver.core.amounts import NANO, as_int64, nanos
from trainyard.upstream.apiserver.core.shapes import Object, child
from trainyard.upstream.apiserver.problems import Path, Problem, Rule

SOURCE = "k8s.io/kubernetes v1.37.2 pkg/apis/resource/validation/validation.go"
POLICY = Rule(
    "core/capacity-policy",
    f"{SOURCE} validateRequestPolicy",
    title="The amounts that a requestPolicy offers lie within the capacity, with a default among them.",
    fix="set default, and either validValues in ascending order or validRange with min; keep all within value",
)
_FRACTIONS_MINOR = 37
_MOST_VALUES = 10
_BOUNDS = ("min", "max", "step")
_MILLI = 10**6
_LARGEST = (2**63 - 1) * NANO


def check_policy(capacity: Object, path: Path, minor: int) -> Iterator[Problem]:
    """Yield the problems with the policy of a capacity that several claims share."""
    policy, most = child(capacity, "requestPolicy"), nanos(capacity.get("value"))
    if policy is None or most is None:
        return
    at = (*path, "requestPolicy")
    values, range_ = policy.get("validValues"), child(policy, "validRange")
    values = values if isinstance(values, list) else []
    if values and range_ is not None:
        yield POLICY.forbidden(at, "validValues and validRange cannot both be set")
        return
    if not values and range_ is None:
        return
    if policy.get("default") is None:
        yield POLICY.required((*at, "default"), f"required with {'validValues' if values else 'validRange'}")
    elif values:
        yield from _check_values(values, policy["default"], most, (*at, "validValues"), minor)
    elif range_ is not None:
        yield from _check_range(range_, policy["default"], most, (*at, "validRange"), minor)


def _check_values(values: list[object], default: object, most: int, path: Path, minor: int) -> Iterator[Problem]:
    amounts = [nanos(value) for value in values]
    if None in amounts:
        return
    known = [amount for amount in amounts if amount is not None]
    if len(values) > _MOST_VALUES:
        yield POLICY.too_many(path, len(values), _MOST_VALUES)
    seen: set[int] = set()
    for index, (value, amount) in enumerate(zip(values, known, strict=True)):
        if index and known[index - 1] > amount:
            yield POLICY.invalid((*path, index), value, "values must be sorted in ascending order")
        if amount > most:
            yield POLICY.invalid((*path, index), value, "is larger than the capacity")
        key = amount if minor >= _FRACTIONS_MINOR else as_int64(value)
        if key in seen:
            yield POLICY.duplicate((*path, index), value)
        seen.add(key)
    if nanos(default) not in known:
        yield POLICY.invalid(path, default, "the default is none of the values")


def _check_range(bounds: Object, default: object, most: int, path: Path, minor: int) -> Iterator[Problem]:
    if bounds.get("min") is None:
        yield POLICY.required((*path, "min"), "required with validRange")
        return
    given = {"default": default, **{name: bounds[name] for name in _BOUNDS if bounds.get(name) is not None}}
    amounts = {name: amount for name, value in given.items() if (amount := nanos(value)) is not None}
    if len(amounts) < len(given):
        return
    usual, low, high = amounts["default"], amounts["min"], amounts.get("max")
    if low > most:
        yield POLICY.invalid((*path, "min"), given["min"], "is larger than the capacity")
    if usual < low:
        yield POLICY.invalid((*path, "min"), default, "the default is less than min")
    if high is not None:
        if low > high:
            yield POLICY.invalid((*path, "max"), given["max"], "is less than min")
        if high > most:
            yield POLICY.invalid((*path, "max"), given["max"], "is larger than the capacity")
        if usual > high:
            yield POLICY.invalid((*path, "max"), default, "the default is more than max")
    fractions = minor >= _FRACTIONS_MINOR and any(amount % NANO for amount in amounts.values())
    fine = [name for name, amount in amounts.items() if fractions and amount % _MILLI]
    for name in fine:
        yield POLICY.invalid((*path, name), given[name], "must be a multiple of a thousandth")
    if "step" in amounts and not fine:
        yield from _check_step(given, amounts, most, path, minor, fractions=fractions)


def _check_step(
    given: Object, amounts: dict[str, int], most: int, path: Path, minor: int, *, fractions: bool
) -> Iterator[Problem]:
    """Yield a step that is none or too large, and bounds that are no whole steps above min."""
    step = amounts["step"]
    if step <= 0:
        yield POLICY.invalid((*path, "step"), given["step"], "must be greater than zero")
        return
    if amounts["min"] + step > most:
        yield POLICY.invalid((*path, "step"), given["step"], "one step above min is larger than the capacity")
    whole = amounts if fractions else {name: as_int64(given[name]) for name in amounts}
    if minor >= _FRACTIONS_MINOR and not fractions:
        outside = [name for name, amount in amounts.items() if not 0 <= amount <= _LARGEST]
        for name in outside:
            yield POLICY.invalid((*path, name), given[name], "must be 0 to 9223372036854775807")
        if outside:
            return
    for name in ("default", "max"):
        if name in whole and whole["step"] and (whole[name] - whole["min"]) % whole["step"]:
            yield POLICY.invalid((*path, "step"), given[name], "is no whole number of steps above min")
