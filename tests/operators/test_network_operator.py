"""What the network operator gets for each way of attaching: parts with images, pools of addresses, and no more."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conftest import ROOT
from everything import EVERYTHING, OPERATORS, everything
from trainyard.base.documents import dump, load
from trainyard.base.manifests import expand
from trainyard.render.operators.install import installed_operators, values
from trainyard.render.parts.objects import Resource
from trainyard.specs import Cluster
from trainyard.specs.releases import release, releases
from trainyard.upstream.apiserver import Judge, catalog

NAME = "network-operator"
ALONE = {name: choice for name, choice in OPERATORS.items() if name not in {"sriov-network-operator", "whereabouts"}}
POOLS = EVERYTHING["pools"]
NICS = {
    "interfaces": [f"ens{rail}np0" for rail in range(8)],
    "pci": [f"0000:{rail:02x}:00.0" for rail in range(8)],
}
ROCE: dict[str, Any] = {"type": "roce", "addresses": "10.56.0.0/16", "pools": ["h100"], "trafficClass": 106}
INFINIBAND: dict[str, Any] = {**ROCE, "type": "infiniband"}
PARTITION = {
    "partitionKey": "0x6",
    "guids": ["02:00:00:00:00:00:00:00", "02:FF:FF:FF:FF:FF:FF:FF"],
    "ufmSecret": "ufm-account",
}


def site(fabric: dict[str, Any], **changes: Any) -> Cluster:
    """Return the cluster whose network operator does all that the fabric needs."""
    pools = {**POOLS, "h100": {**POOLS["h100"], **NICS}}
    return everything(**{"operators": ALONE, "pools": pools, "fabric": fabric, **changes})


def found(cluster: Cluster) -> dict[tuple[str, str], Resource]:
    """Return everything that the operator adds, by kind and name."""
    (pair,) = (pair for pair in installed_operators(cluster) if pair[0].name == NAME)
    return {(item.kind, item.name): item for item in (*pair[1].own(pair[0]), *pair[1].hardware(pair[0]))}


def policy(cluster: Cluster) -> dict[str, Any]:
    """Return the spec of the NicClusterPolicy."""
    spec: dict[str, Any] = found(cluster)["NicClusterPolicy", "nic-cluster-policy"].fields["spec"]
    return spec


WHERE = {"nodeAffinity", "tolerations"}
MODES: dict[str, tuple[dict[str, Any], set[str], set[str]]] = {
    "whole NICs": (
        {**ROCE, "attach": "hostdev"},
        {"sriovDevicePlugin", "secondaryNetwork", "nvIpam"},
        {"IPPool"},
    ),
    "shared devices beside macvlan": (
        {**ROCE, "attach": "macvlan"},
        {"rdmaSharedDevicePlugin", "secondaryNetwork", "nvIpam"},
        {"IPPool"},
    ),
    "shared adapters of InfiniBand": ({**INFINIBAND, "attach": "rdma-shared"}, {"rdmaSharedDevicePlugin"}, set()),
    "virtual functions": (
        {**ROCE, "attach": "sriov"},
        {"secondaryNetwork", "nvIpam"},
        {"IPPool", "SriovOperatorConfig", "SriovNetworkPoolConfig", "SriovNetworkNodePolicy"},
    ),
    "a partition of InfiniBand": (
        {**INFINIBAND, "attach": "sriov", **PARTITION},
        {"secondaryNetwork", "nvIpam", "ibKubernetes"},
        {"IPPool", "SriovOperatorConfig", "SriovNetworkPoolConfig", "SriovNetworkNodePolicy"},
    ),
    "routed rails": (
        {**ROCE, "attach": "hostdev", "nodePrefix": 31},
        {"sriovDevicePlugin", "secondaryNetwork", "nvIpam"},
        {"CIDRPool"},
    ),
}


@pytest.mark.parametrize(("fabric", "parts", "kinds"), MODES.values(), ids=MODES)
def test_each_way_of_attaching_has_its_parts(fabric, parts, kinds):
    """And each part its image at the operator's release, on the fabric's nodes, past their taints."""
    cluster = site(fabric)
    spec = policy(cluster)
    assert set(spec) == parts | WHERE
    assert {kind for kind, _ in found(cluster)} == kinds | {"NicClusterPolicy"}
    for part in parts - {"secondaryNetwork"}:
        assert spec[part]["version"] == "network-operator-v26.4.1"
    assert spec["tolerations"] == [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]
    (term,) = spec["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert term["matchExpressions"] == [{"key": "trainyard.dev/pool", "operator": "In", "values": ["h100"]}]


@pytest.mark.parametrize("version", releases()[NAME].releases)
@pytest.mark.parametrize(("fabric", "_parts", "_kinds"), MODES.values(), ids=MODES)
def test_what_it_gets_is_valid(fabric, _parts, _kinds, version):
    """Every object has the API types of the release, which know all fields and refuse others."""
    cluster = site({**fabric}, operators={**ALONE, NAME: {"version": version}}, system={"nicDriver": "operator"})
    judge = Judge(catalog.load(ROOT / "schemas", kubernetes="1.35", projects={NAME: version})[0])
    text = "---\n".join(dump(item.value()) for item in found(cluster).values())
    manifests, _ = expand(load(text.encode(), file="x.yaml")[0])
    assert len(manifests) == len(found(cluster))
    for manifest in manifests:
        judged = judge.judge(manifest)
        assert (judged.verdict, [finding.message for finding in judged.findings]) == ("valid", [])


def test_nothing_runs_where_others_do_all():
    """Beside an SR-IOV operator and Whereabouts the operator has no part, and so no policy."""
    assert found(everything()) == {}


def test_the_driver_is_replaced_when_a_person_drains_a_node():
    """A container brings the vendor's driver only where the cluster says so."""
    spec = policy(everything(system={"nicDriver": "operator"}))
    assert set(spec) == {"ofedDriver", *WHERE}
    assert spec["ofedDriver"]["version"] == "doca3.4.1-26.04-1.1.0.0-1"
    assert spec["ofedDriver"]["upgradePolicy"] == {"autoUpgrade": False}


