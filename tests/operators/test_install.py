"""Operators are installed with values that their charts read, and configured for the cluster."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from everything import EVERYTHING, OPERATORS, everything, everything_specs, source
from make import make_cluster
from trainyard.base.documents import dump, load
from trainyard.base.versions import order
from trainyard.change.synth.render.text import in_order
from trainyard.judge.preflight.cluster.values import compare
from trainyard.render.clusters.applications import Follower
from trainyard.render.clusters.applications import resources as of_cluster
from trainyard.render.operators import Operator, Site
from trainyard.render.operators.base import merge
from trainyard.render.operators.helm import defaults
from trainyard.render.operators.install import installed_operators, sites, values
from trainyard.render.operators.kueue import CONFIGURATION, GATES, configuration
from trainyard.specs.releases.facts import lookup
from trainyard.specs.sources import Specs


def chosen(name: str, **changes: Any) -> tuple[Site, Operator]:
    """Return one operator of the cluster that has them all."""
    return next((site, known) for site, known in installed_operators(everything(**changes)) if site.name == name)


def with_values(name: str, given: dict[str, Any]) -> dict[str, Any]:
    """Return all operators, one of them with values of the cluster's own."""
    return {**OPERATORS, name: {**OPERATORS[name], "values": given}}


def resources(name: str, **changes: Any) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the fields of everything that an operator adds, by kind and name."""
    site, known = chosen(name, **changes)
    return {(item.kind, item.name): dict(item.fields) for item in (*known.own(site), *known.hardware(site))}


def applications(specs: Specs) -> list[dict[str, Any]]:
    """Return the Applications of the cluster of some specs."""
    follower = Follower("test", specs.clusters["test"], specs.repository)
    return [item.value() for item in of_cluster(follower, {"operators/training-operator"})]


@pytest.mark.parametrize("name", sorted(OPERATORS))
def test_operators_render_as_reviewed(name, golden):
    """Values of the chart, own resources and hardware changes, as one file a person reads."""
    site, known = chosen(name)
    parts = [f"# values\n{dump(in_order(values(site, known)))}"]
    parts += [f"# change\n{dump(in_order(dict(change)))}" for change in known.changes(site)]
    for title, found in (("own", known.own(site)), ("hardware", known.hardware(site))):
        for item in found:
            head = {"apiVersion": item.api_version, "kind": item.kind, "name": item.name, "namespace": item.namespace}
            parts.append(f"# {title}\n{dump({**head, **in_order(dict(item.fields))})}")
    golden(f"golden/operators/{name}.txt", "\n".join(parts))


@pytest.mark.parametrize("name", sorted(OPERATORS))
def test_our_values_are_values_that_the_chart_reads(name, root):
    """At every release that can be installed, what we set exists in the chart and has its type."""
    site, known = chosen(name)
    for version in site.facts.releases:
        if site.facts.oldest and order(version) < order(site.facts.oldest.version):
            continue
        at, _ = chosen(name, operators={**OPERATORS, name: {"version": version}})
        shipped = defaults(at, root / "schemas")
        if shipped is None:
            assert site.facts.chart is None
            assert values(site, known) == {}
        else:
            assert [item.message for item in compare(at, values(at, known), shipped.values, (), source())] == []


def test_an_operator_that_somebody_else_installs_is_there_but_not_ours():
    """With `managed: false` it counts for what needs it, and nothing is emitted for it."""
    cluster = everything(operators={**OPERATORS, "multus": {"version": "4.3.0", "managed": False}})
    assert "multus" in {site.name for site in sites(cluster)}
    assert "multus" not in {site.name for site, _ in installed_operators(cluster)}


NFD = "node-feature-discovery"

BRINGS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "the GPU operator before the others": (
        OPERATORS,
        {"gpu-operator": True, "amd-gpu-operator": False, "network-operator": False},
    ),
    "the network operator before the AMD operator": (
        {name: choice for name, choice in OPERATORS.items() if name != "gpu-operator"},
        {"amd-gpu-operator": False, "network-operator": True},
    ),
    "the AMD operator where it is alone": (
        {name: choice for name, choice in OPERATORS.items() if name not in {"gpu-operator", "network-operator"}},
        {"amd-gpu-operator": True},
    ),
    "none where it is ours by itself": (
        {**OPERATORS, NFD: {"version": "0.19.0"}},
        {"gpu-operator": False, "amd-gpu-operator": False, "network-operator": False},
    ),
    "none where it is installed by itself": (
        {**OPERATORS, NFD: {"version": "0.19.0", "managed": False}},
        {"gpu-operator": False, "amd-gpu-operator": False, "network-operator": False},
    ),
    "another where the cluster says so": (
        with_values("gpu-operator", {"nfd": {"enabled": False}}),
        {"gpu-operator": False, "amd-gpu-operator": False, "network-operator": True},
    ),
}
SWITCH = {
    "gpu-operator": "nfd.enabled",
    "amd-gpu-operator": "node-feature-discovery.enabled",
    "network-operator": "nfd.enabled",
}


@pytest.mark.parametrize(("chosen_operators", "expected"), BRINGS.values(), ids=BRINGS)
def test_one_operator_brings_node_feature_discovery(chosen_operators, expected):
    """Two of them label the same nodes and undo each other."""
    found = {
        site.name: lookup(values(site, known), SWITCH[site.name])
        for site, known in installed_operators(everything(operators=chosen_operators))
        if site.name in SWITCH
    }
    assert found == expected


def test_the_definition_of_networks_has_one_owner():
    """Multus brings it only where no chart of the cluster does."""
    key = ("CustomResourceDefinition", "network-attachment-definitions.k8s.cni.cncf.io")
    assert key not in resources("multus")
    alone = {name: choice for name, choice in OPERATORS.items() if "network-operator" not in name}
    fabric = {"type": "none"}
    assert key in resources("multus", operators=alone, fabric=fabric)


def test_kueue_is_configured_for_the_kinds_that_the_cluster_runs():
    """Integrations follow the operators; single pods are never queued; jobs without a queue are held."""
    config = configuration(make_cluster())
    assert config["integrations"]["frameworks"] == ["batch/job", "jobset.x-k8s.io/jobset"]
    assert config["manageJobsWithoutQueueName"] is True
    assert "objectRetentionPolicies" not in config
    assert "fairSharing" not in config


def test_kueue_tries_a_job_again_as_long_as_it_takes():
    """A job that does not get ready is queued again, later each time up to an hour, and never set aside for good."""
    asked = configuration(make_cluster())["waitForPodsReady"]["requeuingStrategy"]
    assert "backoffLimitCount" not in asked
    assert (asked["backoffBaseSeconds"], asked["backoffMaxSeconds"]) == (60, 3600)


def test_kueue_gets_its_gates_once():
    """A gate of the cluster's file stands beside ours; Kueue takes no gates in two places, so its own text is alone."""
    given = {"managerConfig": {"controllerManagerConfigYaml": "featureGates: {Other: true}\n"}}
    ours, other = {"name": "FailureRecoveryPolicy", "enabled": True}, {"name": "Other", "enabled": True}
    off = {**ours, "enabled": False}
    for operators, expected in (
        (OPERATORS, [ours]),
        (with_values("kueue", {"controllerManager": {"featureGates": [other]}}), [ours, other]),
        (with_values("kueue", {"controllerManager": {"featureGates": [off]}}), [off]),
        (with_values("kueue", given), None),
    ):
        site, known = chosen("kueue", operators=operators)
        assert lookup(values(site, known), GATES) == expected


