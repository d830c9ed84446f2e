"""CustomResourceDefinitions: names, versions, conversion, and what an update may not change.

Source: k8s.io/apiextensions-apiserver v0.35.4 pkg/apis/apiextensions/validation/validation.go
ValidateCustomResourceDefinition and ValidateCustomResourceDefinitionUpdate.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Iterator
from urllib.parse import urlsplit

from trainyard.base.versions import minor
from trainyard.upstream.apiserver.catalog import crd, schemas
from trainyard.upstream.apiserver.cel.declare import Declarations
from trainyard.upstream.apiserver.core.admissionregistration.webhookconfigurations import check_client, check_versions
from trainyard.upstream.apiserver.core.apiextensions.costs import Ledger
from trainyard.upstream.apiserver.core.apiextensions.defaults import check_defaults
from trainyard.upstream.apiserver.core.apiextensions.expressions import Environments
from trainyard.upstream.apiserver.core.apiextensions.nodes import is_convertible, is_well_formed, states_rules
from trainyard.upstream.apiserver.core.apiextensions.schemas import SCHEMA, SOURCE, Place, check_schema
from trainyard.upstream.apiserver.core.apiextensions.structural import check_structural
from trainyard.upstream.apiserver.core.apiextensions.versions import check_version
from trainyard.upstream.apiserver.core.equality import check_immutable
from trainyard.upstream.apiserver.core.shapes import Object, child, count, each, flag, inner, text, texts
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.problems import Path, Problem, Rule
from trainyard.upstream.apiserver.schema.custom import Compiler

SPEC = Rule(
    "core/crd",
    f"{SOURCE} validateCustomResourceDefinitionSpec",
    title="A CustomResourceDefinition has a group, a scope and versions, of which one is stored.",
    fix="set group, scope and names; set storage: true in exactly one version",
)
NAMES = Rule(
    "core/crd-names",
    f"{SOURCE} ValidateCustomResourceDefinitionNames",
    title="A CustomResourceDefinition's names are valid and do not collide.",
    fix="name the CRD <plural>.<group>, and use different values for kind and listKind",
)
CONVERSION = Rule(
    "core/crd-conversion",
    f"{SOURCE} validateCustomResourceConversion",
    title="A CustomResourceDefinition's conversion is None, or a complete Webhook.",
    fix="set strategy: None, or add a webhook with clientConfig and conversionReviewVersions",
)
ROOT = SCHEMA.of_source(f"{SOURCE} validateCustomResourceDefinitionValidation")
APPROVAL = Rule(
    "core/crd-approval",
    f"{SOURCE} validateAPIApproval",
    title="A CustomResourceDefinition in a group of Kubernetes names its API approval.",
    fix="use a group of your own, or set the annotation api-approved.kubernetes.io",
)
IMMUTABLE = Rule(
    "update/crd",
    f"{SOURCE} validateCustomResourceDefinitionSpecUpdate",
    title="An update keeps a CustomResourceDefinition's group, scope, names and stored versions.",
    fix="restore the old value; migrate stored objects before you remove their version",
)
STORED = IMMUTABLE.of_source(f"{SOURCE} ValidateCustomResourceDefinitionStoredVersions")

_APPROVED = "api-approved.kubernetes.io"
_RANGED_MINOR = 36
_WITH_STATUS_NAMES = """
    description type format title maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength pattern
    maxItems minItems uniqueItems multipleOf required items properties externalDocs example
    x-kubernetes-preserve-unknown-fields x-kubernetes-validations
