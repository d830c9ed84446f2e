"""PodCertificateRequests, which servers serve from Kubernetes 1.37 on.

Source: k8s.io/kubernetes v1.37.2 pkg/apis/certificates/validation/validation.go. Keys and signatures are not computed.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.upstream.apiserver.core.certificates import check_signer, is_request
from trainyard.upstream.apiserver.core.clustertrustbundle import (
    IMMUTABLE,
    SHORTEST,
    SOURCE,
    check_annotation_keys,
    longest_life,
)
from trainyard.upstream.apiserver.core.equality import check_immutable
from trainyard.upstream.apiserver.core.shapes import Object, inner, number, text
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.problems import Problem, Rule

REQUEST = Rule(
    "core/pod-certificate-request",
    f"{SOURCE} ValidatePodCertificateRequestCreate",
    title="A PodCertificateRequest names a pod, its service account, its node, a signer and a duration.",
    fix="fill in the field that the message names; kubelets make these objects",
)

_LARGEST_REQUEST = 10 * 1024
_LONGEST_ID = 128


def check_request(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:  # noqa: ARG001  # one signature for all kinds
    """Yield the problems with a PodCertificateRequest, whose specification may not change."""
    spec = inner(value, "spec")
    if old is not None:
        yield from check_immutable(spec, inner(old, "spec"), ("spec",), IMMUTABLE)
        return
    signer = text(spec, "signerName")
    yield from check_signer(signer, ("spec", "signerName"))
    yield from check_annotation_keys(spec, "unverifiedUserAnnotations", ("spec",), REQUEST)
    for field in ("podName", "serviceAccountName", "nodeName"):
        if detail := names.dns_subdomain(text(spec, field)):
            yield REQUEST.invalid(("spec", field), text(spec, field), detail)
    for field in ("podUID", "serviceAccountUID", "nodeUID"):
        if not text(spec, field):
            yield REQUEST.invalid(("spec", field), "", "must not be empty")
        elif names.size(text(spec, field)) > _LONGEST_ID:
            yield REQUEST.too_long(("spec", field), _LONGEST_ID)
    seconds, longest = number(spec, "maxExpirationSeconds"), longest_life(signer)
    if seconds is None:
        yield REQUEST.required(("spec", "maxExpirationSeconds"))
    elif not SHORTEST <= seconds <= longest:
        yield REQUEST.invalid(("spec", "maxExpirationSeconds"), seconds, f"must be {SHORTEST} to {longest}")
    given = text(spec, "stubPKCS10Request")
    if not given:
        yield REQUEST.invalid(("spec",), "", "stubPKCS10Request must be set")
    elif len(given) * 3 // 4 > _LARGEST_REQUEST:
        yield REQUEST.too_long(("spec", "stubPKCS10Request"), _LARGEST_REQUEST)
    elif not is_request(given):
        yield REQUEST.invalid(("spec", "stubPKCS10Request"), given, "is no PKCS#10 certificate request")
