"""The most that some queues can admit together: their own quota, and what they may borrow."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from decimal import Decimal
from typing import Any

from trainyard.base.quantities import WIDE, Quantity

Specs = Mapping[str, Mapping[str, Any]]
"""Specs of ClusterQueues or Cohorts, by name."""

Row = tuple[str, str]
"""A flavor and a resource."""


def most_admitted(names: Collection[str], queues: Specs, cohorts: Specs) -> dict[str, Decimal]:
    """Return by resource the most that workloads in the named queues can hold at one time.

    Limits on lending are left aside, and so is what others hold: the amount is never less than what Kueue admits.
    """
    roots = {name: root(spec.get("cohortName") or "", cohorts) for name, spec in queues.items()}
    whole = trees(roots, queues, cohorts)
    found: dict[tuple[str, Row], Decimal] = defaultdict(Decimal)
    for name in sorted(set(names) & queues.keys()):
        tree = roots[name] or f"/{name}"
        for row, nominal, limit in rows(queues[name]):
            every = whole.get((roots[name], row), nominal)
            most = nominal if not roots[name] else every if limit is None else WIDE.add(nominal, limit)
            total = WIDE.add(found[tree, row], most)
            found[tree, row] = total if not roots[name] else min(total, every)
    out: dict[str, Decimal] = defaultdict(Decimal)
    for (_, (_, resource)), amount in found.items():
        out[resource] = WIDE.add(out[resource], amount)
    return dict(sorted(out.items()))


def trees(roots: Mapping[str, str], queues: Specs, cohorts: Specs) -> dict[tuple[str, Row], Decimal]:
    """Return the nominal quota of all queues and cohorts of each tree, by its root and row."""
    found: dict[tuple[str, Row], Decimal] = defaultdict(Decimal)
    owners = [(roots[name], spec) for name, spec in queues.items() if roots[name]]
    owners += [(root(name, cohorts), spec) for name, spec in cohorts.items()]
    for tree, spec in owners:
        for row, nominal, _ in rows(spec):
            found[tree, row] = WIDE.add(found[tree, row], nominal)
    return found


def rows(spec: Mapping[str, Any]) -> Iterator[tuple[Row, Decimal, Decimal | None]]:
    """Yield flavor and resource of each quota with its nominal amount, and its limit on borrowing if there is one."""
    for group in items(spec, "resourceGroups"):
        for flavor in items(group, "flavors"):
            for quota in items(flavor, "resources"):
                nominal, limit = amount(quota.get("nominalQuota")), amount(quota.get("borrowingLimit"))
                if nominal is not None:
                    yield (str(flavor.get("name")), str(quota.get("name"))), nominal, limit


def items(value: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    """Return the maps of a list; nothing of what is malformed."""
    found = value.get(name)
    return [item for item in found if isinstance(item, Mapping)] if isinstance(found, list) else []


def amount(text: Any) -> Decimal | None:
    """Return the amount that a quantity says; None where there is none."""
    try:
        return None if text is None else Quantity.parse(text).amount
    except ValueError:
        return None


def root(cohort: str, cohorts: Specs) -> str:
    """Return the uppermost cohort above one, empty for a queue without cohort; of a circle, its first by name."""
    seen: list[str] = []
    while cohort and cohort not in seen:
        seen.append(cohort)
        cohort = str(cohorts.get(cohort, {}).get("parentName") or "")
    return min(seen[seen.index(cohort) :]) if cohort else seen[-1] if seen else ""
