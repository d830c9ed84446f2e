"""What a GPU Operator that somebody else installs must be told, so that it fits the nodes of the cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.render.operators.gpu_drivers import tolerate
from trainyard.render.operators.install import sites
from trainyard.render.prerequisites.base import Prerequisite, Site, names_text, of_pools
from trainyard.render.prerequisites.marks import marking
from trainyard.render.prerequisites.questions import NodeLabels
from trainyard.render.sizing.software import GPU_OPERATOR, cluster_install, installed_parts, nvidia_pools
from trainyard.specs import Cluster
from trainyard.specs.releases.facts import lookup

TOLERATIONS = ("daemonsets.tolerations", "node-feature-discovery.worker.tolerations")
"""Values with the taints that daemons bear; by default one of nvidia.com/gpu (chart v26.7.0 values.yaml)."""


def wanted_values(cluster: Cluster) -> str:
    """Return the values that the operator needs besides its chart's own, as words that follow its chart."""
    said = cluster.operators[GPU_OPERATOR].values
    pairs = {path: value for path, value in flat(cluster_install(cluster).values) if value is not True}
    texts = [f"`{path}={text(value)}`" for path, value in pairs.items() if lookup(said, path) is None]
    past = sorted({one["key"] for one in tolerate(nvidia_pools(cluster).values())[1:]})
    if past:
        texts.append(f"tolerations of {names_text(past)} in {' and '.join(f'`{path}`' for path in TOLERATIONS)}")
    return f" with {', '.join(texts)}" if texts else ""


def flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each value of nested values with its path, as Helm's `--set` takes it."""
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{prefix}{key}.")
        elif isinstance(value, list):
            for index, item in enumerate(value):
                yield from flat(item, f"{prefix}{key}[{index}].")
        else:
            yield f"{prefix}{key}", value


def text(value: Any) -> str:
    """Return a value as Helm's `--set` takes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def labels(site: Site) -> Iterator[Prerequisite]:
    """Yield the label by which nodes do without the provider's own device plugin, where the operator brings one."""
    cluster = site.cluster
    for name in nvidia_pools(cluster):
        off = cluster.distribution_of(name).gpus.plugin_off
        if off is None or "devicePlugin" not in installed_parts(cluster, name):
            continue
        key, _, value = off.partition("=")
        yield Prerequisite(
            f"{of_pools([name])} have the label `{off}`",
            "the provider's own device plugin does not run on such nodes; two plugins give each GPU away twice",
            ("operators", GPU_OPERATOR),
            marking(site, name, {key: value}),
            NodeLabels((name,), (key,), value),
        )


def quotas(site: Site) -> Iterator[Prerequisite]:
    """Yield the room for pods of system priority that operators of others need in their namespaces."""
    if not site.cluster.distribution.critical_quota:
        return
    for operator in sites(site.cluster):
        if operator.choice.managed or not (operator.facts.critical_pods and operator.facts.own_namespace):
            continue
        yield Prerequisite(
            f"the namespace of {operator.name} has a ResourceQuota for pods of both system priorities",
            "its daemons have such a priority, and the API server refuses them without one",
            ("operators", operator.name),
            "create it with `pods`, and a `scopeSelector` of PriorityClass In system-node-critical, "
            "system-cluster-critical",
            look="`kubectl get resourcequota -A`",
        )