def test_weights_turn_fair_sharing_on():
    """A queue or cohort with a weight means that unused quota is shared by weights."""
    assert "fairSharing" in configuration(everything(cohorts={"gpus": {"fairWeight": "2"}}))


def test_the_chart_gets_the_configuration_as_one_text():
    """The text reads back as the configuration."""
    site, known = chosen("kueue")
    text = lookup(values(site, known), CONFIGURATION)
    documents, findings = load(text.encode(), file="config")
    assert not findings
    assert documents[0].value == configuration(site.cluster)


def test_a_configuration_of_the_clusters_own_replaces_ours():
    """What Kueue runs with is what the cluster's file says."""
    own = {"managerConfig": {"controllerManagerConfigYaml": "integrations: {frameworks: [batch/job]}\n"}}
    cluster = everything(operators=with_values("kueue", own))
    assert configuration(cluster) == {"integrations": {"frameworks": ["batch/job"]}}


def test_values_for_gpus_reach_the_cluster_policy():
    """The chart makes no ClusterPolicy, so what it would have put there goes into ours."""
    given = {
        "driver": {"version": "580.126.20"},
        "mig": {"strategy": "mixed"},
        "operator": {"logging": {"level": "debug"}},
    }
    policy = resources("gpu-operator", operators=with_values("gpu-operator", given))["ClusterPolicy", "cluster-policy"]
    assert policy["spec"]["driver"]["version"] == "580.126.20"
    assert policy["spec"]["driver"]["repository"] == "nvcr.io/nvidia"
    assert policy["spec"]["mig"] == {"strategy": "mixed"}
    assert "logging" not in policy["spec"]["operator"]


