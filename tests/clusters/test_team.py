"""A team has a namespace, queues, rights, a network and volumes; nothing of it is lost by a commit."""

from __future__ import annotations

import json
from ipaddress import ip_address, ip_network
from typing import Any

import pytest
from pydantic import ValidationError

from everything import EVERYTHING, everything
from make import IMAGE, make_cluster, make_team
from trainyard.base.labels import NAMESPACE as NAME
from trainyard.render.clusters import team as chart
from trainyard.render.parts.objects import Resource
from trainyard.specs import Cluster, Team


def found(cluster: Cluster, name: str = "nlp", team: Team | None = None) -> dict[tuple[str, str], Resource]:
    """Return everything of `teams/<team>/`, by kind and name."""
    listed = chart.resources("test", cluster, name, team or make_team())
    return {(item.kind, item.name): item for item in listed}


@pytest.mark.parametrize("level", ["restricted", "baseline", "privileged"])
def test_the_namespace_carries_the_pod_security_level(level):
    """All three modes, pinned to the cluster's version, and the label by which Kueue manages it."""
    labels = found(everything(), team=make_team(pod_security=level))["Namespace", "nlp"].labels
    prefix = "pod-security.kubernetes.io"
    assert {labels[f"{prefix}/{mode}"] for mode in ("enforce", "warn", "audit")} == {level}
    assert {labels[f"{prefix}/{mode}-version"] for mode in ("enforce", "warn", "audit")} == {"v1.35"}
    assert labels["trainyard.dev/team"] == "nlp"


LEVELS: dict[str, tuple[Any, str]] = {
    "one for all clusters": ("baseline", "baseline"),
    "of this cluster": ({"default": "restricted", "test": "privileged"}, "privileged"),
    "of the others": ({"default": "baseline", "other": "privileged"}, "baseline"),
    "nothing said": ({"other": "privileged"}, "restricted"),
}


@pytest.mark.parametrize(("written", "level"), LEVELS.values(), ids=LEVELS)
def test_a_level_may_differ_from_cluster_to_cluster(written, level):
    """What one cluster needs opens no other."""
    labels = found(everything(), team=make_team(pod_security=written))["Namespace", "nlp"].labels
    assert labels["pod-security.kubernetes.io/enforce"] == level


def test_what_holds_data_is_never_removed():
    """Neither the namespace nor a claim goes when its file does, nor when the Application does."""
    listed = found(everything())
    for key in (("Namespace", "nlp"), ("PersistentVolumeClaim", "checkpoints")):
        assert listed[key].annotations["argocd.argoproj.io/sync-options"] == "Prune=false,Delete=false"


def test_a_team_has_a_queue_of_each_name_that_admits_it():
    """`queue:` in a job is a LocalQueue and a ClusterQueue of one name."""
    queues = {name: value.fields["spec"] for (kind, name), value in found(everything()).items() if kind == "LocalQueue"}
    assert queues == {"research": {"clusterQueue": "research"}}


VOLUMES: dict[str, tuple[dict[str, Any], set[str]]] = {
    "on storage that the cluster has": ({"data": {"storage": "shared", "size": "1Ti"}}, {"data"}),
    "on storage that it lacks": ({"data": {"storage": "elsewhere", "size": "1Ti"}}, set()),
    "on this cluster by name": ({"data": {"storage": "shared", "size": "1Ti", "clusters": ["test"]}}, {"data"}),
    "on another cluster": ({"data": {"storage": "shared", "size": "1Ti", "clusters": ["other"]}}, set()),
}


@pytest.mark.parametrize(("volumes", "claims"), VOLUMES.values(), ids=VOLUMES)
def test_claims_are_where_their_storage_is(volumes, claims):
    """A volume is a claim on every cluster that has its storage, unless it names clusters."""
    listed = found(everything(), team=make_team(volumes=volumes))
    assert {name for kind, name in listed if kind == "PersistentVolumeClaim"} == claims


def test_a_claim_has_the_access_of_its_storage():
    """Pods of several nodes share it only if the class can."""
    spec = found(everything())["PersistentVolumeClaim", "checkpoints"].fields["spec"]
    assert (spec["accessModes"], spec["storageClassName"]) == (["ReadWriteMany"], "shared")
    assert spec["resources"] == {"requests": {"storage": "1Ti"}}


