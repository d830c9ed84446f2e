"""Kueue: the configuration that follows from the cluster, and what Argo CD should think of queues."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from trainyard.base.documents import dump, load
from trainyard.base.labels import NAMESPACE, TEAM
from trainyard.base.quantities import parse_duration
from trainyard.base.versions import order
from trainyard.render.operators import kueue_conflicts
from trainyard.render.operators.base import Conflict, Operator, Site, merge
from trainyard.render.operators.kueue_conflicts import CONFIGURATION
from trainyard.render.sizing import burn_in, nvlink
from trainyard.specs import Cluster
from trainyard.specs.models.scaling import Scaling
from trainyard.specs.releases.facts import lookup
from trainyard.specs.releases.gates import operator_gates
from trainyard.upstream.kueue.scope import EVERYTHING, Scope, integrations_of, scope_of
from trainyard.upstream.workloads import carriers

READY_MINUTES = 30
"""How long an admitted job may take until all its pods are ready: image pulls of tens of GB included."""

BACKOFF = 60
"""Seconds until Kueue tries a job again that did not get ready, the first time."""

READY_TIMEOUT = f"{READY_MINUTES}m"

GATES = "controllerManager.featureGates"
"""The chart's value for gates, a list; beside gates in the configuration Kueue does not start (pkg/config)."""

FORCED_DELETION = "FailureRecoveryPolicy"
"""Gate that deletes pods of a dead node which ask for it (kueue v0.19.2 pkg/features/kube_features.go; since 0.15)."""

READY_BY_DEFAULT = "0.19.0"
"""The first release that waits for ready pods where nobody says so (kueue CHANGELOG/CHANGELOG-0.19.md)."""

QUEUE_HEALTH = """\
local hs = {status = "Progressing", message = "Waiting for the controller"}
local held = {%s}
for _, condition in ipairs((obj.status or {}).conditions or {}) do
  if condition.type == "Active" then
    hs.message = condition.message
    if condition.status == "True" then
      hs.status = "Healthy"
    elseif held[condition.reason] then
      hs.status = "Suspended"
    else
      hs.status = "Degraded"
    end
  end
end
return hs
"""
"""Reasons of a queue that is held on purpose go in; its LocalQueues do not tell that from a missing flavor."""

WORKLOAD_HEALTH = """\
local found = {}
for _, condition in ipairs((obj.status or {}).conditions or {}) do
  found[condition.type] = condition
end
local function is(name) return found[name] ~= nil and found[name].status == "True" end
if is("Finished") and found.Finished.reason == "Failed" then
  return {status = "Degraded", message = found.Finished.message}
elseif is("Finished") then
  return {status = "Healthy", message = found.Finished.message}
elseif (obj.spec or {}).active == false then
  local why = is("Evicted") and found.Evicted.message or "by hand"
  return {status = "Degraded", message = "Set aside: " .. why}
elseif not is("Admitted") then
  return {status = "Suspended", message = "Not admitted"}
elseif is("PodsReady") then
  return {status = "Healthy", message = "All pods are ready"}
end
return {status = "Progressing", message = "Admitted, pods are starting"}
"""