def test_drivers_are_not_replaced_under_running_jobs():
    """A node gets a new driver when a person drains it."""
    policy = resources("gpu-operator")["ClusterPolicy", "cluster-policy"]
    assert policy["spec"]["driver"]["upgradePolicy"] == {"autoUpgrade": False}


def test_every_rail_of_every_pool_has_a_policy_that_finds_its_nics():
    """NICs are found by address where the shape knows it, and one node is away at a time."""
    found = resources("sriov-network-operator")
    policies = {name: fields["spec"] for (kind, name), fields in found.items() if kind == "SriovNetworkNodePolicy"}
    assert sorted(policies) == [f"h100-rail-{rail}" for rail in range(8)]
    assert policies["h100-rail-4"]["nicSelector"] == {"rootDevices": ["0000:9a:00.0"]}
    assert {spec["linkType"] for spec in policies.values()} == {"eth"}
    assert {spec["mtu"] for spec in policies.values()} == {9000}
    assert found["SriovNetworkPoolConfig", "h100"]["spec"]["maxUnavailable"] == 1


def nics(*, shape: str, policy: str, **fabric: Any) -> dict[str, Any]:
    """Return the spec of the first rail's policy, on nodes of that shape whose kubelets have that policy."""
    changes = {"interfaces": [f"ens{rail}np0" for rail in range(8)], "kubelet": {"topologyManagerPolicy": policy}}
    pools = {**EVERYTHING["pools"], "h100": {**EVERYTHING["pools"]["h100"], "shape": shape, **changes}}
    found = resources("sriov-network-operator", pools=pools, fabric={**EVERYTHING["fabric"], **fabric})
    spec: dict[str, Any] = found["SriovNetworkNodePolicy", "h100-rail-0"]["spec"]
    return spec


EXCLUDED = {"restricted": True, "single-numa-node": True, "best-effort": None, "none": None}


@pytest.mark.parametrize(("policy", "excluded"), EXCLUDED.items())
def test_functions_keep_their_numa_node_from_kubelets_that_refuse_pods_for_it(policy, excluded):
    """On two sockets; of eight NUMA nodes no kubelet would be done with the combinations."""
    assert nics(shape="hgx-h100", policy=policy)["excludeTopology"] is excluded
    assert nics(shape="dgx-a100", policy=policy)["excludeTopology"] is True


def test_nics_are_found_by_network_device_where_no_address_is_known():
    """RDMA devices such as mlx5_0 would select nothing."""
    assert nics(shape="hgx-h100", policy="none")["nicSelector"] == {"pfNames": ["ens0np0"]}


def test_one_resource_for_all_has_one_function_a_nic():
    """Of several a pod could get two of one NIC."""
    spec = nics(shape="hgx-h100", policy="restricted", resources=["openshift.io/rdma"])
    assert (spec["resourceName"], spec["numVfs"], spec["excludeTopology"]) == ("rdma", 1, None)


def test_infiniband_ports_get_their_mtu_from_the_subnet_manager():
    """On InfiniBand the link type is ib and no MTU is set."""
    fabric = {"type": "infiniband", "rails": 8, "attach": "sriov", "addresses": "10.56.0.0/16", "pools": ["h100"]}
    spec = resources("sriov-network-operator", fabric=fabric)["SriovNetworkNodePolicy", "h100-rail-0"]["spec"]
    assert (spec["linkType"], spec["mtu"]) == ("ib", None)


