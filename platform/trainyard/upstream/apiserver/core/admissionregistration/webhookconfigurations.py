"""Webhook configurations, and the address of any webhook.

Source: k8s.io/kubernetes v1.35.4 pkg/apis/admissionregistration/validation/validation.go
validateValidatingWebhookConfiguration and k8s.io/apiserver v0.35.4 pkg/util/webhook/validation.go.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from trainyard.base.versions import minor
from trainyard.upstream.apiserver.core.admissionregistration.matching import (
    FAILURE_POLICIES,
    MATCH_POLICIES,
    SOURCE,
    check_choice,
    check_conditions,
    check_rule,
    default_matching,
)
from trainyard.upstream.apiserver.core.configmap import BASE64, decode_base64
from trainyard.upstream.apiserver.core.expressions import compile_error, requests
from trainyard.upstream.apiserver.core.selectors import check_label_selector
from trainyard.upstream.apiserver.core.shapes import Object, child, each, fill_absent, inner, number, text, texts
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.problems import Path, Problem, Rule

WEBHOOK = Rule(
    "core/webhook",
    f"{SOURCE} validateValidatingWebhook",
    title="A webhook configuration has complete webhooks with valid names, policies and timeouts.",
    fix="set name, sideEffects and admissionReviewVersions; timeoutSeconds is 1 to 30",
)
ADDRESS = Rule(
    "core/webhook-address",
    "k8s.io/apiserver v0.35.4 pkg/util/webhook/validation.go ValidateWebhookURL",
    title="A webhook has one address: an HTTPS URL or a Service.",
    fix="set exactly one of url and service in clientConfig",
)
VERSIONS = Rule(
    "core/webhook-versions",
    f"{SOURCE} validateAdmissionReviewVersions",
    title="A webhook supports a version of AdmissionReview that the API server sends.",
    fix="add v1 to admissionReviewVersions",
)

_LONGEST_TIMEOUT = 30
_HARMLESS = ("None", "NoneOnDryRun")
_bad_escape = re.compile("%(?![0-9A-Fa-f]{2})").search
_bad_host = re.compile(r'[\s<>"\\^`{|}]').search


def default(value: Object, minor: int) -> None:  # noqa: ARG001  # one signature for all kinds
    """Default a webhook configuration."""
    mutating = value.get("kind") == "MutatingWebhookConfiguration"
    for _, webhook in each(value, "webhooks"):
        fill_absent(webhook, "failurePolicy", "Fail")
        fill_absent(webhook, "timeoutSeconds", 10)
        default_matching(webhook)
        if mutating:
            fill_absent(webhook, "reinvocationPolicy", "Never")
        for _, rule in each(webhook, "rules"):
            fill_absent(rule, "scope", "*")
        if (reference := child(inner(webhook, "clientConfig"), "service")) is not None:
            fill_absent(reference, "port", 443)


def check(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:  # noqa: ARG001
    """Yield the problems with a validating or mutating webhook configuration."""
    seen: set[str] = set()
    for index, webhook in each(value, "webhooks"):
        path = ("webhooks", index)
        name = webhook.get("name") or ""
        if detail := names.fully_qualified(name):
            yield WEBHOOK.invalid((*path, "name"), name, detail)
        if name and text(webhook, "name") in seen:
            yield WEBHOOK.duplicate((*path, "name"), name)
        seen.add(text(webhook, "name"))
        mutating = value.get("kind") == "MutatingWebhookConfiguration"
        yield from _check_webhook(webhook, path, minor(kubernetes), mutating=mutating)


def _check_webhook(webhook: Object, path: Path, release: int, *, mutating: bool) -> Iterator[Problem]:
    for index, rule in each(webhook, "rules"):
        yield from check_rule(rule, (*path, "rules", index))
    yield from check_choice(webhook, "failurePolicy", FAILURE_POLICIES, path, WEBHOOK)
    yield from check_choice(webhook, "matchPolicy", MATCH_POLICIES, path, WEBHOOK)
    if mutating:
        yield from check_choice(webhook, "reinvocationPolicy", ("IfNeeded", "Never"), path, WEBHOOK)
    if webhook.get("sideEffects") is None:
        yield WEBHOOK.required((*path, "sideEffects"), "must be None or NoneOnDryRun")
    yield from check_choice(webhook, "sideEffects", _HARMLESS, path, WEBHOOK)
    seconds = number(webhook, "timeoutSeconds")
    if seconds is not None and not 1 <= seconds <= _LONGEST_TIMEOUT:
        yield WEBHOOK.invalid((*path, "timeoutSeconds"), seconds, f"must be between 1 and {_LONGEST_TIMEOUT} seconds")
    for field in ("namespaceSelector", "objectSelector"):
        yield from check_label_selector(webhook.get(field), (*path, field))
    yield from check_client(inner(webhook, "clientConfig"), (*path, "clientConfig"))
    yield from check_conditions(webhook, path)
    for index, condition in each(webhook, "matchConditions"):
        expression = text(condition, "expression").strip()
        if expression and (detail := compile_error(requests(release), expression, "bool")):
            yield WEBHOOK.invalid((*path, "matchConditions", index, "expression"), expression, detail)
    yield from check_versions(webhook, "admissionReviewVersions", path)


def check_versions(owner: Object, field: str, path: Path) -> Iterator[Problem]:
    """Yield review versions that are no names or occur twice, or none that the server speaks."""
    versions = [version for _, version in texts(owner, field)]
    if not versions:
        if not owner.get(field):
            yield VERSIONS.required((*path, field), "must name v1 or v1beta1")
        return
    for index, version in enumerate(versions):
        if version in versions[:index]:
            yield VERSIONS.duplicate((*path, field, index), version)
        elif detail := names.dns_label_1035(version):
            yield VERSIONS.invalid((*path, field, index), version, detail)
    if not {"v1", "v1beta1"} & set(versions):
        yield VERSIONS.invalid((*path, field), versions, "must include at least one of v1, v1beta1")


def check_client(config: Object, path: Path) -> Iterator[Problem]:
    """Yield the problems with the address of a webhook: one of a URL and a service."""
    url, service = config.get("url"), child(config, "service")
    bundle = config.get("caBundle")
    if isinstance(bundle, str) and decode_base64(bundle) is None:
        yield BASE64.invalid((*path, "caBundle"), f"{len(bundle)} characters", "must be base64")
    if (url is None) == (service is None):
        yield ADDRESS.required(path, "exactly one of url or service is required")
    elif isinstance(url, str):
        if detail := _url(url):
            yield ADDRESS.invalid((*path, "url"), url, f"{detail}; write https://host[/path]")
    elif service is not None:
        yield from check_service(service, (*path, "service"))


def check_service(service: Object, path: Path) -> Iterator[Problem]:
    """Yield the problems with a reference to a webhook's service."""
    for field in ("name", "namespace"):
        if not service.get(field):
            yield ADDRESS.required((*path, field))
    port = number(service, "port")
    if port is not None and (detail := names.port_number(port)):
        yield ADDRESS.invalid((*path, "port"), port, detail)
    where = text(service, "path")
    if where in {"", "/"}:
        return
    if not where.startswith("/"):
        yield ADDRESS.invalid((*path, "path"), where, "must start with a '/'")
    for step in where[1:].removesuffix("/").split("/"):
        if not step or names.dns_subdomain(step):
            yield ADDRESS.invalid((*path, "path"), where, "each segment must be a DNS name")
            break


def _url(url: str) -> str | None:
    if any(ord(char) < 0x20 or ord(char) == 0x7F for char in url) or _bad_escape(url.partition("#")[0]):
        return "must be a valid URL"
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return "must be a valid URL"
    if parts.scheme != "https":
        return "https is the only allowed scheme"
    if not parts.netloc or _bad_host(parts.netloc):
        return "a host must be specified"
    if "@" in parts.netloc or parts.fragment or parts.query:
        return "user, fragment and query are not permitted"
    return None
