"""Resources inside a custom resource: what they say they are, and their metadata.

Source: k8s.io/apiextensions-apiserver v0.35.4 pkg/apiserver/schema/objectmeta/validation.go.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from trainyard.upstream.apiserver.meta import metadata, names
from trainyard.upstream.apiserver.problems import spell_value
from trainyard.upstream.apiserver.schema.decoded import DECODED
from trainyard.upstream.apiserver.schema.walk import Fault, Faults

SOURCE = "k8s.io/apiextensions-apiserver v0.35.4 pkg/apiserver/schema/objectmeta/validation.go"
TIME = DECODED["meta.v1.Time"]
KIND = re.compile("[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?")


def check_embedded(value: Any) -> Faults:
    """Check what an embedded resource says it is; that apiVersion and kind are there, and text, is asked elsewhere."""
    faults = []
    api_version, kind = value.get("apiVersion"), value.get("kind")
    if isinstance(api_version, str) and (not api_version or api_version.count("/") > 1):
        message = f"invalid value: {spell_value(api_version)}: must be a group and version"
        faults.append(Fault("schema/embedded", message, SOURCE, ["apiVersion"]))
    if isinstance(kind, str) and not KIND.fullmatch(kind.lower()):
        message = f"invalid value: {spell_value(kind)}: must be a kind such as Pod"
        faults.append(Fault("schema/embedded", message, SOURCE, ["kind"]))
    return [*faults, *embedded_metadata(value.get("metadata"))]


def embedded_metadata(meta: Any) -> Iterator[Fault]:
    """Check names, labels and annotations of an embedded resource."""
    if not isinstance(meta, dict):
        return
    for field in ("creationTimestamp", "deletionTimestamp"):
        for fault in (TIME(meta[field]) if meta.get(field) is not None else None) or ():
            yield Fault(fault.rule, fault.message, SOURCE, [field, "metadata"])
    if detail := names.path_segment(meta.get("name")):
        message = f"invalid value: {spell_value(meta['name'])}: {detail}"
        yield Fault("schema/embedded", message, SOURCE, ["name", "metadata"])
    for problem in (
        *metadata.check_labels(meta.get("labels"), ("metadata", "labels")),
        *metadata.check_annotations(meta.get("annotations"), ("metadata", "annotations")),
    ):
        yield Fault(problem.rule, problem.message, problem.source, [*reversed(problem.path)])
