"""Pods on the fabrics of Google Kubernetes Engine: interfaces by annotations, a daemon, libraries of the node."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

import pytest

from make import make_cluster, make_resolved, make_sizing, make_source, make_team
from trainyard.judge.preflight.cluster import attached
from trainyard.judge.preflight.job import attached as of_jobs
from trainyard.render.kinds.objects import begun
from trainyard.render.launchers.mpirun import ENVIRONMENT, SESSION
from trainyard.render.sizing import pod_requests
from trainyard.specs import Cluster

DAEMON = f"registry.example.com/mirror/daemon:v1@sha256:{'a' * 64}"
TCPXO = {"type": "gpudirect-tcpxo", "networks": [f"vpc{index}" for index in range(1, 9)], "daemon": DAEMON}
TCPX = {"type": "gpudirect-tcpx", "networks": [f"vpc{index}" for index in range(1, 5)], "daemon": DAEMON}
GIB = {"type": "gpudirect-rdma", "networks": [f"rdma-{index}" for index in range(8)]}
POOLS = {"gpu": {"shape": "gke-a3-megagpu-8g", "nodes": 4}, "cpu": {"shape": "cpu-64", "nodes": 2}}


def cluster(fabric: dict[str, Any], **changes: Any) -> Cluster:
    """Return a cluster with that fabric on its nodes with GPUs."""
    return make_cluster(pools=POOLS, fabric={**fabric, "pools": ["gpu"]}, **changes)


INTERFACES = {
    "TCPXO has eight beside the first": (TCPXO, {f"eth{index}": f"vpc{index}" for index in range(1, 9)}),
    "TCPX has four": (TCPX, {f"eth{index}": f"vpc{index}" for index in range(1, 5)}),
    "RDMA leaves eth1 to another card": (GIB, {f"eth{index + 2}": f"rdma-{index}" for index in range(8)}),
}


@pytest.mark.parametrize(("fabric", "expected"), INTERFACES.values(), ids=INTERFACES)
def test_every_network_becomes_an_interface(fabric, expected):
    """The first interface stays the cluster's own, and the others are in the order of the networks."""
    notes = make_sizing(cluster=cluster(fabric), gpus_per_node=8, fabric="rdma").worker.fabric.annotations
    listed = json.loads(notes["networking.gke.io/interfaces"])
    assert {item["interfaceName"]: item["network"] for item in listed} == {"eth0": "default", **expected}
    assert notes["networking.gke.io/default-interface"] == "eth0"


@pytest.mark.parametrize(("fabric", "name"), [(TCPXO, "tcpxo-daemon"), (TCPX, "tcpx-daemon")])
def test_the_daemon_ends_with_the_program(fabric, name):
    """It is a native sidecar, has the devices of all GPUs, and Kueue counts what it asks for."""
    job = make_resolved(cluster=cluster(fabric), gpus_per_node=8, fabric="rdma")
    worker = job.sizing.worker
    (daemon,) = worker.fabric.sidecars
    assert (daemon["name"], daemon["restartPolicy"], daemon["image"]) == (name, "Always", DAEMON)
    assert worker.fabric.annotations[f"devices.gke.io/container.{name}"].count("/dev/nvidia") == 10
    counted = pod_requests(job.run.job, worker)
    assert counted["cpu"] == worker.cpus.value + 2 <= 205


NETS = {"TCPXO": (TCPXO, "FasTrak"), "TCPX, whose name changes": (TCPX, None), "RDMA": (GIB, "gIB")}


@pytest.mark.parametrize(("fabric", "name"), NETS.values(), ids=NETS)
def test_a_missing_plugin_fails_at_once(fabric, name):
    """NCCL takes the plugin of the node by its name, or none: it never trains over TCP without a word."""
    env = make_sizing(cluster=cluster(fabric), gpus_per_node=8, fabric="rdma").worker.env
    assert (env["NCCL_NET"].value if "NCCL_NET" in env else None) == name


