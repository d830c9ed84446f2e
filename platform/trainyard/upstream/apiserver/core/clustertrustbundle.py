"""ClusterTrustBundles, which servers serve from Kubernetes 1.37 on, and what certificates of pods share with them.

Source: k8s.io/kubernetes v1.37.2 pkg/apis/certificates/validation/validation.go. Keys and signatures are not computed.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator

from trainyard.upstream.apiserver.core.certificates import PEM, check_signer
from trainyard.upstream.apiserver.core.equality import check_immutable
from trainyard.upstream.apiserver.core.shapes import Object, inner, text
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.problems import Path, Problem, Rule

SOURCE = "k8s.io/kubernetes v1.37.2 pkg/apis/certificates/validation/validation.go"
BUNDLE = Rule(
    "core/trust-bundle",
    f"{SOURCE} ValidateClusterTrustBundle",
    title="A ClusterTrustBundle has certificates of authorities, and a name that begins with its signer's.",
    fix="put PEM blocks CERTIFICATE into trustBundle; name it <signer's domain>:<path>:<name>, or drop signerName",
)
IMMUTABLE = Rule(
    "update/trust-bundle",
    f"{SOURCE} ValidateClusterTrustBundleUpdate, ValidatePodCertificateRequestUpdate",
    title="An update keeps the signer of a ClusterTrustBundle and the spec of a PodCertificateRequest.",
    fix="restore the field, or create another object",
)

_LARGEST_BUNDLE = 1024 * 1024
SHORTEST = 3600
"""Seconds that a pod's certificate lasts at least."""
_LONGEST, _LONGEST_OF_KUBERNETES = 91 * 86400, 86400
_SEQUENCE = 0x30
_IS_AUTHORITY = bytes.fromhex("0603551d13")
"""The extension basicConstraints (RFC 5280, 4.2.1.9), in which a boolean says whether it is an authority's."""


def longest_life(signer: str) -> int:
    """Return the seconds that a pod's certificate may last; less of Kubernetes' own signers, whose names say so."""
    return _LONGEST_OF_KUBERNETES if f".{signer.partition('/')[0]}".endswith(".kubernetes.io") else _LONGEST


def bundle_name(name: str, signer: str) -> str | None:
    """The rule for names of bundles: the signer's name with colons comes first, where there is one."""
    if not signer:
        return "must not have ':' in its name, as there is no signerName" if ":" in name else names.dns_subdomain(name)
    prefix = f"{signer.replace('/', ':')}:"
    if not name.startswith(prefix):
        return f"must begin with {prefix!r}, as signerName says"
    return names.dns_subdomain(name.removeprefix(prefix))


def check_bundle(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:  # noqa: ARG001  # one signature for all kinds
    """Yield the problems with a ClusterTrustBundle, and a change of its signer."""
    spec, before = inner(value, "spec"), inner(old or {}, "spec")
    signer, name = text(spec, "signerName"), text(inner(value, "metadata"), "name")
    if name and (detail := bundle_name(name, signer)):
        yield BUNDLE.invalid(("metadata", "name"), name, detail)
    if signer:
        yield from check_signer(signer, ("spec", "signerName"))
    if old is None or text(spec, "trustBundle") != text(before, "trustBundle"):
        yield from _check_certificates(text(spec, "trustBundle"), ("spec", "trustBundle"))
    if old is not None:
        yield from check_immutable(signer, text(before, "signerName"), ("spec", "signerName"), IMMUTABLE)


def _check_certificates(bundle: str, path: Path) -> Iterator[Problem]:
    """Yield blocks that are no certificates of authorities, or stand twice; values are left out, as they are long."""
    if names.size(bundle) > _LARGEST_BUNDLE:
        yield BUNDLE.too_long(path, _LARGEST_BUNDLE)
        return
    seen: list[bytes] = []
    found = list(PEM.finditer(bundle))
    for index, block in enumerate(found):
        if block[1] != "CERTIFICATE":
            yield BUNDLE.invalid(path, block[1], f"entry {index} is no PEM block CERTIFICATE")
        elif (der := _decode(block[2])) is None:
            yield BUNDLE.invalid(path, "", f"entry {index} is no X.509 certificate, or has PEM headers")
        elif not _is_authority(der):
            yield BUNDLE.invalid(path, "", f"entry {index} is no certificate of an authority")
        elif der in seen:
            yield BUNDLE.invalid(path, "", f"entries {seen.index(der)} and {index} are the same")
        else:
            seen.append(der)
    if not found:
        yield BUNDLE.invalid(path, "", "must have at least one certificate")


def _decode(body: str) -> bytes | None:
    try:
        der = base64.b64decode("".join(body.split()), validate=True)
    except ValueError:
        return None
    return der if len(der) > 2 and der[0] == _SEQUENCE else None


def _is_authority(der: bytes) -> bool:
    """Whether a certificate says that it is an authority's: the extension's sequence begins with the boolean true."""
    at = der.find(_IS_AUTHORITY)
    return at >= 0 and b"\x01\x01\xff" in der[at + len(_IS_AUTHORITY) + 3 : at + len(_IS_AUTHORITY) + 16]


def check_annotation_keys(owner: Object, field: str, path: Path, rule: Rule) -> Iterator[Problem]:
    """Yield keys of annotations for a signer that have no domain."""
    for key in inner(owner, field):
        if "/" not in str(key) or names.label_key(str(key).lower()):
            yield rule.invalid((*path, field), key, "must be a domain and a name, such as 'example.com/key'")