"""
_WITH_STATUS = frozenset(_WITH_STATUS_NAMES.split())
"""What the root of a schema may say where status is a subresource."""


def default(value: Object, minor: int) -> None:  # noqa: ARG001  # one signature for all kinds
    """Default a CustomResourceDefinition."""
    if (spec := child(value, "spec")) is None:
        return
    names = child(spec, "names")
    if names is not None and text(names, "kind"):
        if not names.get("singular"):
            names["singular"] = names["kind"].lower()
        if not names.get("listKind"):
            names["listKind"] = f"{names['kind']}List"
    if spec.get("conversion") is None:
        spec["conversion"] = {"strategy": "None"}
    service = child(inner(spec, "conversion", "webhook", "clientConfig"), "service")
    if service is not None and service.get("port") is None:
        service["port"] = 443


def check(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:
    """Yield the problems with a CustomResourceDefinition, and changes that an update may not make.

    A definition without conditions in its status counts as established, for a server takes no second for it.
    """
    spec = inner(value, "spec")
    group, plural = text(spec, "group"), text(inner(spec, "names"), "plural")
    name = text(inner(value, "metadata"), "name")
    if name and name != f"{plural}.{group}":
        yield SPEC.invalid(("metadata", "name"), name, f"must be '{plural}.{group}', its plural and group")
    if detail := names.dns_subdomain(group):
        yield SPEC.invalid(("spec", "group"), group, detail)
    elif "." not in group:
        yield SPEC.invalid(("spec", "group"), group, "must be a domain with at least one dot")
    if spec.get("scope") not in ("Cluster", "Namespaced"):
        yield SPEC.unsupported(("spec", "scope"), spec.get("scope") or "", ("Cluster", "Namespaced"))
    if flag(spec, "preserveUnknownFields") and not flag(inner(old or {}, "spec"), "preserveUnknownFields"):
        yield SPEC.invalid(("spec", "preserveUnknownFields"), True, "must be false; set it in the schema instead")
    yield from _check_names(inner(spec, "names"))
    yield from _check_versions(spec)
    yield from _check_schemas(spec, _unchanged(spec, inner(old or {}, "spec")), minor(kubernetes))
    if (conversion := child(spec, "conversion")) is not None:
        yield from _check_conversion(conversion)
    yield from _check_approval(value, group, old)
    if old is not None:
        yield from _check_update(value, old)


def _check_names(given: Object) -> Iterator[Problem]:
    path = ("spec", "names")
    for field in ("plural", "kind"):
        if not given.get(field):
            yield NAMES.required((*path, field))
    for field in ("plural", "singular", "kind", "listKind"):
        name = text(given, field)
        spelled = name.lower() if field in ("kind", "listKind") else name
        if name and (detail := names.dns_label_1035(spelled)):
            yield NAMES.invalid((*path, field), name, detail)
    for field in ("shortNames", "categories"):
        for index, name in texts(given, field):
            if detail := names.dns_label_1035(name):
                yield NAMES.invalid((*path, field, index), name, detail)
    if text(given, "kind") and given["kind"] == given.get("listKind"):
        yield NAMES.invalid((*path, "listKind"), given["listKind"], "must not be the same as kind")


def _check_versions(spec: Object) -> Iterator[Problem]:
    path: Path = ("spec", "versions")
    seen: set[str] = set()
    for index, version in each(spec, "versions"):
        yield from check_version(version, (*path, index))
        if text(version, "name") in seen:
            yield SPEC.duplicate((*path, index, "name"), version["name"])
        seen.add(text(version, "name"))
    if sum(flag(version, "storage") for _, version in each(spec, "versions")) != 1:
        yield SPEC.invalid(path, count(spec, "versions"), "must have exactly one version marked as storage version")


def _unchanged(spec: Object, before: Object) -> frozenset[str]:
    """Return the versions whose schemas an update leaves alone: their rules may cost what they did."""
    were = {text(version, "name"): version.get("schema") for _, version in each(before, "versions")}
    same = (version for _, version in each(spec, "versions") if text(version, "name") in were)
    return frozenset(text(version, "name") for version in same if version.get("schema") == were[text(version, "name")])


def _check_schemas(spec: Object, unchanged: frozenset[str], release: int) -> Iterator[Problem]:
    found = [
        (index, version, child(inner(version, "schema"), "openAPIV3Schema"))
        for index, version in each(spec, "versions")
    ]
    for index, version, schema in found:
        if schema is None and inner(version, "schema").get("openAPIV3Schema") is None:
            yield SPEC.required(("spec", "versions", index, "schema", "openAPIV3Schema"))
    # One schema of all versions is judged once, and as having status if any version has.
    shared = len({repr(schema) for _, _, schema in found}) == 1
    any_status = any(_has_status(version) for _, version, _ in found)
    for index, version, schema in found[:1] if shared else found:
        if schema is not None:
            path = ("spec", "versions", index, "schema", "openAPIV3Schema")
            status = any_status if shared else _has_status(version)
            forgiven = text(version, "name") in unchanged
            yield from _known_schema(schema, path, status=status, release=release, forgiven=forgiven)


def _has_status(version: Object) -> bool:
    return child(inner(version, "subresources"), "status") is not None


_judged: dict[tuple[bytes, Path, bool, int, bool], tuple[Problem, ...]] = {}
"""What is wrong with schemas, by their text: a folder of somebody's releases has each definition many times."""


def _known_schema(schema: Object, path: Path, *, status: bool, release: int, forgiven: bool) -> tuple[Problem, ...]:
    digest = hashlib.blake2b(repr(schema).encode(errors="surrogatepass")).digest()
    key = digest, path, status, release, forgiven
    if key not in _judged:
        _judged[key] = tuple(_check_schema(schema, path, status=status, release=release, forgiven=forgiven))
    return _judged[key]