def test_libraries_and_their_settings_come_from_the_node():
    """The script of the node's installer is read before the program, which then takes the shell's place."""
    job = make_resolved(cluster=cluster(TCPXO), gpus_per_node=8, fabric="rdma", nodes=2)
    manifest = next(item for item in job.kind.build(job) if item.kind == job.kind.name).fields["spec"]
    pod = manifest["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    command = pod["containers"][0]["command"]
    assert command[:2] == ["bash", "-c"]
    assert command[2] == 'source /usr/local/nvidia/lib64/nccl-env-profile.sh && exec "$@"'
    assert [init_container["name"] for init_container in pod["initContainers"]] == ["tcpxo-daemon"]
    mounted = {
        mount["name"]
        for container in (*pod["containers"], *pod["initContainers"])
        for mount in container["volumeMounts"]
    }
    assert mounted <= {volume["name"] for volume in pod["volumes"]}


def test_over_tcp_nothing_of_it_is_there():
    """A job that trains over the cluster network needs no daemon and no path of the node."""
    fabric = make_sizing(cluster=cluster(TCPXO), gpus_per_node=8, fabric="tcp").worker.fabric
    assert (fabric.annotations, fabric.sidecars, fabric.volumes, fabric.profile) == ({}, (), (), "")


CLUSTERS = {
    "as many networks as NICs, and a daemon": (TCPXO, []),
    "no networks": (
        {**TCPXO, "networks": []},
        ["networks has 0 entries, but nodes of pool 'gpu' have 8 NICs; list one network per NIC"],
    ),
    "too few networks": (
        {**TCPXO, "networks": ["vpc1"]},
        ["networks has 1 entries, but nodes of pool 'gpu' have 8 NICs; list one network per NIC"],
    ),
    "no daemon": (
        {key: value for key, value in TCPXO.items() if key != "daemon"},
        ["fabric 'gpudirect-tcpxo' needs a daemon in every pod; set daemon to its image"],
    ),
    "a daemon for nobody": (
        {**GIB, "daemon": DAEMON},
        ["fabric 'gpudirect-rdma' runs no daemon in pods; remove daemon"],
    ),
    "networks for nobody": (
        {"type": "roce", "networks": ["vpc1"]},
        ["fabric 'roce' uses no named networks; remove networks"],
    ),
}


@pytest.mark.parametrize(("fabric", "expected"), CLUSTERS.values(), ids=CLUSTERS)
def test_what_a_cluster_must_say(fabric, expected):
    """Names and releases are facts of the cluster, never guessed."""
    found = attached.check(cluster(fabric), make_source("platform/clusters/test.yaml", {"fabric": fabric}))
    assert [finding.message for finding in found] == expected


PRIVILEGED = make_team(pod_security="privileged")
JOBS = {
    "a whole node in a namespace that admits it": ({"gpus_per_node": 8}, PRIVILEGED, []),
    "a part of a node": (
        {"gpus_per_node": 4},
        PRIVILEGED,
        ["gpusPerNode is 4, but fabric 'gpudirect-tcpxo' serves whole nodes; use 8"],
    ),
    "a namespace that is too strict": (
        {"gpus_per_node": 8},
        make_team(),
        [
            (
                "fabric 'gpudirect-tcpxo' mounts host paths, but podSecurity of team 'nlp' is restricted on 'test'; "
                "raise it there"
            )
        ],
    ),
    "over TCP": ({"gpus_per_node": 4, "fabric": "tcp"}, make_team(), []),
}


@pytest.mark.parametrize(("job", "team", "expected"), JOBS.values(), ids=JOBS)
def test_what_a_job_must_be(job, team, expected):
    """The fabric counts on all GPUs of a node and on paths of it."""
    run = make_resolved(cluster=cluster(TCPXO), team=team, **{"fabric": "rdma", **job})
    assert [finding.message for finding in of_jobs.check(run)] == expected


def test_ranks_of_mpirun_have_what_the_script_sets(tmp_path):
    """A worker keeps its container's environment, and sessions of ssh begin with it, past which no rank comes."""
    operators = {"kueue": {"version": "0.19.2"}, "jobset": {"version": "0.12.0"}, "mpi-operator": {"version": "0.8.0"}}
    where = cluster(TCPXO, operators=operators)
    run = make_resolved(
        cluster=where, team=PRIVILEGED, launcher="mpirun", kind="MPIJob", gpus_per_node=8, fabric="rdma"
    )
    assert list(of_jobs.check(run)) == []
    role = run.roles[0]
    profile, kept = tmp_path / "profile.sh", tmp_path / "environment"
    profile.write_text("export NCCL_FASTRAK_CTRL_DEV=eth0\n")
    [*start, script] = begun(role)
    script = script.splitlines()[0].replace(ENVIRONMENT, str(kept))
    start = [word.replace(role.size.fabric.profile, str(profile)) for word in start]
    subprocess.run([*start, script], env={"PATH": os.environ["PATH"]}, check=True)
    session = run.launch.files[SESSION].replace(ENVIRONMENT, str(kept))
    asked = {"SSH_ORIGINAL_COMMAND": 'printf %s "$NCCL_FASTRAK_CTRL_DEV"', "PATH": os.environ["PATH"]}
    done = subprocess.run(["sh", "-c", session], env=asked, check=True, capture_output=True, text=True)
    assert done.stdout == "eth0"


def test_cpus_send_or_receive():
    """TCPX's threads have CPUs of their own: one CPU for both directions would hold both back."""
    env = make_sizing(cluster=cluster(TCPX), gpus_per_node=8, fabric="rdma").worker.fabric.env

    def cpus(direction: str) -> dict[str, set[int]]:
        found: dict[str, set[int]] = {}
        for part in env[f"NCCL_GPUDIRECTTCPX_{direction}_BINDINGS"].value.split(";"):
            interface, _, ranges = part.partition(":")
            ends = (one.split("-") for one in ranges.split(","))
            found[interface] = {cpu for first, last in ends for cpu in range(int(first), int(last) + 1)}
        return found

    sending, receiving = cpus("TX"), cpus("RX")
    assert sending.keys() == receiving.keys() == {f"eth{index}" for index in range(1, 5)}
    assert all(not sending[interface] & receiving[interface] for interface in sending)