def rules(team: Team) -> list[dict[str, Any]]:
    """Return the rules of the team's role."""
    listed: list[dict[str, Any]] = found(everything(), team=team)["Role", "team"].fields["rules"]
    return listed


def test_people_read_and_debug_but_do_not_start_or_stop_jobs():
    """No wildcard, no write to jobs, queues, workloads or pods: a run comes through Git."""
    for rule in rules(make_team()):
        assert "*" not in [*rule["apiGroups"], *rule["resources"], *rule["verbs"]]
        writes = set(rule["verbs"]) - {"get", "list", "watch"}
        assert not writes or set(rule["resources"]) <= {"pods/exec", "pods/portforward", "secrets"}


def test_secrets_are_written_by_name_and_read_by_name():
    """Only the team's own secrets can be read or changed, and none is listed."""
    secrets = [rule for rule in rules(make_team(secrets=["hub", "tokens"])) if rule["resources"] == ["secrets"]]
    assert [rule["verbs"] for rule in secrets] == [["create"], ["get", "update", "patch", "delete"]]
    assert secrets[1]["resourceNames"] == ["hub", "tokens"]
    assert not [rule for rule in rules(make_team(secrets=None)) if "secrets" in rule["resources"]]


def test_the_rights_are_the_groups():
    """The team's people are a group of the identity provider."""
    binding = found(everything(), team=make_team(group="people-of-nlp"))["RoleBinding", "team"]
    assert binding.fields["subjects"] == [
        {"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "people-of-nlp"}
    ]


def test_accounts_of_jobs_exist_and_bring_no_token_by_themselves():
    """A pod that names none gets none."""
    listed = found(everything(), team=make_team(service_accounts=["reader"]))
    assert listed["ServiceAccount", "reader"].fields == {"automountServiceAccountToken": False}


def test_an_account_has_the_annotations_that_a_provider_reads():
    """Written as a map, an account carries them to its pods' credentials."""
    role = {"eks.amazonaws.com/role-arn": "arn:aws:iam::111122223333:role/reader"}
    listed = found(everything(), team=make_team(service_accounts={"reader": {"annotations": role}}))
    assert listed["ServiceAccount", "reader"].annotations == role
    assert listed["ServiceAccount", "reader"].at == ("serviceAccounts", "reader")


def test_ranks_reach_each_other_on_every_port_and_nobody_else_reaches_them():
    """Rendezvous and NCCL choose their ports."""
    spec = found(everything())["NetworkPolicy", "ranks"].fields["spec"]
    assert spec["podSelector"] == {}
    assert spec["ingress"] == [{"from": [{"podSelector": {}}]}]
    assert spec["egress"] == [{"to": [{"podSelector": {}}]}]


PODS = {"kube-system": "10.0.0.10", "openshift-dns": "10.0.0.11", "storage": "10.0.0.12"}
"""Namespaces, each with the address of a pod in it."""


def reaches(
    cluster: Cluster, team: Team, address: str, port: int = 443, protocol: str = "TCP", labels: Any = None
) -> bool:
    """Whether the policy `outside` lets a pod reach an address, which is that of a pod with `labels` or of none.

    A selector finds pods alone, and those of the host's network not at all.
    """
    spec = found(cluster, team=team)["NetworkPolicy", "outside"].fields["spec"]
    namespace = next((name for name, pod in PODS.items() if pod == address), None)
    for rule in spec["egress"]:
        opened = [
            one_port["protocol"] == protocol
            and one_port["port"] <= port <= (one_port.get("endPort") or one_port["port"])
            for one_port in rule.get("ports", [])
        ]
        if any(opened) or "ports" not in rule:
            for peer in rule["to"]:
                if is_peer(peer, address, namespace, labels or {}):
                    return True
    return False


def is_peer(peer: dict[str, Any], address: str, namespace: str | None, labels: dict[str, str]) -> bool:
    """Whether an address is one of a peer's."""
    if block := peer.get("ipBlock"):
        kept = [ip_network(cidr) for cidr in block.get("except") or []]
        return ip_address(address) in ip_network(block["cidr"]) and not any(
            ip_address(address) in cidr for cidr in kept
        )
    selector = peer["namespaceSelector"]
    wanted = selector.get("matchLabels", {}).get(NAME)
    named = (
        [wanted]
        if wanted
        else [value for match_expression in selector["matchExpressions"] for value in match_expression["values"]]
    )
    chosen = peer.get("podSelector", {}).get("matchLabels", {})
    return namespace in named and chosen.items() <= labels.items()


ADDRESSES: dict[str, tuple[str, int, bool, bool]] = {
    "the world": ("93.184.216.34", 443, True, True),
    "pods of other teams": ("10.1.2.3", 29500, False, False),
    "services": ("10.4.0.1", 443, False, True),
    "nodes": ("10.8.0.7", 10250, False, True),
    "credentials of the node": ("169.254.169.254", 80, False, True),
    "DNS of the node": ("169.254.20.10", 53, True, True),
}


@pytest.mark.parametrize(("address", "port", "alone", "with_account"), ADDRESSES.values(), ids=ADDRESSES)
def test_pods_reach_the_world_but_not_the_cluster(address, port, alone, with_account):
    """Only a team whose jobs have accounts of their own may need the API server or a metadata service."""
    assert reaches(everything(), make_team(), address, port) is alone
    assert reaches(everything(), make_team(service_accounts=["reader"]), address, port) is with_account


PLANES: dict[str, tuple[str, int, str]] = {
    "kube-dns behind its Service, which is translated first": ("10.0.0.10", 53, "UDP"),
    "a long answer over TCP": ("10.0.0.10", 53, "TCP"),
    "a cache in the host's network that answers at the Service's address": ("10.4.0.10", 53, "UDP"),
    "a cache in the host's network at an address of its own": ("169.254.20.10", 53, "UDP"),
    "a cache that is a pod, as on Dataplane V2": ("10.0.0.10", 53, "UDP"),
    "Cloud DNS, which the metadata server answers for": ("169.254.169.254", 53, "UDP"),
    "OpenShift's DNS pods": ("10.0.0.11", 5353, "UDP"),
    "Gardener's DNS pods": ("10.0.0.10", 8053, "UDP"),
}


@pytest.mark.parametrize(("address", "port", "protocol"), PLANES.values(), ids=PLANES)
def test_names_resolve_on_every_data_plane(address, port, protocol):
    """Where a name cannot be asked for, no rank finds another."""
    assert reaches(everything(), make_team(), address, port, protocol)


CLOSED: dict[str, tuple[str, int]] = {
    "other ports of Services": ("10.4.0.10", 443),
    "ports of DNS pods alone at the Service's address": ("10.4.0.10", 8053),
    "other ports of kube-system": ("10.0.0.10", 443),
    "the metadata service": ("169.254.169.254", 80),
}


@pytest.mark.parametrize(("address", "port"), CLOSED.values(), ids=CLOSED)
def test_the_way_to_names_leads_nowhere_else(address, port):
    """What is opened for DNS is DNS."""
    assert not reaches(everything(), make_team(), address, port)


EGRESS: dict[str, tuple[dict[str, Any], tuple[str, int, str], bool]] = {
    "a port of a namespace": ({"namespace": "storage", "ports": [9000]}, ("10.0.0.12", 9000, "TCP"), True),
    "another port of it": ({"namespace": "storage", "ports": [9000]}, ("10.0.0.12", 9001, "TCP"), False),
    "another protocol": ({"namespace": "storage", "ports": [9000]}, ("10.0.0.12", 9000, "UDP"), False),
    "a range": ({"namespace": "storage", "ports": ["9000-9010"]}, ("10.0.0.12", 9010, "TCP"), True),
    "a protocol by name": ({"namespace": "storage", "ports": ["9000/UDP"]}, ("10.0.0.12", 9000, "UDP"), True),
    "pods by label": ({"namespace": "storage", "pods": {"app": "s3"}, "ports": [80]}, ("10.0.0.12", 80, "TCP"), True),
    "other pods": ({"namespace": "storage", "pods": {"app": "db"}, "ports": [80]}, ("10.0.0.12", 80, "TCP"), False),
    "a server on a node": ({"cidr": "10.8.0.7/32", "ports": [27000]}, ("10.8.0.7", 27000, "TCP"), True),
    "its neighbour": ({"cidr": "10.8.0.7/32", "ports": [27000]}, ("10.8.0.8", 27000, "TCP"), False),
    "another cluster": (
        {"cidr": "10.8.0.7/32", "ports": [27000], "clusters": ["other"]},
        ("10.8.0.7", 27000, "TCP"),
        False,
    ),
}


@pytest.mark.parametrize(("opened", "at", "reached"), EGRESS.values(), ids=EGRESS)
def test_a_team_opens_what_it_needs_inside_the_cluster(opened, at, reached):
    """By namespace or by address, at the ports it names."""
    assert reaches(everything(), make_team(egress=[opened]), *at, labels={"app": "s3"}) is reached


def test_exceptions_are_inside_the_range_they_are_taken_from():
    """The API server refuses an exception of another family."""
    cidrs = {"pods": "10.0.0.0/14", "services": "fd00:1::/112"}
    spec = found(everything(cidrs=cidrs))["NetworkPolicy", "outside"].fields["spec"]
    for peer in spec["egress"][2]["to"]:
        block = peer["ipBlock"]
        assert all(ip_network(item).subnet_of(ip_network(block["cidr"])) for item in block["except"])
    assert len(spec["egress"][2]["to"]) == 2


def networks(cluster: Cluster) -> dict[str, Resource]:
    """Return the networks of the fabric in the namespace."""
    return {item.name: item for item in found(cluster).values() if item.kind == "NetworkAttachmentDefinition"}


POOLS = EVERYTHING["pools"]

CHAINS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "RoCE by virtual functions": ({"type": "roce", "attach": "sriov"}, ["sriov", "rdma"]),
    "InfiniBand by virtual functions": ({"type": "infiniband", "attach": "sriov"}, ["ib-sriov", "rdma"]),
    "whole NICs": ({"type": "roce", "attach": "hostdev"}, ["host-device"]),
    "shared NICs": ({"type": "roce", "attach": "macvlan"}, ["macvlan"]),
}