def test_virtual_functions_come_from_the_operator_inside():
    """Its chart brings the SR-IOV operator, whose configuration is ours, in the same namespace."""
    cluster = site({**ROCE, "attach": "sriov"})
    (given,) = (values(at, known) for at, known in installed_operators(cluster) if at.name == NAME)
    assert given["sriovNetworkOperator"] == {"enabled": True}
    assert given["sriov-network-operator"] == {"sriovOperatorConfig": {"deploy": False}}
    rail = found(cluster)["SriovNetworkNodePolicy", "h100-rail-0"]
    assert rail.namespace == "nvidia-network-operator"
    assert rail.fields["spec"]["resourceName"] == "rail_0"


@pytest.mark.parametrize(("driver", "waits"), [("operator", True), ("inbox", False)])
def test_functions_are_made_once_the_driver_is_there(driver, waits):
    """A driver that is loaded later would take the functions away again."""
    cluster = site({**ROCE, "attach": "sriov"}, system={"nicDriver": driver})
    selector = found(cluster)["SriovOperatorConfig", "default"].fields["spec"]["configDaemonNodeSelector"]
    assert (selector.get("network.nvidia.com/operator.mofed.wait") == "false") is waits


def test_whole_nics_are_found_by_their_addresses():
    """A selector of the vendor alone would take storage and management ports too."""
    config = json.loads(policy(site({**ROCE, "attach": "hostdev"}))["sriovDevicePlugin"]["config"])
    assert len(config["resourceList"]) == 8
    assert config["resourceList"][3] == {
        "resourcePrefix": "nvidia.com",
        "resourceName": "rail_3",
        "excludeTopology": True,
        "selectors": [{"pciAddresses": ["0000:03:00.0"], "isRdma": True}],
    }


