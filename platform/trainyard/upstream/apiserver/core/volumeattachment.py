"""VolumeAttachments: the driver that attaches, one source, one node, and that all of it stays.

Source: k8s.io/kubernetes v1.35.4 pkg/apis/storage/validation/validation.go ValidateVolumeAttachment.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.upstream.apiserver.core.csinode import check_driver_name
from trainyard.upstream.apiserver.core.equality import check_immutable
from trainyard.upstream.apiserver.core.shapes import Object, inner, text
from trainyard.upstream.apiserver.core.storage import SOURCE
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.problems import Problem, Rule

ATTACHMENT = Rule(
    "core/volume-attachment",
    f"{SOURCE} ValidateVolumeAttachmentV1",
    title="A VolumeAttachment has an attacher, a node and one source.",
    fix="set attacher, nodeName, and either persistentVolumeName or inlineVolumeSpec",
)
ATTACHMENT_UPDATE = Rule(
    "update/volume-attachment",
    f"{SOURCE} ValidateVolumeAttachmentUpdate",
    title="An update keeps the spec of a VolumeAttachment.",
    fix="restore spec, or create another VolumeAttachment",
)


def check(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:  # noqa: ARG001  # one signature for all kinds
    """Yield the problems with a VolumeAttachment, and a change of its spec."""
    spec = inner(value, "spec")
    if old is not None:
        yield from check_immutable(spec, inner(old, "spec"), ("spec",), ATTACHMENT_UPDATE)
        return
    yield from check_driver_name(text(spec, "attacher"), ("spec", "attacher"), ATTACHMENT)
    if detail := names.dns_subdomain(text(spec, "nodeName")):
        yield ATTACHMENT.invalid(("spec", "nodeName"), spec.get("nodeName"), detail)
    yield from _check_source(inner(spec, "source"))


def _check_source(source: Object) -> Iterator[Problem]:
    path = ("spec", "source")
    name, inline = source.get("persistentVolumeName"), source.get("inlineVolumeSpec")
    if name is None and inline is None:
        yield ATTACHMENT.required(path, "one of inlineVolumeSpec and persistentVolumeName")
    elif name is not None and inline is not None:
        yield ATTACHMENT.forbidden(path, "must have one of inlineVolumeSpec and persistentVolumeName only")
    elif inline is not None and not inner(source, "inlineVolumeSpec", "csi"):
        yield ATTACHMENT.required((*path, "inlineVolumeSpec", "csi"), "an inline volume is a CSI volume")
    elif name is not None and (detail := names.dns_subdomain(name)):
        yield ATTACHMENT.invalid((*path, "persistentVolumeName"), name, detail)
