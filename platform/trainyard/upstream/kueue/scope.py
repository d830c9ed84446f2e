"""Which jobs a Kueue looks at, as it is configured: of which kinds, in which namespaces, and whether without a queue.

Kueue answers for every kind that it knows. Of a kind whose integration is off it changes and refuses nothing. Its chart
asks it about jobs only in the namespaces that the configuration selects (kueue v0.19.2
pkg/controller/jobframework/setup.go, charts/kueue/templates/webhook/manifests.yaml).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from trainyard.base.documents import load
from trainyard.base.manifests import mapping, strings, value_at

GROUP = "config.kueue.x-k8s.io"
FILE = "controller_manager_config.yaml"
"""Key of the ConfigMap from which Kueue starts (kueue v0.19.2 config/components/manager)."""

VALUE = ("managerConfig", "controllerManagerConfigYaml")
"""The value of the chart that becomes this file (kueue v0.19.2 charts/kueue/values.yaml)."""

JOBS = "batch/job"
"""The integration that Kueue has by default (kueue v0.19.2 apis/config/v1beta2/defaults.go)."""

PODS = "pod"
IMPLYING = frozenset({"deployment", "statefulset", "leaderworkerset.x-k8s.io/leaderworkerset"})
"""Integrations that turn on that of pods (kueue v0.19.2 pkg/controller/jobs ImplicitlyEnabledFrameworkNames)."""


@dataclass(frozen=True)
class Scope:
    """Which jobs a Kueue looks at; by default those of every kind in every namespace."""

    frameworks: frozenset[str] | None = None
    """Integrations that are on; None where nobody said."""
    namespaces: dict[str, Any] | None = None
    """The selector of namespaces; None where all are selected but Kueue's own and `kube-system`."""
    unqueued: bool = False
    """Whether jobs that name no queue are held too."""

    def integrates(self, framework: str | None) -> bool:
        """Whether an integration is on, by itself or since another one needs it."""
        if self.frameworks is None or framework is None:
            return True
        return framework in self.frameworks or (framework == PODS and bool(IMPLYING & self.frameworks))


EVERYTHING = Scope()


def scope_of(configuration: Mapping[str, Any]) -> Scope:
    """Return the scope in a configuration; lists that are of another form count as left out."""
    selector = configuration.get("managedJobsNamespaceSelector")
    return Scope(
        integrations_of(configuration),
        selector if isinstance(selector, dict) else None,
        unqueued=configuration.get("manageJobsWithoutQueueName") is True,
    )


def integrations_of(configuration: Mapping[str, Any]) -> frozenset[str]:
    """Return the integrations that a configuration names; that of Jobs is on where none are listed.

    kueue v0.19.2 apis/config/v1beta2/defaults.go SetDefaults_Configuration.
    """
    lists = configuration.get("integrations")
    own, foreign = (
        [str(name) for name in found]
        if isinstance(lists, Mapping) and isinstance(found := lists.get(key), list)
        else []
        for key in ("frameworks", "externalFrameworks")
    )
    return frozenset({*(own or [JOBS]), *foreign})


def scope_among(values: Iterable[object]) -> Scope:
    """Return the scope in the configurations among objects; everything where there is none, or they differ."""
    found = [scope_of(value) for value in configurations(values)]
    return found[0] if found and all(one == found[0] for one in found) else EVERYTHING


def configurations(values: Iterable[object]) -> Iterator[Mapping[str, Any]]:
    """Yield every configuration among objects: by itself, in a ConfigMap, or in the values of Kueue's chart."""
    for value in values:
        if not isinstance(value, Mapping):
            continue
        kind, group = value.get("kind"), str(value.get("apiVersion", "")).rpartition("/")[0]
        if (kind, group) == ("Configuration", GROUP):
            yield value
        elif (kind, group) == ("ConfigMap", ""):
            yield from _read(strings(value.get("data")).get(FILE))
        elif (kind, group) == ("Application", "argoproj.io"):
            spec = mapping(value.get("spec"))
            several = spec.get("sources")
            for source in (spec.get("source"), *(several if isinstance(several, list) else ())):
                yield from _read(value_at(source, ("helm", "valuesObject", *VALUE)))


def _read(text: object) -> Iterator[Mapping[str, Any]]:
    documents, _ = load(text.encode(), file=FILE) if isinstance(text, str) and text else ([], [])
    for document in documents:
        value = document.value
        if isinstance(value, Mapping) and str(value.get("apiVersion", "")).startswith(GROUP):
            yield value