@pytest.mark.parametrize(
    ("resources", "expected"),
    [((), {f"rail_{rail}": [f"ens{rail}np0"] for rail in range(8)}), (("rdma/ib",), {"ib": NICS["interfaces"]})],
)
def test_shared_devices_are_found_by_network_device(resources, expected):
    """One resource a rail, or one whose slots have all adapters."""
    fabric = {**INFINIBAND, "attach": "rdma-shared", "resources": list(resources)}
    config = json.loads(policy(site(fabric))["rdmaSharedDevicePlugin"]["config"])
    listed = {item["resourceName"]: item["selectors"]["ifNames"] for item in config["configList"]}
    assert listed == expected
    assert {item["rdmaHcaMax"] for item in config["configList"]} == {64}


def test_shared_devices_without_names_are_found_by_their_type():
    """One resource for all needs no network device; where every NIC has a name, that is used."""
    fabric = {**INFINIBAND, "attach": "rdma-shared", "resources": ["rdma/ib"]}
    (item,) = json.loads(policy(site(fabric, pools=POOLS))["rdmaSharedDevicePlugin"]["config"])["configList"]
    assert item["selectors"] == {"vendors": ["15b3"], "deviceIDs": ["1021"]}


def test_the_copier_of_plugins_is_not_guaranteed():
    """Pinned memory of its own would keep whole-node pods off every NUMA node that it is on."""
    (own,) = policy(site({**ROCE, "attach": "hostdev"}))["secondaryNetwork"]["cniPlugins"]["containerResources"]
    assert own["requests"]["memory"] != own["limits"]["memory"]


def test_a_flat_rail_is_split_in_blocks_of_a_node():
    """As many addresses as a node carries interfaces; the first of all is the switch's."""
    spec = found(site({**ROCE, "attach": "sriov"}))["IPPool", "rail-1"].fields["spec"]
    assert (spec["subnet"], spec["perNodeBlockSize"]) == ("10.56.32.0/19", 8)
    assert spec["exclusions"] == [{"startIP": "10.56.32.1", "endIP": "10.56.32.1"}]
    assert "gateway" not in spec


ROUTED: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "two addresses a node": (
        {"nodePrefix": 31},
        {"cidr": "10.56.32.0/19", "perNodeNetworkPrefix": 31, "gatewayIndex": 0, "routes": [{"dst": "10.56.32.0/19"}]},
    ),
    "a wider block": ({"nodePrefix": 28}, {"perNodeNetworkPrefix": 28, "gatewayIndex": 1}),
    "a route further on": (
        {"nodePrefix": 31, "routes": ["10.60.0.0/16"]},
        {"routes": [{"dst": "10.56.32.0/19"}, {"dst": "10.60.0.0/16"}]},
    ),
    "blocks as the leaves have them": (
        {"nodePrefix": 31, "nodeBlocks": {"dgx-02.example.com": 5}},
        {
            "staticAllocations": [
                {"nodeName": "dgx-02.example.com", "prefix": "10.56.32.10/31", "gateway": "10.56.32.10"}
            ]
        },
    ),
}


@pytest.mark.parametrize(("fabric", "expected"), ROUTED.values(), ids=ROUTED)
def test_a_routed_rail_gives_each_node_a_block_behind_its_gateway(fabric, expected):
    """The rest of the rail is reached by the gateway; the cluster network keeps the default route."""
    pool = found(site({**ROCE, "attach": "hostdev", **fabric}))["CIDRPool", "rail-1"]
    assert pool.namespace == "nvidia-network-operator"
    assert {name: pool.fields["spec"][name] for name in expected} == expected
    assert "defaultGateway" not in pool.fields["spec"]


def test_every_image_of_every_release_is_known():
    """The policy names each part's image, repository and version."""
    for known in (release(NAME) or releases()[NAME]).releases.values():
        assert {frozenset(image) for image in known.components.values()} == {
            frozenset({"image", "repository", "version"})
        }


def test_an_image_may_be_pinned():
    """A version that is a digest is joined to the image's name by the operator."""
    digest = "sha256:" + "ab" * 32
    operators = {**ALONE, NAME: {**ALONE[NAME], "digests": {"cniPlugins": digest}}}
    assert (
        policy(site({**ROCE, "attach": "macvlan"}, operators=operators))["secondaryNetwork"]["cniPlugins"]["version"]
        == digest
    )
