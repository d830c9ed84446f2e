"""Google's NCCL plugins on GKE: installers for the fabric's machines alone, pairs with the daemon, and refusals."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from make import fields, make_cluster, make_source
from trainyard.judge.preflight.cluster.distribution import check as check_distribution
from trainyard.judge.preflight.cluster.gke_gpudirect import check
from trainyard.render.operators.gke_gpudirect import NAME, PLUGINS, PREPARE
from trainyard.render.operators.install import installed_operators
from trainyard.render.parts.objects import Resource
from trainyard.render.sizing.daemons import of_operators
from trainyard.render.sizing.fabrics.gpudirect_tcpxo import APERTURE

OURS = {NAME: {"version": "2026.6.9"}}
DIGEST = f"sha256:{'a' * 64}"
DAEMON = f"registry.example.com/mirror/tcpgpudmarxd-dev:v1.0.21@{DIGEST}"
TCPXO = {"type": "gpudirect-tcpxo", "networks": [f"vpc{index}" for index in range(1, 9)], "daemon": DAEMON}
TCPX = {
    **TCPXO,
    "type": "gpudirect-tcpx",
    "networks": TCPXO["networks"][:4],
    "daemon": f"registry.example.com/d@{DIGEST}",
}
GIB = {"type": "gpudirect-rdma", "networks": [f"rdma-{index}" for index in range(8)]}
MEGA, HIGH, ULTRA, A4 = (f"gke-{name}-8g" for name in ("a3-megagpu", "a3-highgpu", "a3-ultragpu", "a4-highgpu"))


def changes(shape: str, fabric: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return the fields of a cluster of one shape beside nodes without GPUs."""
    pools = {"gpu": {"shape": shape, "nodes": 2}, "cpu": {"shape": "cpu-64", "nodes": 2}}
    base = {"pools": pools, "fabric": fabric, "queues": {}, "operators": OURS, "system": {"distribution": "gke-cos"}}
    return {**base, **more}


def rendered(shape: str, fabric: dict[str, Any], **more: Any) -> dict[str, Resource]:
    """Return the operator's objects by name."""
    found = installed_operators(make_cluster(**changes(shape, fabric, **more)))
    return {item.name: item for site, known in found if site.name == NAME for item in known.own(site)}


def pod(item: Resource) -> dict[str, Any]:
    """Return the pod of a DaemonSet."""
    return dict(item.fields["spec"]["template"]["spec"])


SETS = {
    "TCPXO": (MEGA, TCPXO, {"nccl-tcpxo-installer", "device-injector"}, ["nvidia-h100-mega-80gb"]),
    "TCPX": (HIGH, TCPX, {"nccl-tcpx-installer", "device-injector"}, ["nvidia-h100-80gb"]),
    "RDMA, which has no daemon": (ULTRA, GIB, {"nccl-rdma-installer"}, ["nvidia-h200-141gb", "nvidia-b200"]),
    "no fabric": (MEGA, {"type": "none"}, set(), []),
}


