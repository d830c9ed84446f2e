"""Queues, flavors, priorities and storage classes follow from the cluster, so that Kueue can admit what is rendered."""

from __future__ import annotations

from typing import Any

import pytest

from everything import EVERYTHING, everything
from make import make_cluster, make_repository
from trainyard.render.clusters.platform import policies, resources
from trainyard.render.parts.objects import Resource
from trainyard.specs import Cluster


def found(cluster: Cluster) -> dict[tuple[str, str], Resource]:
    """Return everything of `platform/`, by kind and name."""
    return {(resource.kind, resource.name): resource for resource in resources(cluster)}


def spec(cluster: Cluster, kind: str, name: str) -> dict[str, Any]:
    """Return the spec of one object."""
    value: dict[str, Any] = found(cluster)[kind, name].fields["spec"]
    return value


def test_there_is_a_flavor_for_every_pool():
    """A flavor has the one label that runs select, tolerates its nodes' taints, and knows the topology."""
    flavor = spec(everything(), "ResourceFlavor", "h100")
    assert flavor["nodeLabels"] == {"trainyard.dev/pool": "h100"}
    assert flavor["tolerations"] == [
        {"key": "nvidia.com/gpu", "operator": "Equal", "value": "present", "effect": "NoSchedule"}
    ]
    assert flavor["topologyName"] == "default"
    assert {name for kind, name in found(everything()) if kind == "ResourceFlavor"} == set(everything().pools)


def test_topology_levels_end_at_the_hostname():
    """Without the hostname Kueue sums capacity over nodes and admits what fits none of them."""
    levels = [level["nodeLabel"] for level in spec(everything(), "Topology", "default")["levels"]]
    assert levels == ["example.com/block", "example.com/rack", "kubernetes.io/hostname"]


def test_a_cluster_without_levels_is_not_scheduled_by_topology():
    """No Topology, and no flavor that names one."""
    cluster = make_cluster(topology=None)
    assert ("Topology", "default") not in found(cluster)
    assert spec(cluster, "ResourceFlavor", "gpu")["topologyName"] is None


def test_topology_and_flavors_come_before_queues():
    """A queue whose flavor is missing is inactive, and nothing waits for a queue to become active."""
    waves = {
        resource.kind: resource.annotations.get("argocd.argoproj.io/sync-wave") for resource in resources(everything())
    }
    assert (waves["Topology"], waves["ResourceFlavor"], waves["ClusterQueue"]) == ("-2", "-1", None)


def test_every_flavor_of_a_queue_lists_the_same_resources():
    """Kueue wants the covered resources in each flavor, in their order; what nodes lack is zero."""
    (group,) = spec(everything(), "ClusterQueue", "production")["resourceGroups"]
    for flavor in group["flavors"]:
        assert [resource["name"] for resource in flavor["resources"]] == group["coveredResources"]
    quotas = {
        flavor["name"]: {resource["name"]: resource["nominalQuota"] for resource in flavor["resources"]}
        for flavor in group["flavors"]
    }
    assert (quotas["h100"]["nvidia.com/gpu"], quotas["h100"]["amd.com/gpu"]) == ("32", "0")
    assert (quotas["mi300x"]["nvidia.com/gpu"], quotas["mi300x"]["amd.com/gpu"]) == ("0", "32")


def test_a_queue_serves_the_namespaces_of_its_teams():
    """The label with a namespace's name is the API server's: nobody can give it to another namespace."""
    selector = spec(everything(), "ClusterQueue", "research")["namespaceSelector"]
    assert selector == {
        "matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "In", "values": ["nlp", "vision"]}]
    }


def test_a_borrowing_limit_is_on_the_pool_it_names_alone():
    """A pool without a limit borrows without one."""
    (group,) = spec(everything(), "ClusterQueue", "research")["resourceGroups"]
    limited = {flavor["name"]: "borrowingLimit" in flavor["resources"][0] for flavor in group["flavors"]}
    assert limited == {"h100": True, "cpu": False}


def test_every_cohort_that_a_queue_names_is_an_object():
    """A cohort that exists by its name alone would turn a typo into a private one."""
    cohorts = {"gpus": {"parent": "company", "nominalQuota": {"h100": {"gpus": 8}}}}
    cluster = everything(cohorts=cohorts)
    assert {name for kind, name in found(cluster) if kind == "Cohort"} == {"company", "gpus"}
    assert spec(cluster, "Cohort", "gpus")["parentName"] == "company"
    assert spec(cluster, "Cohort", "gpus")["resourceGroups"][0]["flavors"][0]["name"] == "h100"
    assert {name for kind, name in found(everything()) if kind == "Cohort"} == {"gpus"}


def test_priorities_become_workload_priority_classes():
    """The name is what jobs write."""
    classes = {
        resource.name: resource.fields["value"]
        for resource in resources(everything())
        if resource.kind == "WorkloadPriorityClass"
    }
    assert classes == EVERYTHING["priorities"]


def test_volumes_outlive_their_claims():
    """Classes of ours retain; classes that are there already are not touched."""
    classes = {
        resource.name: resource.fields for resource in resources(everything()) if resource.kind == "StorageClass"
    }
    assert set(classes) == {"shared"}
    assert classes["shared"]["reclaimPolicy"] == "Retain"


def test_volumes_of_scratch_go_with_their_pods():
    """A class of ours that makes volumes of local disks would fill them with what nobody can mount any more."""
    local = {"provisioner": "topolvm.io", "access": "ReadWriteOnce", "binding": "WaitForFirstConsumer"}
    pools = {"gpu": {"shape": "dgx-h100", "nodes": 4, "localDisks": {"size": "27Ti", "storage": "local"}}}
    quotas = {"research": {"teams": ["nlp"], "nominalQuota": {"gpu": {"gpus": 32}}}}
    cluster = make_cluster(
        pools=pools, queues=quotas, storage={"local": local, "shared": {**local, "access": "ReadWriteMany"}}
    )
    found = {
        resource.name: resource.fields["reclaimPolicy"]
        for resource in resources(cluster)
        if resource.kind == "StorageClass"
    }
    assert found == {"local": "Delete", "shared": "Retain"}


def policy(name: str, severity: str | None = None) -> dict[str, Any]:
    """Return a policy as its file has it."""
    notes = {"trainyard.dev/reason": "why"} | ({"trainyard.dev/severity": severity} if severity else {})
    return {"metadata": {"name": name, "annotations": notes}, "spec": {"failurePolicy": "Fail"}}


@pytest.mark.parametrize(
    ("severity", "actions"), [(None, ["Deny"]), ("error", ["Deny"]), ("warning", ["Warn", "Audit"])]
)
def test_policies_are_bound_to_the_namespaces_of_teams(severity, actions):
    """An error is refused by the cluster too, a warning is said and recorded."""
    shipped, binding = policies(make_repository(), [policy("gpu-limits", severity)])
    assert shipped.fields["spec"] == {"failurePolicy": "Fail"}
    assert binding.fields["spec"]["validationActions"] == actions
    selector = binding.fields["spec"]["matchResources"]["namespaceSelector"]
    assert selector["matchExpressions"] == [{"key": "trainyard.dev/team", "operator": "Exists"}]


def test_a_policy_that_is_switched_off_is_not_shipped():
    """What does not fail in the pull request does not fail in the cluster."""
    repository = make_repository(policies={"gpu-limits": "being discussed"})
    assert list(policies(repository, [policy("gpu-limits")])) == []
