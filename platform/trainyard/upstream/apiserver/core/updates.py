"""Updates of core objects: the form in which a server has stored them, and the fields that it keeps as they are.

Source: k8s.io/kubernetes v1.35.4 pkg/apis/core/v1/conversion.go Convert_v1_Secret_To_core_Secret;
pkg/registry/certificates/certificates/strategy.go PrepareForUpdate; pkg/api/persistentvolumeclaim/util.go.
"""

from __future__ import annotations

from base64 import b64encode

from trainyard.upstream.apiserver.core.shapes import Object, child, inner


def stored_object(value: Object) -> Object:
    """Return an object as it is stored: a Secret's `stringData` is among its data."""
    texts = child(value, "stringData")
    if value.get("kind") != "Secret" or value.get("apiVersion") != "v1" or texts is None:
        return value
    plain = {key: text for key, text in texts.items() if isinstance(text, str)}
    encoded = {key: b64encode(text.encode(errors="surrogatepass")).decode() for key, text in plain.items()}
    rest = {key: entry for key, entry in value.items() if key != "stringData"}
    return {**rest, "data": {**(child(value, "data") or {}), **encoded}}


def keep(value: Object, before: Object) -> None:
    """Put back what an update cannot change, and take out what it makes the server refuse instead of dropping it.

    The specification of a CertificateSigningRequest stays. A claim that has a `dataSourceRef` may not be given one in
    another namespace: without `dataSource` that is a change, and refused as one.
    """
    kind, spec, old = value.get("kind"), child(value, "spec"), child(before, "spec")
    if spec is None or old is None:
        return
    if kind == "CertificateSigningRequest":
        value["spec"] = old
    elif kind == "PersistentVolumeClaim" and old.get("dataSourceRef") and inner(spec, "dataSourceRef").get("namespace"):
        spec.pop("dataSource", None)
