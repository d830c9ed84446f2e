"""Feature gates of operators: values of charts that set them, and what a cluster's file says of what others install."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from trainyard.base.documents import load
from trainyard.specs.models.cluster import Cluster
from trainyard.specs.releases.facts import Switches, lookup
from trainyard.specs.releases.load import releases
from trainyard.upstream.apiserver.gates import Gates


def cluster_gates(cluster: Cluster) -> Gates:
    """Return the gates that a cluster's file sets, of Kubernetes and of all its operators."""
    choices = {name: choice.model_dump(by_alias=True) for name, choice in cluster.operators.items()}
    return said_gates(cluster.feature_gates, choices)


def said_gates(kubernetes: Iterable[str], choices: Mapping[str, Any]) -> Gates:
    """Return the gates of a cluster by what its file says of Kubernetes and of each operator."""
    states = dict.fromkeys(kubernetes, True)
    for name, choice in choices.items():
        if isinstance(choice, Mapping):
            states |= operator_gates(name, choice)
    return Gates.of(states)


def operator_gates(name: str, choice: Mapping[str, Any]) -> dict[str, bool]:
    """Return the gates of an operator by name: those of `gates` where others install it, else those of its values.

    Of several values that set gates the first one counts that has any.
    """
    if choice.get("managed") is False:
        return dict(_booleans(choice.get("gates")))
    facts, values = releases().get(name), choice.get("values")
    states: dict[str, bool] = {}
    for switches in facts.gates if facts is not None else ():
        found = read_switches(switches, values if isinstance(values, Mapping) else {})
        if switches.turns or not states:
            states |= found
    return states


def read_switches(switches: Switches, values: Mapping[str, Any]) -> dict[str, bool]:
    """Return by name what a value turns on or off; nothing for one of another form, which the chart's checks tell."""
    said = lookup(values, switches.value)
    said = switches.default if said is None else said
    match switches.form:
        case "list" if isinstance(said, list):
            named = (item for item in said if isinstance(item, Mapping) and "name" in item)
            return {str(item["name"]): item.get("enabled") is True for item in named}
        case "map":
            return dict(_booleans(said))
        case "text" if isinstance(said, str):
            pairs = (part.partition("=") for part in said.split(",") if part.strip())
            return {name.strip(): state.strip().lower() in ("true", "1", "t") for name, _, state in pairs}
        case "file" if isinstance(said, str):
            documents, _ = load(said.encode(), file=switches.value)
            value = documents[0].value if documents else None
            return dict(_booleans(value.get("featureGates"))) if isinstance(value, Mapping) else {}
        case "names" if isinstance(said, str):
            return {name: False for name in switches.turns if name not in said}
        case "switch" if isinstance(said, bool) and not said:
            return dict.fromkeys(switches.turns, False)
    return {}


def _booleans(value: Any) -> Iterator[tuple[str, bool]]:
    if isinstance(value, Mapping):
        yield from ((str(name), state) for name, state in value.items() if isinstance(state, bool))