def test_every_pool_of_amd_gpus_has_its_device_config():
    """The pool's label selects the nodes, its taints are tolerated, and the cluster's own values are kept."""
    own = {"deviceConfig": {"spec": {"driver": {"enable": True, "version": "30.20.1"}}}}
    found = resources("amd-gpu-operator", operators=with_values("amd-gpu-operator", own))
    spec = found["DeviceConfig", "mi300x"]["spec"]
    assert spec["selector"] == {"trainyard.dev/pool": "mi300x"}
    assert spec["driver"] == {"enable": True, "version": "30.20.1"}
    assert spec["devicePlugin"]["devicePluginTolerations"][0]["key"] == "amd.com/gpu"


MERGES: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "maps by key": ({"a": {"b": 1, "c": 2}}, {"a": {"c": 3}}, {"a": {"b": 1, "c": 3}}),
    "lists as a whole": ({"a": [1, 2]}, {"a": [3]}, {"a": [3]}),
    "a map takes the place of a text": ({"a": "x"}, {"a": {"b": 1}}, {"a": {"b": 1}}),
}


@pytest.mark.parametrize(("base", "over", "merged"), MERGES.values(), ids=MERGES)
def test_values_merge_as_helm_merges_them(base, over, merged):
    """Maps are merged, everything else is replaced."""
    assert merge(base, over) == merged


def test_manifests_are_installed_by_tag_with_changes_inline():
    """An operator without a chart comes from its repository; its namespace is ours, and so are the changes."""
    specs = everything_specs()
    found = {application["metadata"]["name"]: application for application in applications(specs)}
    spec = found["test-operators-training-operator-manifests"]["spec"]
    assert spec["source"]["repoURL"] == "https://github.com/kubeflow/trainer.git"
    assert (spec["source"]["path"], spec["source"]["targetRevision"]) == ("manifests/overlays/standalone", "v1.9.4")
    patches = [yaml.safe_load(patch["patch"]) for patch in spec["source"]["kustomize"]["patches"]]
    assert [(patch["kind"], patch.get("$patch")) for patch in patches] == [
        ("Namespace", "delete"),
        ("Deployment", None),
        ("CustomResourceDefinition", "delete"),
    ]
    assert [patch["target"] for patch in spec["source"]["kustomize"]["patches"]] == [
        {"kind": patch["kind"], "name": patch["metadata"]["name"]} for patch in patches
    ]
    assert "test-operators-multus-manifests" not in found
    assert found["test-operators-mpi-operator-manifests"]["spec"]["source"]["kustomize"]["images"] == [
        "mpioperator/mpi-operator:0.8.0"
    ]


def test_mpijob_is_left_to_its_own_operator():
    """Beside the MPI Operator the training operator neither brings its definition nor reconciles it; alone it does."""
    alone = {name: choice for name, choice in OPERATORS.items() if name != "mpi-operator"}
    for operators, leaves in ((OPERATORS, True), (alone, False)):
        site, known = chosen("training-operator", operators=operators)
        (pod, *rest) = known.changes(site)
        args = pod["spec"]["template"]["spec"]["containers"][0].get("args", [])
        assert (known.cedes(site) == {"mpijobs.kubeflow.org"}) is leaves
        assert ("--enable-scheme=pytorchjob" in args, "--enable-scheme=mpijob" in args, bool(rest)) == (
            leaves,
            False,
            leaves,
        )


def test_no_container_waits_for_the_master():
    """The template of init containers is where the operator looks for it, and has none."""
    site, known = chosen("training-operator")
    (template,) = known.own(site)
    (pod, *_) = known.changes(site)
    spec = pod["spec"]["template"]["spec"]
    assert yaml.safe_load(template.fields["data"]["initContainer.yaml"]) == []
    assert spec["volumes"][0]["configMap"]["name"] == template.name
    assert spec["containers"][0]["volumeMounts"][0]["mountPath"] == "/etc/config"