def _check_schema(schema: Object, path: Path, *, status: bool, release: int, forgiven: bool) -> Iterator[Problem]:
    if status:
        for keyword, value in schema.items():
            if keyword not in _WITH_STATUS and value is not None and value is not False and value != "":
                yield ROOT.invalid((*path, keyword), value, "is not allowed at the root if status is a subresource")
                break
    if flag(schema, "nullable"):
        yield ROOT.forbidden((*path, "nullable"), "cannot be true at the root")
    problems = check_schema(schema, path, Place(root=True))
    sound = is_convertible(schema) and is_well_formed(schema)
    if sound:
        problems += check_structural(schema, path)
    yield from problems
    if sound and not problems:
        yield from _check_values(schema, path, release, forgiven=forgiven)


def _check_values(schema: Object, path: Path, release: int, *, forgiven: bool) -> Iterator[Problem]:
    """Yield the problems with the defaults of a structural schema, or else with its rules."""
    closed = schemas.resolve(copy.deepcopy(crd.root(schema, "", "", "")))
    problems = list(check_defaults(schema, closed, path, Compiler(ranged=release >= _RANGED_MINOR), release))
    if not problems and states_rules(schema):
        environments = Environments(Declarations(), release)
        place = Place(root=True, environments=environments, converted=closed, ledger=Ledger(forgiven=forgiven))
        problems = check_schema(schema, path, place)
    yield from problems


def _check_conversion(conversion: Object) -> Iterator[Problem]:
    path, strategy, webhook = ("spec", "conversion"), conversion.get("strategy"), inner(conversion, "webhook")
    if strategy not in ("None", "Webhook"):
        yield CONVERSION.unsupported((*path, "strategy"), strategy or "", ("None", "Webhook"))
    client, at = child(webhook, "clientConfig"), (*path, "webhook")
    if strategy == "Webhook":
        if client is None:
            yield CONVERSION.required((*at, "clientConfig"), "required when strategy is set to Webhook")
        else:
            yield from check_client(client, (*at, "clientConfig"))
        yield from check_versions(webhook, "conversionReviewVersions", at)
        return
    for field in ("clientConfig", "conversionReviewVersions"):
        if client is not None if field == "clientConfig" else count(webhook, field):
            yield CONVERSION.forbidden((*at, field), "must not be set when strategy is not Webhook")


def _check_approval(value: Object, group: str, old: Object | None) -> Iterator[Problem]:
    """Yield a group of the Kubernetes community without a link to its approval."""
    if not f".{group}".endswith((".k8s.io", ".kubernetes.io")):
        return
    state = _approval(value)
    if state is None or (old is not None and _approval(old) == state):
        return
    at = ("metadata", "annotations", _APPROVED)
    yield APPROVAL.invalid(at, state, "groups of Kubernetes need a URL here, or a reason that starts with unapproved")


def _approval(value: Object) -> str | None:
    """Return why the approval does not count, or None where it does."""
    annotation = text(inner(value, "metadata", "annotations"), _APPROVED)
    if not annotation or annotation.startswith("unapproved"):
        return None if annotation else "missing"
    try:
        parts = urlsplit(annotation)
    except ValueError:
        return "invalid"
    return None if parts.scheme and parts.netloc else "invalid"


def _check_update(value: Object, old: Object) -> Iterator[Problem]:
    spec, before, path = inner(value, "spec"), inner(old, "spec"), ("spec", "names")
    yield from check_immutable(spec.get("group"), before.get("group"), ("spec", "group"), IMMUTABLE)
    given, taken = inner(spec, "names"), inner(before, "names")
    yield from check_immutable(given.get("plural"), taken.get("plural"), (*path, "plural"), IMMUTABLE)
    conditions = each(inner(old, "status"), "conditions")
    if not conditions or any((one.get("type"), one.get("status")) == ("Established", "True") for _, one in conditions):
        yield from check_immutable(spec.get("scope"), before.get("scope"), ("spec", "scope"), IMMUTABLE)
        yield from check_immutable(given.get("kind"), taken.get("kind"), (*path, "kind"), IMMUTABLE)
    stored = {text(version, "name") for _, version in each(before, "versions") if flag(version, "storage")}
    stored |= {name for _, name in texts(inner(old, "status"), "storedVersions")}
    for name in sorted(stored - {text(version, "name") for _, version in each(spec, "versions")}):
        yield STORED.invalid(("spec", "versions"), name, "was a storage version, and must remain until objects migrate")
