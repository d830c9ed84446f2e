"""Counts that may be a number or a percentage.

Source: k8s.io/kubernetes v1.35.4 pkg/apis/apps/validation/validation.go ValidatePositiveIntOrPercent.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.upstream.apiserver.core.shapes import integer
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.problems import Path, Problem, Rule


def amount(value: Any) -> int | None:
    """Return the number before the percent sign, or the number; None for what is neither."""
    if type(value) is str:
        return None if names.percent(value) else integer(value[:-1])
    if type(value) is float and value.is_integer():
        return int(value)
    return value if type(value) is int else None


def check_fraction(value: Any, path: Path, rule: Rule, *, whole: bool = True) -> Iterator[Problem]:
    """Yield the problem of a value that is neither a count nor a percentage; with `whole`, also of one above 100 %."""
    if value is None:
        return
    found = amount(value)
    if found is None:
        if isinstance(value, str):
            yield rule.invalid(path, value, "must be an integer or a percentage, such as '5%'")
    elif found < 0:
        yield rule.invalid(path, value, "must be greater than or equal to 0")
    elif whole and type(value) is str and found > 100:
        yield rule.invalid(path, value, "must not be greater than 100%")