@pytest.mark.parametrize(("fabric", "chain"), CHAINS.values(), ids=CHAINS)
def test_a_network_has_the_plugins_of_its_way_of_attaching(fabric, chain):
    """One network a rail, each with a subnet of its own and without a route."""
    cluster = everything(fabric={**fabric, "rails": 8, "addresses": "10.56.0.0/16", "pools": ["h100"]})
    listed = networks(cluster)
    assert sorted(listed) == [f"rail-{rail}" for rail in range(8)]
    ranges = set()
    for rail in range(8):
        config = json.loads(listed[f"rail-{rail}"].fields["spec"]["config"])
        assert [plugin["type"] for plugin in config["plugins"]] == chain
        ipam = config["plugins"][0]["ipam"]
        assert set(ipam) == {"type", "range", "exclude"}
        ranges.add(ipam["range"])
    assert len(ranges) == 8


ALL = {"addresses": "10.56.0.0/16", "pools": ["h100"], "resources": ["openshift.io/rdma"], "attach": "sriov"}


@pytest.mark.parametrize(
    ("kind", "chain"), [("roce", ["sriov", "tuning", "rdma", "sbr"]), ("infiniband", ["ib-sriov", "rdma"])]
)
def test_one_resource_for_all_nics_is_one_network(kind, chain):
    """Nobody knows which NIC a pod gets, so all are in one subnet, and on Ethernet each speaks for itself alone."""
    listed = networks(everything(fabric={"type": kind, **ALL}))
    assert sorted(listed) == ["rails"]
    config = json.loads(listed["rails"].fields["spec"]["config"])
    assert [plugin["type"] for plugin in config["plugins"]] == chain
    assert config["plugins"][0]["ipam"]["range"] == "10.56.0.0/16"
    assert listed["rails"].annotations == {"k8s.v1.cni.cncf.io/resourceName": "openshift.io/rdma"}
    if kind == "roce":
        assert config["plugins"][1]["sysctl"]["net.ipv4.conf.IFNAME.arp_ignore"] == "1"


