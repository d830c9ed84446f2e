"""What objects that are judged together mean for each other: CRDs, policies, Namespaces, and what webhooks look up.

An object that is described in more than one way, as overlays for several clusters do, is judged itself and has no say
in the verdict on others: which of its descriptions a cluster has cannot be told.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from trainyard.upstream.apiserver import webhooks
from trainyard.upstream.apiserver.admission import podsecurity
from trainyard.upstream.apiserver.catalog import Catalog, crd
from trainyard.upstream.apiserver.judge import Judge
from trainyard.upstream.kueue.scope import EVERYTHING, scope_among

POLICY, BINDING, DEFINITION = (
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
    "CustomResourceDefinition",
)
SHAPING = frozenset({POLICY, BINDING, DEFINITION, "Namespace", *webhooks.CONSULTED})
"""Kinds of which an object changes the verdict on others."""

Identity = tuple[str, str, str, str]
"""Group, kind, namespace and name."""


def identity(value: object) -> Identity | None:
    """Return the identity of an object that shapes others, or None where it shapes nothing or has no name."""
    if not isinstance(value, Mapping) or value.get("kind") not in SHAPING:
        return None
    metadata, version = value.get("metadata"), value.get("apiVersion")
    if not isinstance(metadata, Mapping) or not isinstance(version, str) or not isinstance(metadata.get("name"), str):
        return None
    group = version.rpartition("/")[0]
    return group, value["kind"], str(metadata.get("namespace") or "default"), metadata["name"]


def unclear(values: Iterable[object]) -> frozenset[Identity]:
    """Return the identities of objects that are described in more than one way."""
    first: dict[Identity, object] = {}
    found = set()
    for value in values:
        name = identity(value)
        if name is not None and first.setdefault(name, value) != value:
            found.add(name)
    return frozenset(found)


def clear(values: Sequence[Any]) -> list[Any]:
    """Return the values without those that are described in more than one way."""
    several = unclear(values)
    return [value for value in values if identity(value) not in several] if several else list(values)


def with_crds(known: Catalog, values: Sequence[Any]) -> Catalog:
    """Return the catalog with the CRDs among the values, and one more for each other way of describing a CRD.

    What a server has of a CRD that is described in several ways cannot be told: an object is held against all of them,
    and against that of an installed project.
    """
    several = unclear(values)
    known = known.with_crds(clear(values))
    ways: dict[Identity, list[Any]] = {}
    for value in values:
        name = identity(value)
        if name is not None and name in several and crd.is_crd(value) and value not in ways.setdefault(name, []):
            ways[name].append(value)
    if not ways:
        return known
    catalogs = [
        known.with_crds(found[min(number, len(found) - 1)] for found in ways.values())
        for number in range(max(map(len, ways.values())))
    ]
    doubtful = frozenset(
        key for catalog in catalogs for key, versions in catalog.kinds.items() if versions is not known.kinds.get(key)
    )
    installed = (known,) if any(key in known.kinds for key in doubtful) else ()
    return replace(catalogs[0], others=(*catalogs[1:], *installed), doubtful=doubtful)


def aware(judge: Judge, values: Sequence[Any]) -> Judge:
    """Return a judge that knows the values: their CRDs, the levels of their Namespaces, and what webhooks look up.

    What Kueue looks at is what its configuration among the values says, unless the judge knows it already.
    """
    known, others = with_crds(judge.catalog, values), clear(values)
    security = podsecurity.admission(others, kubernetes=known.kubernetes)
    scope = scope_among(values) if judge.around.scope == EVERYTHING else judge.around.scope
    around = replace(judge.around, objects=tuple(others), scope=scope)
    return replace(judge, catalog=known, around=around, security=security)


def note(values: Iterable[object]) -> str | None:
    """Return the sentence on what is described in more than one way."""
    names = sorted(f"{kind} {name}" for _, kind, _, name in unclear(values))
    if not names:
        return None
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"defined more than once, so ignored when other objects are checked: {', '.join(names[:3])}{more}"