class Kueue(Operator):
    """Kueue from its chart; the configuration is one text in its values."""

    name = "kueue"
    health: ClassVar[Mapping[str, str]] = {
        "kueue.x-k8s.io/ClusterQueue": QUEUE_HEALTH % "Stopped = true",
        "kueue.x-k8s.io/LocalQueue": QUEUE_HEALTH % "Stopped = true, ClusterQueueIsInactive = true",
        "kueue.x-k8s.io/AdmissionCheck": QUEUE_HEALTH % "",
        "kueue.x-k8s.io/Workload": WORKLOAD_HEALTH,
    }

    def values(self, site: Site) -> dict[str, Any]:
        """Return the configuration as the chart takes it, and the gate unless the cluster's own text has gates."""
        found: dict[str, Any] = {
            "managerConfig": {"controllerManagerConfigYaml": dump(derive_configuration(site.cluster))}
        }
        if "featureGates" not in configuration(site.cluster):
            found["controllerManager"] = {"featureGates": [{"name": FORCED_DELETION, "enabled": True}]}
        return found

    def join(self, derived: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values with the cluster file's own over them; a gate of its own takes away no other gate."""
        found = merge(derived, own)
        ours, listed = lookup(derived, GATES), lookup(own, GATES)
        if not (isinstance(ours, list) and isinstance(listed, list)):
            return found
        named = {item.get("name") for item in listed if isinstance(item, Mapping)}
        gates = [*(item for item in ours if item["name"] not in named), *listed]
        return merge(found, {"controllerManager": {"featureGates": gates}})

    def conflicts(self, site: Site) -> Iterator[Conflict]:
        """Yield gaps of a configuration of the file's own: what it takes away from the cluster's fields."""
        yield from kueue_conflicts.conflicts(site)


def configuration(cluster: Cluster) -> dict[str, Any]:
    """Return Kueue's configuration: derived, or the cluster file's own; empty for a cluster without Kueue."""
    choice = cluster.operators.get(Kueue.name)
    if choice is None:
        return {}
    text = lookup(choice.values, CONFIGURATION)
    if not isinstance(text, str):
        return derive_configuration(cluster)
    documents, _ = load(text.encode(), file=CONFIGURATION)
    value = documents[0].value if documents else None
    return dict(value) if isinstance(value, Mapping) else {}


def gated_twice(cluster: Cluster) -> bool:
    """Whether the cluster's file gives gates both to the chart and in a configuration of its own."""
    listed = lookup(cluster.operators[Kueue.name].values, GATES)
    return bool(listed) and configuration(cluster).get("featureGates") is not None


def gates(cluster: Cluster) -> dict[str, bool]:
    """Return the feature gates that the cluster's file sets for Kueue.

    A list in the chart's values counts alone; the configuration's gates count where there is none.
    """
    return operator_gates(Kueue.name, cluster.operators[Kueue.name].model_dump(by_alias=True))


def recovers(cluster: Cluster) -> bool:
    """Whether Kueue deletes the pods of dead nodes, as far as the cluster's file tells."""
    derived = configuration(cluster).get("featureGates") is None
    return gates(cluster).get(FORCED_DELETION, derived)


def short_of_pods(cluster: Cluster, *, start: bool = False) -> int:
    """Return the nanoseconds that Kueue leaves an admitted job short of ready pods, or of its first ones; 0 for ever.

    The time for the first start holds where there is none for recovery (kueue v0.19.2 apis/config/v1beta2/defaults.go).
    """
    waits = configuration(cluster).get("waitForPodsReady")
    if not isinstance(waits, Mapping):
        asked = order(cluster.operators[Kueue.name].version) >= order(READY_BY_DEFAULT)
        waits = {} if asked else {"enable": False}
    if waits.get("enable") is False:
        return 0
    times = (waits.get(name) for name in (("timeout",) if start else ("recoveryTimeout", "timeout")))
    given = next((str(time) for time in times if time is not None), READY_TIMEOUT)
    try:
        return parse_duration(given)
    except ValueError:
        return 0


def derive_configuration(cluster: Cluster) -> dict[str, Any]:
    """Return the configuration that follows from the cluster.

    Fields as in kueue v0.19.2 apis/config/v1beta2/configuration_types.go, numbers of its chart where nothing is said.
    Jobs without a queue are held in the namespaces of teams, so that none gets past the quota. A job that does not get
    ready frees its quota and waits, longer each time, and is never given up: the count of such times is for a
    workload's life, and nothing in Git brings back one that is set aside (pkg/workload UpdateRequeueState).
    Objects are never removed by Kueue: a job that it deletes would be made again at the next sync and train again.
    """
    ready = f"{READY_MINUTES + slowest_start(cluster)}m"
    config: dict[str, Any] = {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "health": {"healthProbeBindAddress": ":8081"},
        "metrics": {"bindAddress": ":8443", "enableClusterQueueResources": True},
        "webhook": {"port": 9443},
        "leaderElection": {"leaderElect": True, "resourceName": "c1f6bfd2.kueue.x-k8s.io"},
        "controller": {
            "groupKindConcurrency": {
                "Job.batch": 5,
                "Pod": 5,
                "Workload.kueue.x-k8s.io": 10,
                "LocalQueue.kueue.x-k8s.io": 5,
                "ClusterQueue.kueue.x-k8s.io": 5,
                "ResourceFlavor.kueue.x-k8s.io": 1,
            }
        },
        "clientConnection": {"qps": 300, "burst": 500},
        "manageJobsWithoutQueueName": True,
        "managedJobsNamespaceSelector": {"matchExpressions": [managed_namespaces(cluster)]},
        "waitForPodsReady": {
            "timeout": ready,
            "recoveryTimeout": ready if cluster.recovery_minutes is None else f"{cluster.recovery_minutes}m",
            "blockAdmission": False,
            "requeuingStrategy": {
                "timestamp": "Eviction",
                "backoffBaseSeconds": BACKOFF,
                "backoffMaxSeconds": longest_wait(cluster),
            },
        },
        "integrations": integrations(cluster),
    }
    if any(nvlink.spans(cluster, pool) for pool in cluster.pools.values()):
        mapped = [{"name": nvlink.RESOURCE, "deviceClassNames": [nvlink.CLASS]}]
        config["resources"] = {"deviceClassMappings": mapped}
    if shares_fairly(cluster):
        config["fairSharing"] = {"preemptionStrategies": ["LessThanOrEqualToFinalShare", "LessThanInitialShare"]}
    return config


def managed_namespaces(cluster: Cluster) -> dict[str, Any]:
    """Return which namespaces Kueue looks at: those of teams, and that of the burn-in where there is one.

    Both the labels of a namespace and a list of names hold all terms at once, so names alone can add one. A release
    from 0.15 on leaves Jobs of all others alone, those with a queue too (v0.19.2 pkg/features/kube_features.go).
    """
    if burn_in.tested_pools(cluster):
        return {"key": NAMESPACE, "operator": "In", "values": sorted({*cluster.namespaces(), burn_in.NAME})}
    return {"key": TEAM, "operator": "Exists"}


def longest_wait(cluster: Cluster) -> int:
    """Return the most seconds until Kueue tries a job again that did not get ready: an hour, less where nodes scale.

    Half of the time after which idle nodes go, so that those which came are still there for the job.
    """
    coming = [pool for pool in cluster.pools.values() if pool.scales and pool.provisioning is None]
    idle = (30 * (pool.scaling or Scaling()).idle_minutes for pool in coming)
    return max(BACKOFF, min((3600, *idle)))


def slowest_start(cluster: Cluster) -> int:
    """Return the minutes for which pods wait for a node at most; Kueue itself waits for nodes that it asks for."""
    return max((pool.start_minutes for pool in cluster.pools.values() if pool.provisioning is None), default=0)


def integrations(cluster: Cluster) -> dict[str, list[str]]:
    """Return Kueue's own integrations, and those of other controllers, which are called `Kind.version.group`.

    kueue v0.19.2 apis/config/v1beta2/configuration_types.go Integrations.
    """
    found = frameworks(cluster)
    foreign = [name for name in found if name[:1].isupper()]
    own = {"frameworks": [name for name in found if name not in foreign]}
    return {**own, "externalFrameworks": foreign} if foreign else own


def frameworks(cluster: Cluster) -> list[str]:
    """Return the integrations of the kinds that carry training on the cluster, sorted.

    Single pods, Deployments and StatefulSets are left out: their integrations would queue what is no training. So are
    the jobs of operators that are left to Volcano: Kueue would suspend them for lack of a queue.
    """
    there = {None, *cluster.operators}
    found = (
        row
        for row in carriers().values()
        if row.trains and row.operator in there and cluster.scheduler_of(row.operator) != "volcano"
    )
    return sorted(row.framework for row in found if row.framework)


def kueue_integrations(cluster: Cluster) -> frozenset[str]:
    """Return the integrations that Kueue has as it is configured; it has that of Jobs where none are listed."""
    return integrations_of(configuration(cluster))


def scope(cluster: Cluster) -> Scope:
    """Return which jobs Kueue looks at; of a Kueue that somebody else installs nothing is known."""
    return scope_of(configuration(cluster)) if cluster.installs(Kueue.name) else EVERYTHING


def shares_fairly(cluster: Cluster) -> bool:
    """Whether some queue or cohort has a weight, which means that unused quota is shared by weights."""
    queues, cohorts = cluster.queues.values(), cluster.cohorts.values()
    return any(queue.fair_weight for queue in queues) or any(cohort.fair_weight for cohort in cohorts)


OPERATOR = Kueue()