def test_a_team_has_its_own_vlan_or_partition():
    """A function is put into what its team has; a team that is not named into what is said for all."""
    ethernet = networks(everything(fabric={"type": "roce", **ALL, "vlans": {"nlp": 402, "vision": 403}}))
    assert json.loads(ethernet["rails"].fields["spec"]["config"])["plugins"][0]["vlan"] == 402
    keys = {"guids": [f"0{end}:00:00:00:00:00:00:00" for end in (1, 2)], "ufmSecret": "ufm"}
    for said, key in (({"nlp": "0x8"}, "0x8"), ({"vision": "0x8"}, "0x6")):
        fabric = {"type": "infiniband", **ALL, "partitionKey": "0x6", "partitionKeys": said, **keys}
        first = json.loads(networks(everything(fabric=fabric))["rails"].fields["spec"]["config"])["plugins"][0]
        assert (first["pkey"], first["ibKubernetesEnabled"]) == (key, True)


def test_a_shared_device_is_no_interface_of_its_network():
    """Multus would hand its allocation to macvlan, which makes an interface on the NIC that its configuration names."""
    pools = {**POOLS, "h100": {**POOLS["h100"], "interfaces": [f"ens{rail}np0" for rail in range(8)]}}
    fabric = {"type": "roce", "attach": "macvlan", "addresses": "10.56.0.0/16", "pools": ["h100"]}
    listed = networks(everything(fabric=fabric, pools=pools))
    assert listed["rail-3"].annotations == {}
    assert json.loads(listed["rail-3"].fields["spec"]["config"])["plugins"][0]["master"] == "ens3np0"


