"""CertificateSigningRequests: who signs, what for, and that the request is one.

Source: k8s.io/kubernetes v1.35.4 pkg/apis/certificates/validation/validation.go, pkg/apis/core/validation/names.go.
Signatures are not computed: that takes the algorithms of every kind of key.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator

from trainyard.upstream.apiserver.core.shapes import Object, inner, number, text, texts
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.problems import Path, Problem, Rule

SOURCE = "k8s.io/kubernetes v1.35.4 pkg/apis/certificates/validation/validation.go"
REQUEST = Rule(
    "core/signing-request",
    f"{SOURCE} validateCertificateSigningRequest",
    title="A CertificateSigningRequest has a valid request, signer, usages and duration.",
    fix="put a PEM block CERTIFICATE REQUEST in request, and set usages and signerName",
)
SIGNER = Rule(
    "core/signer-name",
    "k8s.io/kubernetes v1.35.4 pkg/apis/core/validation/names.go ValidateSignerName",
    title="A signer's name is a domain and a path.",
    fix="write a name such as example.com/my-signer",
)

USAGES = (
    "any", "cert sign", "client auth", "code signing", "content commitment", "crl sign", "data encipherment",
    "decipher only", "digital signature", "email protection", "encipher only", "ipsec end system", "ipsec tunnel",
    "ipsec user", "key agreement", "key encipherment", "microsoft sgc", "netscape sgc", "ocsp signing", "s/mime",
    "server auth", "signing", "timestamping",
)  # fmt: skip
_LEGACY = "kubernetes.io/legacy-unknown"
_SHORTEST = 600
_LONGEST_PATH = 253 + 63 + 1
PEM = re.compile(
    r"(?:^|\n)-----BEGIN ([^\n]*?)-----[ \t]*\r?\n((?:[^\n:]+:[^\n]*\n)*\s*[A-Za-z0-9+/=\s]*?)"
    r"-----END \1-----[ \t]*\r?(?:\n|$)"
)
"""A block of PEM: its type, and its body with what headers it has (Go's encoding/pem)."""
_SEQUENCE, _INTEGER, _BITS = 0x30, 0x02, 0x03


def check(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:  # noqa: ARG001  # one signature for all kinds
    """Yield the problems with a CertificateSigningRequest; an update of its specification is passed over."""
    if old is not None:
        return
    spec = inner(value, "spec")
    yield from _check_request(spec)
    if not spec.get("usages"):
        yield REQUEST.required(("spec", "usages"))
    seen: set[str] = set()
    for index, usage in texts(spec, "usages"):
        path: Path = ("spec", "usages", index)
        if usage not in USAGES:
            yield REQUEST.unsupported(path, usage, USAGES)
        if usage in seen:
            yield REQUEST.duplicate(path, usage)
        seen.add(usage)
    signer = text(spec, "signerName")
    if signer == _LEGACY:
        yield SIGNER.invalid(("spec", "signerName"), signer, "the legacy signer is not served by this version")
    else:
        yield from check_signer(signer, ("spec", "signerName"))
    seconds = number(spec, "expirationSeconds")
    if seconds is not None and seconds < _SHORTEST:
        yield REQUEST.invalid(("spec", "expirationSeconds"), seconds, "must be at least 600, ten minutes")


def check_signer(signer: str, path: Path) -> Iterator[Problem]:
    """Yield the problems with the name of a signer, `domain/path`."""
    if not signer:
        yield SIGNER.required(path)
        return
    domain, slash, rest = signer.partition("/")
    if not slash or "/" in rest:
        yield SIGNER.invalid(path, signer, "must be a domain and a path, such as 'example.com/signer-name'")
        return
    if len(domain) > 253:
        yield SIGNER.too_long(path, 253)
    labels = domain.split(".")
    if any(names.dns_label(label) for label in labels):
        yield SIGNER.invalid(path, domain, names.NOT_SUBDOMAIN)
    if len(labels) == 1:
        yield SIGNER.invalid(path, domain, "must be a domain with at least two parts")
    if any(names.dns_subdomain(label) for label in rest.split(".")):
        yield SIGNER.invalid(path, rest, names.NOT_SUBDOMAIN)
    if len(rest) > _LONGEST_PATH:
        yield SIGNER.too_long(path, _LONGEST_PATH)


def _check_request(spec: Object) -> Iterator[Problem]:
    given = spec.get("request")
    if given is not None and not isinstance(given, str):
        return
    try:
        plain = base64.b64decode(given or "").decode("latin-1")
    except (ValueError, binascii.Error):
        return
    found = PEM.search(plain)
    if found is None or found[1] != "CERTIFICATE REQUEST":
        yield REQUEST.invalid(("spec", "request"), given or "", "PEM block type must be CERTIFICATE REQUEST")
    elif not is_request(found[2]):
        yield REQUEST.invalid(("spec", "request"), given, "is no PKCS#10 certificate request")


def is_request(body: str) -> bool:
    """Whether the body of a PEM block has the shape of a PKCS#10 request: RFC 2986, section 4."""
    try:
        der = base64.b64decode("".join(body.split()), validate=True)
        (tag, request), rest = _element(der)
        info, algorithm, signature = _elements(request)
        parts = _elements(info[1])
    except (ValueError, IndexError):
        return False
    shape = [each_tag for each_tag, _ in parts[:3]]
    outer = (tag, info[0], algorithm[0], signature[0])
    return not rest and outer == (_SEQUENCE, _SEQUENCE, _SEQUENCE, _BITS) and shape == [_INTEGER, _SEQUENCE, _SEQUENCE]


def _elements(data: bytes) -> list[tuple[int, bytes]]:
    found = []
    while data:
        element, data = _element(data)
        found.append(element)
    return found


def _element(data: bytes) -> tuple[tuple[int, bytes], bytes]:
    """Split the first DER element off."""
    size, start = data[1], 2
    if size & 0x80:
        start += size & 0x7F
        size = int.from_bytes(data[2:start], "big")
    if start + size > len(data):
        raise ValueError("cut off")
    return (data[0], data[start : start + size]), data[start + size :]
