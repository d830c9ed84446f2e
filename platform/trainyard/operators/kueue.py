"""Kueue: the configuration that follows from the cluster, and what Argo CD should think of queues."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from trainyard.carriers import carriers
from trainyard.documents import dump, load
from trainyard.labels import TEAM
from trainyard.operators.base import Operator, Site
from trainyard.releases.facts import lookup
from trainyard.sizing import nvlink
from trainyard.specs import Cluster

CONFIGURATION = "managerConfig.controllerManagerConfigYaml"
"""The chart's value that holds the whole configuration, as one text (kueue v0.19.2 charts/kueue/values.yaml)."""

READY_TIMEOUT = "30m"
"""How long an admitted job may take until all its pods are ready: image pulls of tens of GB included."""

READY_ATTEMPTS = 5
"""How often a job that does not get ready is tried again before it is set aside, so that it frees its quota."""

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
    ignore = ({"kind": "Secret", "name": "kueue-webhook-server-cert", "jsonPointers": ["/data"]},)

    def values(self, site: Site) -> dict[str, Any]:
        """Return the configuration as the chart takes it."""
        return {"managerConfig": {"controllerManagerConfigYaml": dump(derived(site.cluster))}}


def configuration(cluster: Cluster) -> dict[str, Any]:
    """Return what Kueue runs with: derived, or the cluster file's own; empty for a cluster without Kueue."""
    choice = cluster.operators.get(Kueue.name)
    if choice is None:
        return {}
    text = lookup(choice.values, CONFIGURATION)
    if not isinstance(text, str):
        return derived(cluster)
    documents, _ = load(text.encode(), file=CONFIGURATION)
    value = documents[0].value if documents else None
    return dict(value) if isinstance(value, Mapping) else {}


def derived(cluster: Cluster) -> dict[str, Any]:
    """Return the configuration that follows from the cluster.

    Fields as in kueue v0.19.2 apis/config/v1beta2/configuration_types.go, numbers of its chart where nothing is said.
    Jobs without a queue are held in the namespaces of teams, so that none gets past the quota. Objects are never
    removed by Kueue: a job that it deletes would be made again at the next sync and train again.
    """
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
        "managedJobsNamespaceSelector": {"matchExpressions": [{"key": TEAM, "operator": "Exists"}]},
        "waitForPodsReady": {
            "timeout": READY_TIMEOUT,
            "recoveryTimeout": READY_TIMEOUT,
            "blockAdmission": False,
            "requeuingStrategy": {
                "timestamp": "Eviction",
                "backoffLimitCount": READY_ATTEMPTS,
                "backoffBaseSeconds": 60,
                "backoffMaxSeconds": 3600,
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

    Single pods, Deployments and StatefulSets are left out: their integrations would queue what is no training.
    """
    there = {None, *cluster.operators}
    found = (row for row in carriers().values() if row.trains and row.operator in there)
    return sorted(row.framework for row in found if row.framework)


def shares_fairly(cluster: Cluster) -> bool:
    """Whether some queue or cohort has a weight, which means that unused quota is shared by weights."""
    queues, cohorts = cluster.queues.values(), cluster.cohorts.values()
    return any(queue.fair_weight for queue in queues) or any(cohort.fair_weight for cohort in cohorts)


OPERATOR = Kueue()
