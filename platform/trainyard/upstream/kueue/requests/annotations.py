"""The topology request that annotations of a pod template are.

Source: kueue v0.19.2 pkg/controller/jobframework/tas.go, apis/kueue/v1beta2/topology_types.go.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from trainyard.upstream.kueue.model.gates import Gates

PREFIX = "kueue.x-k8s.io/podset-"
REQUIRED, PREFERRED, UNCONSTRAINED = (f"{PREFIX}{word}-topology" for word in ("required", "preferred", "unconstrained"))
SLICE_LEVEL, SLICE_SIZE = f"{PREFIX}slice-required-topology", f"{PREFIX}slice-size"
LAYERS = f"{SLICE_LEVEL}-constraints"
GROUP = f"{PREFIX}group-name"

IN_TOPOLOGIES = frozenset({REQUIRED, PREFERRED, UNCONSTRAINED, SLICE_LEVEL, LAYERS})
"""Annotations of pods whose place Kueue keeps account of (pkg/util/tas IsTAS)."""

MOST_LAYERS = 3
BOOLEANS = {
    **dict.fromkeys(("1", "t", "T", "true", "TRUE", "True"), True),
    **dict.fromkeys(("0", "f", "F", "false", "FALSE", "False"), False),
}
"""What Go's strconv.ParseBool takes."""

SIZE = re.compile(r"[+-]?[0-9]+", re.ASCII)


class Malformed(Exception):  # noqa: N818  # it is an answer, in Kueue's words
    """An annotation of which Kueue makes no Workload."""


class Index(NamedTuple):
    """Labels by which a kind tells its pods apart, and how many equal groups of them there are."""

    pod: str | None = None
    group: str | None = None
    groups: int | None = None


NO_INDEX = Index()


def topology_request(metadata: Mapping[str, Any] | None, index: Index, gates: Gates) -> dict[str, Any] | None:
    """Return the request, as a Workload has it, None where there is none; raises Malformed."""
    if not gates["TopologyAwareScheduling"]:
        return None
    notes: Mapping[str, str] = (metadata or {}).get("annotations") or {}
    found: dict[str, Any] = {}
    if REQUIRED in notes:
        found["required"] = notes[REQUIRED]
    elif PREFERRED in notes:
        found["preferred"] = notes[PREFERRED]
    elif UNCONSTRAINED in notes:
        found["unconstrained"] = boolean(notes[UNCONSTRAINED])
    elif not ({SLICE_LEVEL, SLICE_SIZE} <= notes.keys() or LAYERS in notes) and index == NO_INDEX:
        return None
    if gates["TASMultiLayerTopology"] and LAYERS in notes:
        found["podsetSliceRequiredTopologyConstraints"] = layers(notes[LAYERS])
    elif {SLICE_LEVEL, SLICE_SIZE} <= notes.keys():
        found |= {"podSetSliceRequiredTopology": notes[SLICE_LEVEL], "podSetSliceSize": size(notes[SLICE_SIZE])}
    given = {"podIndexLabel": index.pod, "subGroupIndexLabel": index.group, "subGroupCount": index.groups}
    found |= {name: value for name, value in given.items() if value is not None}
    if GROUP in notes and (REQUIRED in notes or PREFERRED in notes):
        found["podSetGroupName"] = notes[GROUP]
    return found


def boolean(text: str) -> bool:
    """Return a truth value as Go reads it; raises Malformed."""
    if text not in BOOLEANS:
        raise Malformed(f'strconv.ParseBool: parsing "{text}": invalid syntax')
    return BOOLEANS[text]


def size(text: str) -> int:
    """Return a number of 32 bits; raises Malformed."""
    if not SIZE.fullmatch(text):
        raise Malformed(f'strconv.ParseInt: parsing "{text}": invalid syntax')
    if not -(2**31) <= int(text) < 2**31:
        raise Malformed(f'strconv.ParseInt: parsing "{text}": value out of range')
    return int(text)


def layers(text: str) -> list[dict[str, Any]]:
    """Return layers of slices, the widest first; raises Malformed."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        message = f"failed to parse multi-layer topology constraints annotation: {error}"
        raise Malformed(message) from error
    count = len(found) if isinstance(found, list) else 0
    if not 1 <= count <= MOST_LAYERS:
        raise Malformed(f"topology constraints must contain between 1 and {MOST_LAYERS} entries: got {count}")
    return [{"topology": layer.get("topology") or "", "size": layer.get("size") or 0} for layer in found]
