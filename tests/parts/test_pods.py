"""Every pod is complete by construction, whatever the job says."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from make import CLUSTER, IMAGE, make_cluster, make_resolved, make_team
from trainyard.base.quantities import Quantity
from trainyard.render.kinds import objects as kinds
from trainyard.render.parts.pods import drop_empty
from trainyard.upstream.kubelet import Kubelet
from trainyard.upstream.kubelet.cases import Case

SRIOV = {"sriov-network-operator": {"version": "1.6.0"}}
ROCE = {"type": "roce", "rails": 8, "attach": "sriov", "addresses": "10.56.0.0/16"}
SIDECAR: dict[str, Any] = {"name": "logs", "image": IMAGE}
FILES = [{"source": "a/c.yaml", "mountPath": "/etc/a"}, {"source": "b/c.yaml", "mountPath": "/etc/b"}]
JOBS: dict[str, dict[str, Any]] = {
    "one GPU": {"nodes": 1, "gpus_per_node": 1},
    "many nodes": {"nodes": 64},
    "CPUs": {"pool": "cpu", "gpus_per_node": 0},
    "RDMA": {"fabric": "rdma", "cluster": make_cluster(fabric=ROCE, operators=SRIOV)},
    "checkpoints and data": {
        "checkpoint": {"volume": "checkpoints", "size": "10Gi"},
        "data": [{"volume": "images", "mountPath": "/data"}],
        "scratch": "100Gi",
        "files": FILES,
        "contents": {"a/c.yaml": "1", "b/c.yaml": "2"},
    },
    "scratch on local disks": {
        "scratch": {"size": "2Ti", "medium": "nvme"},
        "cluster": make_cluster(
            pools={"gpu": {"shape": "dgx-h100", "nodes": 4, "localDisks": {"size": "27Ti", "storage": "local"}}}
        ),
    },
    "containers of its own": {
        "containers": [SIDECAR, {**SIDECAR, "name": "metrics", "resources": {"limits": {"cpu": 2, "memory": "1Gi"}}}],
        "init_containers": [{**SIDECAR, "name": "fetch", "resources": {"requests": {"cpu": "500m"}}}],
    },
}


def pod(**job: Any) -> dict[str, Any]:
    """Return the pod template of the worker."""
    found = make_resolved(**job)
    return kinds.pod(found, found.roles[0])


def spec(**job: Any) -> dict[str, Any]:
    """Return the pod spec of the worker."""
    found: dict[str, Any] = pod(**job)["spec"]
    return found


def trainer(**job: Any) -> dict[str, Any]:
    """Return the container that trains."""
    found: dict[str, Any] = spec(**job)["containers"][0]
    return found


def every_container(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Return all containers of a pod spec."""
    return [*found.get("initContainers", []), *found["containers"]]