def test_a_network_names_the_device_that_pods_request():
    """The i-th network of a pod takes the i-th device of that resource."""
    notes = {
        name: network.annotations["k8s.v1.cni.cncf.io/resourceName"] for name, network in networks(everything()).items()
    }
    assert notes["rail-3"] == "openshift.io/rail_3"


def test_the_permanent_object_never_changes(golden):
    """A byte of it that changed would be the first change in every run folder at once."""
    value = chart.permanent(make_cluster(), "nlp")
    parts = (value.api_version, value.kind, value.namespace, value.name, value.labels, value.annotations, value.fields)
    golden("golden/permanent.txt", "\n".join(map(str, parts)) + "\n")


PIPELINES: dict[str, tuple[dict[str, Any], dict[str, str | None]]] = {
    "an account in each team's profile": (
        {"serviceAccount": "default-editor", "namespaces": {"nlp": "nlp-pipelines"}},
        {"nlp": "nlp-pipelines/default-editor", "ads": None},
    ),
    "an account in each team's namespace": ({}, {"nlp": "nlp/pipeline-runner", "ads": "ads/pipeline-runner"}),
    "one for all": (
        {"namespace": "kubeflow"},
        {"nlp": "kubeflow/pipeline-runner", "ads": "kubeflow/pipeline-runner"},
    ),
}


@pytest.mark.parametrize("case", PIPELINES)
def test_pipelines_of_a_team_start_its_runs(case: str) -> None:
    """The account of one team's steps has rights in that team's namespace alone, and other teams have none."""
    pipelines, wanted = PIPELINES[case]
    cluster = make_cluster(pipelines={"image": IMAGE, **pipelines})
    for team, account in wanted.items():
        bound = found(cluster, team).get(("RoleBinding", "pipelines"))
        subjects = (
            [f"{subject['namespace']}/{subject['name']}" for subject in bound.value()["subjects"]] if bound else [None]
        )
        assert subjects == [account]
        assert (("Role", "pipelines") in found(cluster, team)) == (account is not None)


WRONG_PIPELINES: dict[str, tuple[dict[str, Any], str]] = {
    "both": ({"namespace": "kubeflow", "namespaces": {"nlp": "a"}}, "has both namespace and namespaces"),
    "one for two": ({"namespaces": {"nlp": "a", "ads": "a"}}, "has namespace 'a' for two teams"),
}


@pytest.mark.parametrize("case", WRONG_PIPELINES)
def test_an_account_of_a_team_is_no_other_teams(case: str) -> None:
    """Whoever runs pipelines in a namespace does so as the accounts in it."""
    pipelines, said = WRONG_PIPELINES[case]
    with pytest.raises(ValidationError, match=said):
        make_cluster(pipelines={"image": IMAGE, **pipelines})
