"""Why Kueue's webhooks refuse an object of a case, in the words of its API server."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from trainyard.upstream.kueue.model.gates import Gates
from trainyard.upstream.kueue.replay.case import Given
from trainyard.upstream.kueue.webhooks import (
    Fault,
    cluster_queue_faults,
    cohort_faults,
    flavor_faults,
    reclaimable_faults,
    workload_faults,
)
from trainyard.upstream.kueue.webhooks.faults import Entry, Key, Path

QUEUES = {"ClusterQueue": cluster_queue_faults, "Cohort": cohort_faults, "ResourceFlavor": flavor_faults}


def refusal_reason(given: Given, gates: Gates) -> str | None:
    """Return why an object is refused, None where it is not."""
    found = [in_words_of_go(fault) for fault in faults(given, gates)]
    if len(found) > 1:
        return f"[{', '.join(dict.fromkeys(found))}]"
    return found[0] if found else None


def faults(given: Given, gates: Gates) -> Iterator[Fault]:
    """Yield the fields that the webhook of the object's kind refuses."""
    if given.kind in QUEUES:
        yield from QUEUES[given.kind](given.source)
    elif given.kind == "Workload":
        yield from workload_faults(given.source, gates)
        yield from reclaimable_faults(given.source)


def in_words_of_go(fault: Fault) -> str:
    """Return a fault as Go writes it (k8s.io/apimachinery v0.36 pkg/util/validation/field/errors.go)."""
    path, value = written_path(fault.path), json.dumps(fault.value, separators=(",", ":"), ensure_ascii=False)
    tail = f": {fault.detail}" if fault.detail else ""
    match fault.form:
        case "required":
            return f"{path}: Required value{tail}"
        case "forbidden":
            return f"{path}: Forbidden{tail}"
        case "too long":
            return f"{path}: Too long{tail}"
        case "duplicate":
            return f"{path}: Duplicate value: {value}{tail}"
        case "unsupported":
            return f"{path}: {unsupported_value(str(fault.value), fault.choices)}"
        case _:
            return f"{path}: Invalid value: {value}{tail}"


def written_path(path: Path) -> str:
    """Return a path as Go writes it: places and some keys in brackets, and labels at their map."""
    parts = [part for part in path if not isinstance(part, Entry)]
    return "".join(f"[{part}]" if isinstance(part, int | Key) else f".{part}" for part in parts).removeprefix(".")


def unsupported_value(value: str, supported: Iterable[str]) -> str:
    """Return that a value is none of those that there are."""
    names = ", ".join(f'"{name}"' for name in supported)
    return f'Unsupported value: "{value}"' + (f": supported values: {names}" if names else "")
