"""What objects must be before anything is made of them: named as a cluster names, of their kinds' shape, not too many.

Facts: kubernetes v1.35 pkg/apis/core/validation (names of objects are DNS names, but those of roles).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from math import prod
from typing import Any

from trainyard.base.manifests import group_of
from trainyard.faces.local.controllers import controller_of
from trainyard.faces.local.controllers.base import RunError
from trainyard.faces.local.lives.job import numbers
from trainyard.upstream.apiserver.meta.names import dns_label, dns_subdomain

MOST = 512
"""Pods of one run: more processes than these are no trial of a job on one machine."""

ROLES = "rbac.authorization.k8s.io"
"""The group whose objects may have any name that is one part of a path."""

COUNTS = ("replicas", "completions", "numNodes", "size", "numOfHosts")
MAPPINGS = frozenset({"spec", "metadata", "template", "labels", "annotations", "data"})
LISTS = frozenset({"containers", "initContainers", "volumes", "volumeMounts", "env", "envFrom"})
"""Fields whose items are objects."""

WORDS = frozenset({"command", "args"})
NAMED = frozenset({"containers", "initContainers", "env", "volumeMounts"})
OPAQUE = frozenset({"metadata", "plugins", "rayStartParams"})
"""Fields whose keys are anybody's."""

RUNTIMES = frozenset({"TrainingRuntime", "ClusterTrainingRuntime"})


def admit(value: Mapping[str, Any]) -> None:
    """Raise RunError for an object that cannot be what it says."""
    kind, metadata = str(value.get("kind") or "object"), value.get("metadata")
    runs = controller_of(value) is not None
    if metadata is not None and not isinstance(metadata, dict):
        raise RunError(f"metadata of a {kind} is {metadata!r:.40}, but must be a map with a name")
    name, namespace = ((metadata or {}).get(key) for key in ("name", "namespace"))
    if runs and not name:
        raise RunError(f"a {kind} has no name; write metadata.name")
    if name is not None and group_of(str(value.get("apiVersion") or "")) != ROLES:
        check_name(f"{kind} {name!r:.80}", "name", name, dns_subdomain(name))
    if namespace:
        check_name(f"{kind} {name!r:.80}", f"namespace {namespace!r:.80}", namespace, dns_label(namespace))
    if runs or kind in RUNTIMES:
        who = f"{kind} {name!r}"
        if kind != "Pod" and not isinstance(value.get("spec"), dict):
            raise RunError(f"{who} has no spec; add one")
        shaped(who, value)
        few(who, bound(who, value))


def check_name(who: str, what: str, value: Any, why: str | None) -> None:
    """Raise RunError for a name that no cluster takes; folders are made of names."""
    if not isinstance(value, str) or not value or why:
        raise RunError(f"the {what} of {who} {why or 'must be a text'}")


def few(who: str, number: int) -> None:
    """Raise RunError for more pods than one machine runs."""
    if number > MOST:
        raise RunError(f"{who} has {number} pods, but at most {MOST} can run here; make it smaller")


def shaped(who: str, value: Any, field: str = "") -> None:
    """Raise RunError where a field that all kinds share is of another type."""
    if isinstance(value, list):
        for item in value:
            shaped(who, item, field)
    if not isinstance(value, dict):
        return
    for key, inner in value.items():
        if inner is None:
            continue
        wanted = dict if key in MAPPINGS else list if key in LISTS | WORDS else object
        if not isinstance(inner, wanted):
            raise RunError(f"{key} of {who} is {inner!r:.40}, but must be a {'map' if wanted is dict else 'list'}")
        if key in LISTS and isinstance(inner, list):
            items(who, key, inner)
        if key == "succeededIndexes":
            numbers(str(inner), MOST - 1)
        if key == "terminationGracePeriodSeconds" and (type(inner) is not int or inner < 0):
            raise RunError(f"{key} of {who} is {inner!r:.40}, but must be a number of seconds")
        if key not in OPAQUE:
            shaped(who, inner, key)


def items(who: str, key: str, found: list[Any]) -> None:
    """Raise RunError for items of a list that are no objects, or have no name."""
    for number, item in enumerate(found):
        if not isinstance(item, dict):
            raise RunError(f"{key}[{number}] of {who} is {item!r:.40}, but must be a map")
        if key in NAMED and not (isinstance(item.get("name"), str) and item["name"]):
            raise RunError(f"{key}[{number}] of {who} has no name; write one")
        if key == "volumeMounts" and not isinstance(item.get("mountPath"), str):
            raise RunError(f"{key}[{number}] of {who} has no mountPath; write one")


def bound(who: str, value: Any) -> int:
    """Return how many pods an object has at most, or about so many; 0 where it says no number."""
    if isinstance(value, list):
        return sum(bound(who, item) for item in value)
    if not isinstance(value, dict) or "containers" in value:
        return 0
    keys = [key for key in COUNTS if value.get(key) is not None]
    if value.get("parallelism") is not None and value.get("completions") is None:
        keys.append("parallelism")
    if "groupName" in value and "replicas" not in keys and value.get("minReplicas") is not None:
        keys.append("minReplicas")
    for key in keys:
        if type(value[key]) is not int or value[key] < 0:
            raise RunError(f"{key} of {who} is {value[key]!r:.40}, but must be a number of pods")
    inner = sum(bound(who, below) for key, below in value.items() if key not in OPAQUE)
    return prod(value[key] for key in keys) * max(1, inner) if keys else inner


@contextmanager
def reporting(who: str) -> Iterator[None]:
    """Turn what an object of another shape does to its reader into a sentence about the object."""
    try:
        yield
    except KeyError as error:
        raise RunError(f"{who} has no {error.args[0]!r} which its kind requires; add it") from error
    except (TypeError, AttributeError, ValueError, IndexError, RecursionError) as error:
        raise RunError(f"{who} does not match the schema of its kind: {error}") from error
