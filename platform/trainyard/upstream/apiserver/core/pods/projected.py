"""Projected volumes and downward API volumes: files from several sources in one folder."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.upstream.apiserver.core.certificates import check_signer
from trainyard.upstream.apiserver.core.clustertrustbundle import (
    SHORTEST,
    bundle_name,
    check_annotation_keys,
    longest_life,
)
from trainyard.upstream.apiserver.core.pods import paths
from trainyard.upstream.apiserver.core.pods.env import VOLUME_FIELDS, check_field, check_resource_field
from trainyard.upstream.apiserver.core.pods.rules import VOLUME
from trainyard.upstream.apiserver.core.pods.sources import check_keys, check_mode
from trainyard.upstream.apiserver.core.selectors import check_label_selector
from trainyard.upstream.apiserver.core.shapes import Object, child, each, number, text
from trainyard.upstream.apiserver.problems import Path, Problem

_SHORTEST_TOKEN = 600
_KINDS = ("secret", "configMap", "downwardAPI", "serviceAccountToken", "clusterTrustBundle", "podCertificate")
_KEYS = ("RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519")
_OWN_FILES = {
    "clusterTrustBundle": ("path",),
    "podCertificate": ("credentialBundlePath", "keyPath", "certificateChainPath"),
}
"""The files that a source writes itself, beside `items`; the token's path is not compared (1.34.4 to 1.37.2)."""


def check_downward(source: Object, path: Path) -> Iterator[Problem]:
    """Yield the problems with a downward API volume."""
    yield from check_mode(source, path)
    yield from _check_downward_files(source, path)


def _check_downward_files(source: Object, path: Path) -> Iterator[Problem]:
    for index, file in each(source, "items"):
        at = (*path, "items", index)
        yield from _check_path(file.get("path"), (*at, "path"), anywhere=False)
        field, resource = child(file, "fieldRef"), child(file, "resourceFieldRef")
        if field is not None:
            yield from check_field(field, (*at, "fieldRef"), VOLUME_FIELDS)
            if resource is not None:
                yield VOLUME.invalid(at, "resource", "fieldRef and resourceFieldRef cannot both be set")
        elif resource is not None:
            yield from check_resource_field(resource, (*at, "resourceFieldRef"), volume=True)
        else:
            yield VOLUME.required(at, "one of fieldRef and resourceFieldRef is required")
        yield from check_mode(file, at, "mode")


def _check_path(value: Any, path: Path, *, anywhere: bool) -> Iterator[Problem]:
    if not value:
        yield VOLUME.required(path)
    elif not anywhere and (detail := paths.local(value)):
        yield VOLUME.invalid(path, value, detail)


def check_projected(source: Object, path: Path, *, any_token_path: bool) -> Iterator[Problem]:
    """Yield the problems with a projected volume; no two sources may write the same file.

    Trust bundles and pod certificates are behind gates that are off before Kubernetes 1.37: the server drops them.
    """
    yield from check_mode(source, path)
    written: set[str] = set()
    for index, projection in each(source, "sources"):
        at = (*path, "sources", index)
        present = [kind for kind in _KINDS if child(projection, kind) is not None]
        for kind in present:
            yield from _check_projection(kind, projection[kind], (*at, kind), any_token_path)
            for field in _OWN_FILES.get(kind, ()):
                if name := text(projection[kind], field):
                    if name in written:
                        yield VOLUME.invalid((*at, kind, field), name, "conflicting duplicate path")
                    written.add(name)
            for file, item in each(projection[kind], "items"):
                target = item.get("path")
                if isinstance(target, str) and target:
                    if target in written:
                        yield VOLUME.invalid((*at, kind, "items", file, "path"), target, "conflicting duplicate path")
                    written.add(target)
        if len(present) > 1:
            yield VOLUME.forbidden(at, "may not specify more than 1 volume type per source")


def _check_projection(kind: str, projection: Object, path: Path, any_token_path: bool) -> Iterator[Problem]:
    if kind == "downwardAPI":
        yield from _check_downward_files(projection, path)
    elif kind == "serviceAccountToken":
        seconds = number(projection, "expirationSeconds")
        if seconds is not None and not _SHORTEST_TOKEN <= seconds <= 2**32:
            yield VOLUME.invalid((*path, "expirationSeconds"), seconds, "must be 10 minutes to 2^32 seconds")
        yield from _check_path(projection.get("path"), (*path, "path"), anywhere=any_token_path)
    elif kind == "clusterTrustBundle":
        yield from _check_bundle(projection, path)
    elif kind == "podCertificate":
        yield from _check_certificate(projection, path)
    else:
        if not projection.get("name"):
            yield VOLUME.required((*path, "name"))
        yield from check_keys(projection, path)


def _check_bundle(source: Object, path: Path) -> Iterator[Problem]:
    """Yield the problems with a trust bundle, which is named itself or found by its signer."""
    name, signer = source.get("name"), source.get("signerName")
    if name is not None and signer is not None:
        yield VOLUME.invalid(path, source, "only one of name and signerName may be used")
    elif name is not None:
        if not name:
            yield VOLUME.required((*path, "name"))
        given = text(source, "name")
        if detail := bundle_name(given, given.rpartition(":")[0].replace(":", "/")):
            yield VOLUME.invalid((*path, "name"), given, detail)
        if source.get("labelSelector") is not None:
            yield VOLUME.invalid((*path, "labelSelector"), "", "must be unset if name is specified")
    elif signer is not None:
        yield from check_signer(text(source, "signerName"), (*path, "signerName"))
        yield from check_label_selector(source.get("labelSelector"), (*path, "labelSelector"))
    else:
        yield VOLUME.required(path, "either name or signerName must be specified")
    yield from _check_path(source.get("path"), (*path, "path"), anywhere=False)


def _check_certificate(source: Object, path: Path) -> Iterator[Problem]:
    """Yield the problems with a certificate that the kubelet asks a signer for."""
    signer = text(source, "signerName")
    yield from check_signer(signer, (*path, "signerName"))
    yield from check_annotation_keys(source, "userAnnotations", path, VOLUME)
    if (key := source.get("keyType")) not in _KEYS:
        yield VOLUME.unsupported((*path, "keyType"), key or "", _KEYS)
    seconds, longest = number(source, "maxExpirationSeconds"), longest_life(signer)
    if seconds is not None and not SHORTEST <= seconds <= longest:
        yield VOLUME.invalid((*path, "maxExpirationSeconds"), seconds, f"must be {SHORTEST} to {longest}")
    files = [field for field in _OWN_FILES["podCertificate"] if text(source, field)]
    for field in files:
        yield from _check_path(source[field], (*path, field), anywhere=False)
    if not files:
        yield VOLUME.required(path, f"at least one of {', '.join(_OWN_FILES['podCertificate'])}")