@pytest.mark.parametrize("job", JOBS.values(), ids=JOBS)
def test_pods_pass_the_restricted_level(job):
    """Pod Security restricted holds for the pod and for every container in it."""
    found = spec(**job)
    assert found["securityContext"]["runAsNonRoot"] is True
    assert found["securityContext"]["runAsUser"] > 0
    assert found["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert found["automountServiceAccountToken"] is False
    assert not {"hostNetwork", "hostPID", "hostIPC"} & found.keys()
    for container in every_container(found):
        assert container["securityContext"]["allowPrivilegeEscalation"] is False
        assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    kinds = {kind for volume in found["volumes"] for kind in volume if kind != "name"}
    assert kinds <= {"emptyDir", "persistentVolumeClaim", "configMap", "ephemeral"}


@pytest.mark.parametrize("job", JOBS.values(), ids=JOBS)
def test_pods_are_guaranteed(job):
    """Every container requests CPU and memory, requests are limits, and the training container has whole CPUs."""
    found = spec(**job)
    for container in every_container(found):
        requests, limits = container["resources"]["requests"], container["resources"]["limits"]
        assert requests == limits
        assert {"cpu", "memory"} <= requests.keys()
        assert container["imagePullPolicy"] == "IfNotPresent"
    assert found["containers"][0]["resources"]["requests"]["cpu"].isdigit()


def test_what_runs_beside_the_program_never_holds_the_job():
    """The program alone is among `containers`; the job's own start before it, in their order, and end after it."""
    own = [{**SIDECAR, "name": name} for name in ("fetch", "proxy", "logs")]
    proxy = {**own[1], "restartPolicy": "Always"}
    found = spec(init_containers=[own[0], proxy], containers=[own[2]])
    assert [container["name"] for container in found["containers"]] == ["trainer"]
    policies = [
        (init_container["name"], init_container.get("restartPolicy")) for init_container in found["initContainers"]
    ]
    assert policies == [("fetch", None), ("proxy", "Always"), ("logs", "Always")]


@pytest.mark.parametrize("job", JOBS.values(), ids=JOBS)
def test_pods_mention_nothing_that_kueue_writes(job):
    """A run has the pool's one selector, and no toleration, affinity, gate or queue label in its pods."""
    found = pod(**job)
    assert list(found["spec"]["nodeSelector"]) == ["trainyard.dev/pool"]
    assert not {"tolerations", "affinity", "schedulingGates", "topologySpreadConstraints"} & found["spec"].keys()
    assert not [key for key in found["metadata"]["labels"] if "kueue" in key]


@pytest.mark.parametrize("job", JOBS.values(), ids=JOBS)
def test_mounts_and_volumes_agree(job):
    """Every mount has its volume, every volume of ours is mounted, and shared memory has a limit within the memory."""
    found = spec(**job)
    mounts = found["containers"][0]["volumeMounts"]
    assert {mount["name"] for mount in mounts} == {volume["name"] for volume in found["volumes"]}
    assert len({mount["mountPath"] for mount in mounts}) == len(mounts)
    [shared] = [volume for volume in found["volumes"] if volume.get("emptyDir", {}).get("medium") == "Memory"]
    assert shared["emptyDir"]["sizeLimit"]
    assert {"name": shared["name"], "mountPath": "/dev/shm"} in mounts


def test_checkpoints_lie_below_the_job_s_name():
    """The sub-path stays over the runs of a job, and the program is told where it is mounted."""
    job = {"checkpoint": {"volume": "checkpoints", "size": "1Gi", "mountPath": "/ckpt"}}
    found = spec(**job)
    [mount] = [
        volume_mount for volume_mount in found["containers"][0]["volumeMounts"] if volume_mount["mountPath"] == "/ckpt"
    ]
    assert mount["subPath"] == "train"
    assert {"name": "CHECKPOINT_DIR", "value": "/ckpt"} in found["containers"][0]["env"]
    assert {"name": "claim-checkpoints", "persistentVolumeClaim": {"claimName": "checkpoints"}} in found["volumes"]


def test_scratch_on_local_disks_is_a_claim_of_each_pod():
    """It comes and goes with its pod; where the kubelet's folder is on the disks, it is a folder of the kubelet's."""
    found = spec(**JOBS["scratch on local disks"])
    [volume] = [one_volume for one_volume in found["volumes"] if one_volume["name"] == "scratch"]
    assert volume["ephemeral"]["volumeClaimTemplate"]["spec"] == {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "local",
        "resources": {"requests": {"storage": "2Ti"}},
    }
    assert {"name": "scratch", "mountPath": "/scratch"} in found["containers"][0]["volumeMounts"]
    pools = {"gpu": {"shape": "gke-a3-megagpu-8g", "nodes": 4, "localDisks": {"size": "5800Gi"}}}
    found = spec(scratch={"size": "2Ti", "medium": "nvme"}, cluster=make_cluster(pools=pools))
    assert {"name": "scratch", "emptyDir": {"sizeLimit": "2Ti"}} in found["volumes"]


def test_a_claim_that_is_mounted_twice_is_one_volume():
    """Checkpoints and data may share a claim; data is read-only unless the job says otherwise."""
    data = [{"volume": "checkpoints", "mountPath": "/data", "subPath": "set"}]
    data.append({"volume": "images", "mountPath": "/images", "readOnly": False})
    found = spec(checkpoint={"volume": "checkpoints", "size": "1Gi"}, data=data)
    claims = [volume for volume in found["volumes"] if "persistentVolumeClaim" in volume]
    mounts = {mount["mountPath"]: mount for mount in found["containers"][0]["volumeMounts"]}
    assert [claim["name"] for claim in claims] == ["claim-checkpoints", "claim-images"]
    assert mounts["/data"] == {"name": "claim-checkpoints", "mountPath": "/data", "subPath": "set", "readOnly": True}
    assert mounts["/images"] == {"name": "claim-images", "mountPath": "/images"}


def test_files_of_one_name_in_two_folders():
    """Each folder shows its own files under their names, by keys that differ."""
    found = spec(files=FILES, contents={"a/c.yaml": "1", "b/c.yaml": "2"})
    items = [volume["configMap"]["items"] for volume in found["volumes"] if "configMap" in volume]
    assert items == [[{"key": "a.c.yaml", "path": "c.yaml"}], [{"key": "b.c.yaml", "path": "c.yaml"}]]


def test_networks_are_as_many_as_virtual_functions():
    """A pod names one network for every virtual function that it requests."""
    job = {"fabric": "rdma", "cluster": make_cluster(fabric=ROCE, operators=SRIOV)}
    found = pod(**job)
    networks = found["metadata"]["annotations"]["k8s.v1.cni.cncf.io/networks"].split(",")
    limits = found["spec"]["containers"][0]["resources"]["limits"]
    assert networks == [f"rail-{rail}" for rail in range(8)]
    assert [name for name in limits if "rail" in name] == [f"openshift.io/rail_{rail}" for rail in range(8)]


@pytest.mark.parametrize("memlock", ["node", "nri", "provided"])
def test_locked_memory_is_the_nodes_affair_and_no_capability(memlock):
    """A capability would be gone at exec; the nodes' NRI plugin reads an annotation of those that need it."""
    cluster = make_cluster(fabric={**ROCE, "memlock": memlock}, operators=SRIOV)
    key = "ulimits.nri.containerd.io/container.trainer"
    for fabric in ("rdma", "tcp"):
        found = pod(fabric=fabric, cluster=cluster)
        (container,) = found["spec"]["containers"]
        assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        annotations = found["metadata"]["annotations"]
        assert (key in annotations) == (memlock == "nri" and fabric == "rdma")
    if memlock == "nri":
        said = yaml.safe_load(pod(fabric="rdma", cluster=cluster)["metadata"]["annotations"][key])
        assert said == [{"type": "RLIMIT_MEMLOCK", "soft": 2**63 - 1, "hard": 2**63 - 1}]


VARIABLES = {
    "the job overrides what is derived": ({"env": {"NCCL_DEBUG": "INFO"}}, "NCCL_DEBUG", {"value": "INFO"}),
    "a secret": (
        {"secrets": {"TOKEN": "tokens/hub"}},
        "TOKEN",
        {"valueFrom": {"secretKeyRef": {"name": "tokens", "key": "hub"}}},
    ),
    "an empty value says nothing": ({"env": {"EMPTY": ""}}, "EMPTY", {}),
    "GPUs of others are hidden": ({"gpus_per_node": 0}, "NVIDIA_VISIBLE_DEVICES", {"value": "void"}),
}


@pytest.mark.parametrize(("job", "name", "expected"), VARIABLES.values(), ids=VARIABLES)
def test_variables(job, name, expected):
    """A variable stands once, with the value that the job gives it or the one that is derived."""
    found = [variable for variable in trainer(**job)["env"] if variable["name"] == name]
    assert found == [{"name": name, **expected}]


def test_a_secret_that_a_value_refers_to_comes_before_it():
    """The kubelet expands only variables that come earlier; Secrets that no value refers to keep their place."""
    secrets = {"TOKEN": "tokens/hub", "PASSWORD": "tokens/password"}
    used = {"URL": "https://user:$(PASSWORD)@hub", "PRICE": "$$(TOKEN)"}
    names = [variable["name"] for variable in trainer(secrets=secrets, env=used)["env"]]
    assert names.index("PASSWORD") < names.index("URL") < names.index("TOKEN")
    names = [variable["name"] for variable in trainer(secrets=secrets, env={"URL": "https://hub"})["env"]]
    assert names[-2:] == ["TOKEN", "PASSWORD"]


def test_the_job_s_own_containers_are_completed():
    """What a sidecar says stays; what it leaves out is made safe and small, and it sees no GPUs."""
    given = {**SIDECAR, "securityContext": {"readOnlyRootFilesystem": True}, "env": [{"name": "A", "value": "1"}]}
    (sidecar,) = spec(containers=[given])["initContainers"]
    assert sidecar["resources"]["limits"] == {"cpu": "100m", "memory": "128Mi"}
    assert sidecar["env"] == [{"name": "A", "value": "1"}, {"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"}]
    assert sidecar["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": True,
    }


def test_a_service_account_brings_its_token():
    """Only a job that names an account gets its token."""
    found = spec(service_account="trainer", image_pull_secrets=["registry"])
    assert (found["serviceAccountName"], found["automountServiceAccountToken"]) == ("trainer", True)
    assert found["imagePullSecrets"] == [{"name": "registry"}]


ACCOUNTS = {
    "blobs": {"annotations": {"azure.workload.identity/client-id": "0" * 8 + "-0000" * 3 + "-" + "0" * 12}},
    "plain": {},
}
SEEN = {"an account with a client": ("blobs", "true"), "another": ("plain", None), "none": (None, None)}


@pytest.mark.parametrize(("account", "use"), SEEN.values(), ids=SEEN)
def test_pods_are_seen_by_the_webhook_of_their_identity(account, use):
    """Azure's webhook passes pods over that do not carry its label, and then they have no credentials."""
    found = pod(service_account=account, team=make_team(service_accounts=ACCOUNTS))["metadata"]["labels"]
    assert found.get("azure.workload.identity/use") == use


def test_labels_and_annotations_of_the_job():
    """The job's own come with those of Trainyard, which say whose pod it is."""
    metadata = pod(labels={"example.com/a": "b"}, annotations={"example.com/c": "d"})["metadata"]
    assert metadata["labels"]["example.com/a"] == "b"
    assert metadata["annotations"]["example.com/c"] == "d"
    assert {"trainyard.dev/job": "train", "trainyard.dev/team": "nlp"}.items() <= metadata["labels"].items()


def test_nothing_empty_is_written():
    """Empty values are dropped, since a controller that writes the object back would; an empty emptyDir stays."""
    given = {"a": "", "b": [], "c": {}, "d": None, "e": 0, "f": False, "g": [{"value": ""}], "emptyDir": {}}
    assert drop_empty(given) == {"e": 0, "f": False, "g": [{}], "emptyDir": {}}


def test_a_cpu_cluster_hides_no_gpus():
    """Where nodes have no GPUs nothing is said of them."""
    cluster = make_cluster(pools={"cpu": CLUSTER["pools"]["cpu"]})
    names = {variable["name"] for variable in trainer(cluster=cluster, pool="cpu", gpus_per_node=0)["env"]}
    assert "NVIDIA_VISIBLE_DEVICES" not in names


def test_a_slash_at_the_end_makes_no_second_folder():
    """Files of one folder are one mount, however it is spelled: a second would hide the first."""
    files = [{"source": "a.yaml", "mountPath": "/etc/llm"}, {"source": "b.yaml", "mountPath": "/etc/llm/"}]
    found = spec(files=files, contents={"a.yaml": "1", "b.yaml": "2"})
    mounts = [mount["mountPath"] for mount in found["containers"][0]["volumeMounts"]]
    assert mounts == ["/dev/shm", "/etc/llm"]


NFS = {"provisioner": "nfs.csi.k8s.io", "parameters": {"server": "a", "share": "/b"}}
OWNERS: dict[str, tuple[dict[str, Any], bool]] = {
    "volumes that the kubelet opens": (NFS, True),
    "an export that takes root for nobody": ({**NFS, "ownership": "server"}, False),
    "a driver with which the group changes nothing": ({"provisioner": "fsx.csi.aws.com", "ownership": "server"}, True),
    "a driver that is not known, on a server that keeps ownership": (
        {"provisioner": "csi.example.com", "ownership": "server"},
        False,
    ),
}


@pytest.mark.parametrize(("storage", "grouped"), OWNERS.values(), ids=OWNERS)
def test_the_kubelet_walks_through_no_volume_in_vain(storage, grouped):
    """The walk of a squashed export changes nothing, and fails at the first folder that is closed to nobody."""
    cluster = make_cluster(storage={"shared": storage})
    context = spec(
        cluster=cluster, checkpoint={"volume": "checkpoints", "mountPath": "/ckpt", "everyMinutes": 30, "size": "1Gi"}
    )["securityContext"]
    assert ("fsGroup" in context) is grouped
    assert context.get("fsGroupChangePolicy") == ("OnRootMismatch" if grouped else None)
    assert "fsGroup" in spec(cluster=cluster)["securityContext"]


PINNING = {"topologyManagerPolicy": "restricted", "topologyManagerScope": "pod", "cpuManagerPolicy": "static"}
STATIC = {**PINNING, "memoryManagerPolicy": "Static"}


def starter(kubelet: dict[str, str]) -> dict[str, Any]:
    """Return the resources of the pod from which mpirun starts the ranks, on nodes with GPUs."""
    cluster = make_cluster(
        pools={"gpu": {"shape": "dgx-h100", "nodes": 4, "kubelet": kubelet}},
        operators={"mpi-operator": {"version": "0.8.0", "managed": False}},
    )
    found = make_resolved(launcher="mpirun", kind="MPIJob", cluster=cluster)
    role = next(one_role for one_role in found.roles if one_role.size.name == "launcher")
    resources: dict[str, Any] = kinds.pod(found, role)["spec"]["containers"][0]["resources"]
    return resources


def test_a_pod_without_gpus_is_not_pinned_where_wide_pods_are():
    """Where a kubelet pins memory, a launcher has no limit of CPUs: a Guaranteed one and a worker refuse each other."""
    assert starter(STATIC)["limits"].keys() == starter(PINNING)["limits"].keys() - {"cpu"}
    assert starter(STATIC)["requests"] == starter(PINNING)["requests"]


def test_the_kubelet_takes_launcher_and_worker_on_one_node_in_either_order():
    """Such a launcher starts beside a whole-node pod, before it and after it; a Guaranteed one does not."""
    node = {
        "threadsPerCore": 2,
        "numa": [{"copies": 2, "cores": 56, "memory": "1007Gi"}],
        "devices": {"nvidia.com/gpu": [{"count": 4, "numa": 0}, {"count": 4, "numa": 1}]},
    }
    kubelet = {
        **STATIC,
        "reservedSystemCPUs": "0-3,112-115,56-59,168-171",
        "systemReserved": {"memory": "31Gi"},
        "evictionHard": {"memory.available": "1Gi"},
        "reservedMemory": [{"numaNode": item, "limits": {"memory": "16Gi"}} for item in (0, 1)],
    }
    whole = {"limits": {"cpu": "206", "memory": "1932Gi", "nvidia.com/gpu": "8"}}
    for small, outcome in ((starter(STATIC), True), (starter(PINNING), False)):
        for order in ((small, whole), (whole, small)):
            pods = [
                {"metadata": {"name": f"p{index}"}, "spec": {"containers": [{"name": "c", "resources": item}]}}
                for index, item in enumerate(order)
            ]
            case = Case.read({"name": "both", "node": node, "kubelet": kubelet})
            started = Kubelet.start(case.machine, case.kubelet, storage=Quantity.parse("1Ti"))
            assert isinstance(started, Kubelet), started
            assert all(started.admit(pod).admitted for pod in pods) is outcome, order
