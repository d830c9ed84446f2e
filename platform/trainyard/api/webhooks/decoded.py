"""What an object becomes in the typed form that webhooks decode it into, and what cannot be decoded at all.

A mutating webhook that changes an object answers with the difference to its typed form: quantities are spelled
canonically, nulls become zero values. What such a webhook leaves alone keeps its spelling. Source: controller-runtime
v0.24.1 pkg/webhook/admission/defaulter_custom.go; k8s.io/apimachinery v0.35.4 pkg/api/resource/quantity.go.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.api.core.amounts import canonical
from trainyard.api.core.shapes import Object, each, inner
from trainyard.api.problems import Path, Problem, Rule
from trainyard.api.schemas import Schema
from trainyard.api.webhooks.around import Review

RULE = Rule("webhook/decode", "encoding/json of Go 1.25, by which webhooks read objects")

_INT32 = 2**31
_TEXTS = frozenset({"annotations", "labels", "matchLabels", "nodeLabels", "nodeSelector", "rayStartParams"})
_LISTS = frozenset({"args", "command"})
_CONTAINERS = frozenset({"containers", "initContainers"})
_RESOURCES = frozenset({"resources", "resourcesPerNode"})


def check(value: Any, schema: Schema, path: Path = ()) -> Iterator[Problem]:
    """Yield numbers that the schema takes and that do not fit into the 32 bits of their Go type."""
    if isinstance(value, dict):
        fields, rest = schema.get("properties") or {}, schema.get("additionalProperties")
        for key, part in value.items():
            node = fields.get(key) or rest
            if isinstance(node, dict) and isinstance(part, (dict, list, int, float)):
                yield from check(part, node, (*path, key))
    elif isinstance(value, list):
        node = schema.get("items")
        if isinstance(node, dict):
            for index, part in enumerate(value):
                yield from check(part, node, (*path, index))
    elif schema.get("format") == "int32" and type(value) in (int, float) and not -_INT32 <= value < _INT32:
        yield RULE.invalid(path, value, "must fit into int32")


def normalise(value: Any) -> None:
    """Spell in place what decoding and encoding changes: quantities of containers, and nulls where text belongs."""
    if isinstance(value, list):
        for part in value:
            normalise(part)
    elif isinstance(value, dict):
        for key, part in value.items():
            if key in _RESOURCES and isinstance(part, dict):
                _spell_amounts(part)
            elif key in _TEXTS and isinstance(part, dict):
                part.update({name: "" for name, text in part.items() if text is None})
            elif key in _LISTS and isinstance(part, list):
                value[key] = ["" if text is None else text for text in part]
            elif key in _CONTAINERS:
                _fill_containers(value, key)
                normalise(part)
            else:
                normalise(part)


def _spell_amounts(resources: Object) -> None:
    for kind in ("requests", "limits"):
        amounts = inner(resources, kind)
        for name in amounts:
            amounts[name] = quantity(amounts[name])


def _fill_containers(spec: Object, kind: str) -> None:
    """A null name is the empty one; one that is left out is missed before, as the key of its list."""
    for _, container in each(spec, kind):
        if "name" in container and container["name"] is None:
            container["name"] = ""
        if "resources" in container and container["resources"] is None:
            container["resources"] = {}


def quantity(value: Any) -> Any:
    """A quantity as Go would write it again: null is zero; what is none is left as it is."""
    if value is None:
        return "0"
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return value
    written = str(value).strip()
    return canonical(written) or value


def default_quota(review: Review) -> None:
    """Spell the quotas of a new ClusterQueue, whose webhook always changes it: it adds a finalizer."""
    if review.old is not None:
        return
    for _, group in each(review.spec, "resourceGroups"):
        for _, flavor in each(group, "flavors"):
            for _, resource in each(flavor, "resources"):
                resource["nominalQuota"] = quantity(resource.get("nominalQuota"))
                for limit in ("borrowingLimit", "lendingLimit"):
                    if resource.get(limit) is not None:
                        resource[limit] = quantity(resource[limit])


def default_always(review: Review) -> None:
    """Spell a new object whose webhook always changes it."""
    if review.old is not None:
        return
    if "spec" in review.value and review.value["spec"] is None:
        review.value["spec"] = {}
    normalise(review.value.get("spec"))


def is_zero(value: Object, key: str, *, of: type) -> bool:
    """Whether a field of that type decodes to nothing: it is absent, null, zero or empty text."""
    return value.get(key) is None or (type(value[key]) is of and not value[key])