@pytest.mark.parametrize(("shape", "fabric", "names", "accelerators"), SETS.values(), ids=SETS)
def test_nodes_get_the_plugin_of_their_machine(shape, fabric, names, accelerators):
    """Each DaemonSet has Google's name and selector, and runs on nodes of the fabric that have the machine's GPUs."""
    found = rendered(shape, fabric)
    assert found.keys() == names
    for name, item in found.items():
        assert item.fields["spec"]["selector"]["matchLabels"] == {"k8s-app": name}
        node = pod(item)["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
        (term,) = node["nodeSelectorTerms"]
        assert [rule["values"] for rule in term["matchExpressions"]] == [["gpu"], accelerators]


def test_only_a_person_replaces_a_plugin_under_running_jobs():
    """An upgrade waits until the installer's pod is deleted; files are replaced and never written over."""
    item = rendered(MEGA, TCPXO)["nccl-tcpxo-installer"]
    assert item.fields["spec"]["updateStrategy"] == {"type": "OnDelete"}
    assert all("cp -r --remove-destination" in plugin.script for plugin in PLUGINS.values())


def test_pods_of_jobs_wait_for_the_whole_plugin():
    """The only folder that a run mounts and no driver makes appears once the libraries are copied."""
    found = pod(rendered(MEGA, TCPXO)["nccl-tcpxo-installer"])
    first, last = found["initContainers"]
    assert "cp -r" in first["command"][-1]
    assert APERTURE in last["command"][-1]
    assert APERTURE not in first["command"][-1]
    assert APERTURE not in {volume["hostPath"]["path"] for volume in found["volumes"]}


def test_images_are_of_the_release_and_can_be_pinned():
    """Every container has the release's image, with a digest where the cluster's file says one."""
    digests = {"gpudirect-tcpxo": DIGEST, "deviceInjector": DIGEST}
    found = rendered(MEGA, TCPXO, operators={NAME: {"version": "2026.7.6", "digests": digests}})
    installer = pod(found["nccl-tcpxo-installer"])
    images = {one["image"] for one in (*installer["initContainers"], *installer["containers"])}
    assert images == {f"us-docker.pkg.dev/gce-ai-infra/gpudirect-tcpxo/nccl-plugin-gpudirecttcpx-dev:v1.0.16@{DIGEST}"}
    (injector,) = pod(found["device-injector"])["containers"]
    assert injector["image"] == f"gcr.io/gke-release/nri-device-injector@{DIGEST}"


@pytest.mark.parametrize("script", [PREPARE, *(plugin.script for plugin in PLUGINS.values())])
def test_scripts_are_shell(script):
    """The commands are such as sh reads."""
    done = subprocess.run(["sh", "-n"], input=script, text=True, capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_library_in_use_stays_as_it_was(tmp_path: Path):
    """A program that has opened a library goes on with its bytes while the installer copies a newer one."""
    image, node = tmp_path / "image", tmp_path / "node"
    for folder, text in ((image, "new"), (node, "old")):
        folder.mkdir()
        (folder / "libnccl.so.2").write_text(text)
    copy = next(line for line in PLUGINS["gpudirect-rdma"].script.splitlines() if line.startswith("cp "))
    opened = os.open(node / "libnccl.so.2", os.O_RDONLY)
    done = copy.replace("/var/lib/gib/lib64", str(image)).replace("/host/lib64", str(node))
    subprocess.run(["sh", "-c", done], check=True, timeout=60)
    assert (node / "libnccl.so.2").read_text() == "new"
    assert os.read(opened, 9) == b"old"
    os.close(opened)


DAEMONS = {
    "TCPXO": (MEGA, TCPXO, ["nccl-installer", "device-injector"]),
    "RDMA": (ULTRA, GIB, ["nccl-installer"]),
    "a fabric without plugins": ("hgx-h100", {"type": "efa"}, []),
}


@pytest.mark.parametrize(("shape", "fabric", "names"), DAEMONS.values(), ids=DAEMONS)
def test_jobs_leave_room_for_the_daemons(shape, fabric, names):
    """Sizes of jobs count the pods that the fabric brings, on its own nodes alone."""
    there = make_cluster(**changes(shape, fabric))
    assert [daemon.name for daemon in of_operators(there, "gpu")] == names
    assert [*of_operators(there, "cpu")] == []


def daemon(tag: str) -> dict[str, Any]:
    """Return a fabric whose daemon has a tag."""
    return {**TCPXO, "daemon": f"registry.example.com:5000/mirror/tcpgpudmarxd-dev{tag}@{DIGEST}"}


FINDINGS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "all of one release": (changes(MEGA, TCPXO), []),
    "RDMA on A4": (changes(A4, GIB), []),
    "a daemon without a tag": (changes(MEGA, daemon("")), []),
    "a daemon with a tag of its owner's": (changes(MEGA, daemon(":ours-3")), []),
    "no operator, so that nobody says the release": (changes(MEGA, daemon(":v1.0.17"), operators={}), []),
    "a daemon of another release": (
        changes(MEGA, daemon(":v1.0.22")),
        [
            (
                "warning pairing/fabric-daemon fabric.daemon: daemon is v1.0.22, but the plugin of gke-gpudirect "
                "2026.6.9 needs v1.0.21; use v1.0.21"
            )
        ],
    ),
    "the release that has the daemon": (
        changes(MEGA, daemon(":v1.0.22"), operators={NAME: {"version": "2026.7.6"}}),
        [],
    ),
    "somebody else's plugin, whose release is said": (
        changes(MEGA, daemon(":v1.0.20"), operators={NAME: {"version": "2026.6.9", "managed": False}}),
        [
            (
                "warning pairing/fabric-daemon fabric.daemon: daemon is v1.0.20, but the plugin of gke-gpudirect "
                "2026.6.9 needs v1.0.21; use v1.0.21"
            )
        ],
    ),
    "another fabric": (
        changes(MEGA, {"type": "none"}),
        [
            (
                "error pairing/fabric-plugin operators.gke-gpudirect: gke-gpudirect installs plugins for "
                "gpudirect-tcpx, gpudirect-tcpxo, gpudirect-rdma, but the fabric is 'none'; remove it"
            )
        ],
    ),
    "machines of another plugin": (
        changes(HIGH, TCPXO),
        [
            (
                "error pairing/fabric-machine fabric.type: fabric 'gpudirect-tcpxo' does not work on nvidia-h100-80gb "
                "nodes of pool 'gpu'; use 'gpudirect-tcpx'"
            )
        ],
    ),
    "machines of no plugin": (
        changes("gke-a2-highgpu-8g", {**TCPXO, "pools": ["gpu"]}, operators={}),
        [
            (
                "error pairing/fabric-machine fabric.type: fabric 'gpudirect-tcpxo' does not work on nvidia-tesla-a100 "
                "nodes of pool 'gpu'; leave 'gpu' out of fabric.pools"
            )
        ],
    ),
    "such machines beside the fabric": (changes("gke-a2-highgpu-8g", {**TCPXO, "pools": ["cpu"]}, operators={}), []),
}


@pytest.mark.parametrize(("said", "expected"), FINDINGS.values(), ids=FINDINGS)
def test_machines_plugin_and_daemon_go_together(said, expected):
    """What is wrong is said at its field with the nearest fix; what nobody can know is not."""
    source = make_source("platform/clusters/test.yaml", fields({}, said))
    found = check(make_cluster(**said), source)
    assert [f"{item.severity} {item.rule} {item.path}: {item.message}" for item in found] == expected


@pytest.mark.parametrize(("managed", "count"), [(True, 1), (False, 0)])
def test_autopilot_has_installers_of_its_own(managed, count):
    """Only Google's own daemons are let onto nodes of Autopilot, and one finding says so."""
    operators = {NAME: {"version": "2026.6.9", "managed": managed}}
    said = changes(MEGA, TCPXO, operators=operators, system={"distribution": "gke-autopilot"})
    source = make_source("platform/clusters/test.yaml", fields({}, said))
    every = [*check_distribution(make_cluster(**said), source), *check(make_cluster(**said), source)]
    assert len([item for item in every if NAME in item.message]) == count
