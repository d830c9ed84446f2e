"""Each field of a cluster that needs something of somebody else puts a line into the list, and no other does."""

from __future__ import annotations

from dataclasses import replace

import pytest

from make import UNLISTED, fields, make_cluster, make_repository, make_source, make_specs, make_team
from trainyard.render.prerequisites import prerequisites
from trainyard.render.prerequisites.page import legible, page
from trainyard.specs import Cluster
from trainyard.specs.sources import ExtraFile, Specs

OPERATORS = {"kueue": {"version": "0.19.2"}, "jobset": {"version": "0.12.0"}}
OURS = {**OPERATORS, "gpu-operator": {"version": "26.7.0"}}
THEIRS = {**OPERATORS, "gpu-operator": {"version": "26.7.0", "managed": False}}
NETWORK = {**OURS, "network-operator": {"version": "26.4.1"}}
NAMES = [f"ibs{number}" for number in range(1, 9)]
PCI = [f"0000:{number}8:00.0" for number in range(1, 9)]
SHARED = {"type": "infiniband", "attach": "rdma-shared", "subnetManager": "OpenSM", "memlock": "node"}
ROCE = {"type": "roce", "attach": "sriov", "addresses": "10.56.0.0/16", "trafficClass": 106, "mtu": 9000}
INFINIBAND = {"type": "infiniband", "attach": "rdma-shared", "resources": ["rdma/ib"], "subnetManager": "OpenSM"}
EFA = {"pools": {"gpu": {"shape": "aws-p5-48xlarge", "nodes": 4}}, "fabric": {"type": "efa"}}
EFA_PLUGIN = {**OPERATORS, "efa-device-plugin": {"version": "0.5.30"}}
NODE_CLASS = {
    "image": "al2023@v20260810",
    "role": "nodes",
    "subnets": ["subnet-0a1b2c3d4e5f60718"],
    "securityGroups": ["sg-0a1b2c3d4e5f60718"],
}
KARPENTER = {
    "gpu": {
        "shape": "aws-p5-48xlarge",
        "nodes": {"min": 0, "max": 4},
        "scaling": {"by": "karpenter", "nodeClass": NODE_CLASS},
    }
}
GPU = {"shape": "dgx-h100", "nodes": 4}
TAINTED = {**GPU, "taints": [{"key": "nvidia.com/gpu", "value": "present"}, {"key": "spot", "effect": "NoExecute"}]}
AWS_DISKS = {"shape": "aws-p5-48xlarge", "nodes": 4, "localDisks": {"size": "27000Gi"}}
GKE_DISKS = {"shape": "gke-a3-megagpu-8g", "nodes": 4, "localDisks": {"size": "5800Gi"}}
GPU_DISKS = {**GPU, "localDisks": {"size": "20000Gi"}}
DIGEST = "sha256:" + "4f0c7e2ab95d8136" * 4
VPCS = [f"vpc{index}" for index in range(1, 9)]
TCPXO = {
    "type": "gpudirect-tcpxo",
    "networks": VPCS,
    "daemon": f"registry.example.com/tcpgpudmarxd-dev:v1.0.21@{DIGEST}",
    "pools": ["gpu"],
}
SUBNETS = {name: {"vpc": name, "subnet": f"{name}-nodes"} for name in VPCS}
GKE = {
    "pools": {"gpu": {"shape": "gke-a3-megagpu-8g", "nodes": 4}},
    "fabric": TCPXO,
    "system": {"distribution": "gke-cos"},
}
GOOGLE = {**OPERATORS, "gke-gpudirect": {"version": "2026.6.9"}}
GOOGLES = {**OPERATORS, "gke-gpudirect": {"version": "2026.6.9", "managed": False}}
EFS = {"version": "4.4.1", "role": "arn:aws:iam::111122223333:role/efs"}
BY_ROOK = {
    "provisioner": "rook-ceph.cephfs.csi.ceph.com",
    "parameters": {"clusterID": "rook-ceph", "fsName": "training"},
}
MI300X = {"shape": "mi300x", "nodes": 4}
AMD = {**OPERATORS, "amd-gpu-operator": {"version": "1.5.1"}}
DRIVEN = {"version": "1.5.1", "values": {"deviceConfig": {"spec": {"driver": {"enable": True}}}}}
NFS = {"provisioner": "nfs.csi.k8s.io", "parameters": {"server": "nfs.example.com", "share": "/export"}}
CEPHFS = {"provisioner": "openshift-storage.cephfs.csi.ceph.com", "parameters": {"fsName": "training"}}
LABEL = "noatime,context=system_u:object_r:container_file_t:s0"
QUEUES = {"research": {"teams": ["nlp"], "nominalQuota": {"gpu": {"gpus": 32}}}}
IMAGE = "registry.example.com/kfp@sha256:" + "4f0c7e2ab95d8136" * 4


def switched_off(part: str) -> dict:
    """Return operators whose GPU Operator leaves one part of the software out, by its values."""
    return {**OPERATORS, "gpu-operator": {"version": "26.7.0", "values": {part: {"enabled": False}}}}


def cluster(**changes) -> Cluster:
    """Return a cluster with one pool and without a fabric; keywords are its fields."""
    return make_cluster(**{"pools": {"gpu": GPU}, "queues": QUEUES, "operators": OURS, **changes})


def specs(**changes) -> Specs:
    """Return specs with such a cluster."""
    return make_specs(clusters={"test": cluster(**changes)})


def whats(found: Specs) -> str:
    """Return what the cluster needs, a line each."""
    return "\n".join(item.what for items in prerequisites(found, "test").values() for item in items)


CASES = {
    "a driver that the operator installs": ({}, "", "NVIDIA's driver"),
    "devices that our operator advertises": ({}, "", "offer `nvidia.com/gpu"),
    "devices of a foreign operator": ({"operators": THEIRS}, "nodes of pool gpu offer `nvidia.com/gpu 8`", ""),
    "a driver of the node's image": (
        {"system": {"gpuDriver": "system", "gpuDriverVersion": "580.126.20"}},
        "NVIDIA's driver, 580.126.20",
        "branch 525",
    ),
    "a driver that values switch off": (
        {"operators": switched_off("driver")},
        "nodes of pool gpu have NVIDIA's driver, branch 525 or newer",
        "container toolkit",
    ),
    "a toolkit that values switch off": ({"operators": switched_off("toolkit")}, "container toolkit", "driver, branch"),
    "a device plugin that values switch off": (
        {"operators": switched_off("devicePlugin")}, "offer `nvidia.com/gpu 8`", "container toolkit",
    ),
    "NVSwitches of a driver in the image": (
        {"system": {"gpuDriver": "system"}}, "run NVIDIA's Fabric Manager, of the driver's release", "",
    ),
    "NVSwitches of a driver by the operator": ({}, "", "Fabric Manager"),
    "GPUs without NVSwitches": (
        {"pools": {"gpu": {"shape": "l40s-8x", "nodes": 4}}, "system": {"gpuDriver": "system"}}, "", "Fabric Manager",
    ),
    "NVSwitches of a provider's machines": (
        {"pools": {"gpu": {"shape": "aws-p5-48xlarge", "nodes": 4}}, "system": {"distribution": "eks"}},
        "NVIDIA's driver",
        "Fabric Manager",
    ),
    "addresses of NICs": (
        {"fabric": {**ROCE, "attach": "hostdev"}, "operators": NETWORK, "pools": {"gpu": {**GPU, "pci": PCI}}},
        f"on nodes of pool gpu the NICs of the fabric are at {', '.join(PCI)}",
        "called",
    ),
    "names of NICs that pods share": (
        {"fabric": SHARED, "operators": NETWORK, "pools": {"gpu": {**GPU, "interfaces": NAMES}}},
        f"on nodes of pool gpu the NICs of the fabric are called {', '.join(NAMES)}",
        "the NICs of the fabric are at",
    ),
    "names of NICs that others advertise": (
        {"fabric": INFINIBAND, "pools": {"gpu": {**GPU, "interfaces": NAMES}}}, "", "NICs of the fabric are called",
    ),
    "NICs that pods share without names": (
        {"fabric": INFINIBAND, "operators": NETWORK}, "a subnet manager runs", "NICs of the fabric are called",
    ),
    "RDMA devices of NICs that pods share": (
        {"fabric": SHARED, "operators": NETWORK},
        "on nodes of pool gpu the RDMA devices of the fabric are those that NCCL_IB_HCA names: =mlx5_0,mlx5_3,",
        "NICs of the fabric are called",
    ),
    "RDMA devices that the fabric names": (
        {"fabric": {**SHARED, "env": {"NCCL_IB_HCA": "=ibp24s0"}}, "operators": NETWORK},
        "are those that NCCL_IB_HCA names: =ibp24s0",
        "mlx5_0",
    ),
    "RDMA devices of functions": ({"fabric": {**INFINIBAND, "attach": "sriov"}}, "have SR-IOV on", "NCCL_IB_HCA"),
    "ports with either link": (
        {"fabric": SHARED}, "ports of the fabric's NICs on nodes of pool gpu are in InfiniBand mode", "Ethernet",
    ),
    "ports with either link on Ethernet": ({"fabric": ROCE}, "are in Ethernet mode", "InfiniBand mode"),
    "ports with one link": (
        {
            "fabric": SHARED,
            "pools": {"gpu": {"shape": "azure-nd96isr-h100-v5", "nodes": 4}},
            "system": {"distribution": "aks"},
        },
        "MTU of 4096",
        "mode",
    ),
    "ways from GPUs to NICs": ({"fabric": ROCE}, "PCI switches of nodes of pool gpu redirect nothing (ACS is off)", ""),
    "ways in virtual machines": (
        {
            "fabric": SHARED,
            "pools": {"gpu": {"shape": "azure-nd96isr-h100-v5", "nodes": 4}},
            "system": {"distribution": "aks"},
        },
        "MTU of 4096",
        "PCI switches",
    ),
    "ways without GPUs on the fabric": ({"fabric": {"type": "none"}}, "", "PCI switches"),
    "packets of InfiniBand": ({"fabric": INFINIBAND}, "are active with an MTU of 4096 bytes", "IPoIB"),
    "packets of interfaces on InfiniBand": (
        {"fabric": {**INFINIBAND, "attach": "sriov", "mtu": 4092}}, "the IPoIB group of the pods' partition allows", "",
    ),
    "small packets of interfaces on InfiniBand": (
        {"fabric": {**INFINIBAND, "attach": "sriov", "mtu": 2044}}, "are active with an MTU", "IPoIB",
    ),
    "modules that nobody is said to load": (
        {"fabric": SHARED, "operators": NETWORK},
        "nodes of pool gpu load the kernel modules `rdma_ucm`, `ib_umad`, `ib_ipoib`",
        "",
    ),
    "modules where NICs are found by their type": (
        {"fabric": INFINIBAND, "operators": NETWORK}, "load the kernel modules `rdma_ucm`, `ib_umad`", "ib_ipoib",
    ),
    "modules that a file loads": (
        {"fabric": SHARED, "operators": NETWORK, "system": {"nicDriver": "inbox"}},
        "have the files of `nodes/gpu/`: 10-trainyard-memlock.conf, modules-load-trainyard.conf",
        "load the kernel modules",
    ),
    "modules that DOCA loads": (
        {"fabric": SHARED, "operators": NETWORK, "system": {"nicDriver": "doca"}}, "", "load the kernel modules",
    ),
    "modules of pods on the node's network": ({"fabric": {**ROCE, "attach": "host"}}, "", "load the kernel modules"),
    "modules of EFA": (EFA, "", "load the kernel modules"),
    "virtual functions on InfiniBand": (
        {"fabric": {**INFINIBAND, "attach": "sriov"}}, "the subnet manager serves virtual functions", "",
    ),
    "shared NICs on InfiniBand": ({"fabric": INFINIBAND}, "a subnet manager runs", "serves virtual functions"),
    "operators of OperatorHub": (
        {"operators": THEIRS, "system": {"distribution": "openshift"}},
        "Node Feature Discovery Operator is there",
        "KMM",
    ),
    "operators of OperatorHub for AMD": (
        {
            "operators": {**OPERATORS, "amd-gpu-operator": {"version": "1.5.1", "managed": False}},
            "system": {"distribution": "openshift"},
            "pools": {"gpu": {**MI300X, "deviceAccess": [44]}},
        },
        "Kernel Module Management Operator is there, with `modules.kmm.sigs.x-k8s.io`",
        "",
    ),
    "operators of others elsewhere": ({"operators": THEIRS}, "", "Node Feature Discovery Operator"),
    "webhooks of everybody": ({}, "every admission webhook of the cluster that must", "webhooks of kueue answer"),
    "webhooks of others": (
        {"operators": {**OPERATORS, "kueue": {"version": "0.19.2", "managed": False}}},
        "the admission webhooks of kueue answer",
        "webhooks of jobset answer",
    ),
    "webhooks that are off by default": (
        {"operators": {**OPERATORS, "network-operator": {"version": "26.4.1", "managed": False}}},
        "network-operator 26.4.1 is there",
        "webhooks of network-operator",
    ),
    "branches that know the GPUs": ({"operators": THEIRS}, "NVIDIA's driver, branch 525 or newer", ""),
    "AMD's driver": (
        {"pools": {"gpu": {**MI300X, "deviceAccess": [44]}}, "operators": AMD},
        "on nodes of pool gpu groups 44 own `/dev/kfd`",
        "offer `amd.com/gpu",
    ),
    "AMD's driver by its operator": (
        {"pools": {"gpu": MI300X}, "operators": {**OPERATORS, "amd-gpu-operator": DRIVEN}},
        "",
        "amdgpu",
    ),
    "GPUs that are cut": (
        {"pools": {"gpu": {**GPU, "mig": {"layout": {"1g.10gb": 7}}}}}, "`nvidia.com/mig.config=gpu`", "",
    ),
    "GPUs that are whole": ({}, "", "mig.config"),
    "no topology": ({"topology": None}, "", "example.com/rack"),
    "a topology": ({}, "have the label `example.com/rack`", ""),
    "a kernel": ({"system": {"kernel": "6.8"}}, "run Linux 6.8 or newer", ""),
    "a runtime of one's own": ({"system": {"distribution": "kubeadm"}}, "nodes of pool gpu run containerd", ""),
    "a runtime of the distribution": ({"system": {"distribution": "rke2"}}, "", "run containerd"),
    "few processes of a pod, and kubelets of others": (
        {"system": {"distribution": "openshift"}, "operators": THEIRS},
        "kubelets of pool gpu allow a pod 65536 processes and threads",
        "nodes/gpu",
    ),
    "few processes of a pod, and kubelets of ours": (
        {"system": {"distribution": "openshift"}, "operators": THEIRS, "pools": {"gpu": {**GPU, "kubelet": {}}}},
        "have the files of `nodes/gpu/`",
        "processes and threads",
    ),
    "processes without a limit": ({}, "", "processes and threads"),
    "RoCE": ({"fabric": ROCE}, "keep DSCP 26 lossless (PFC on priority 3, with ECN)", "subnet manager"),
    "VLANs": ({"fabric": {**ROCE, "vlans": {"nlp": 402}}}, "packets of 9000 bytes and VLANs 402", ""),
    "InfiniBand": ({"fabric": INFINIBAND}, "a subnet manager runs on the fabric (OpenSM)", "lossless"),
    "NICs that others advertise": (
        {"fabric": INFINIBAND}, "nodes of pool gpu offer `rdma/ib 1`, and each of them gives a pod all 8 NICs", "",
    ),
    "pools that are all tainted": (
        {"pools": {"gpu": TAINTED, "other": TAINTED}}, "nodes without taints, outside of pools gpu, other, are", "",
    ),
    "a pool without a taint": (
        {"pools": {"gpu": TAINTED, "other": {"shape": "cpu-64", "nodes": 2}}}, "", "nodes without taints",
    ),
    "a taint that keeps nobody off": (
        {"pools": {"gpu": {**GPU, "taints": [{"key": "a", "effect": "PreferNoSchedule"}]}}}, "", "nodes without taints",
    ),
    "an open pool that starts from zero": (
        {"pools": {"gpu": {**GPU, "nodes": {"min": 0, "max": 4}}}}, "nodes without taints, outside of pool gpu,", "",
    ),
    "an open pool that keeps a node": (
        {"pools": {"gpu": {**GPU, "nodes": {"min": 1, "max": 4}}}}, "", "nodes without taints",
    ),
    "memory that the image unlocks": ({"fabric": {**INFINIBAND, "memlock": "provided"}}, "without limit", "NRI"),
    "memory that NRI unlocks": ({"fabric": {**INFINIBAND, "memlock": "nri"}}, "ulimit-adjuster", "without limit"),
    "files for nodes": ({"fabric": INFINIBAND}, "have the files of `nodes/gpu/`: 10-trainyard-memlock.conf", "NRI"),
    "EFA": (EFA, "nodes of pool gpu offer `vpc.amazonaws.com/efa 32`", "lossless"),
    "EFA that a plugin of ours advertises": (
        {**EFA, "operators": EFA_PLUGIN}, "nodes of pool gpu offer `vpc.amazonaws.com/efa 32`", "",
    ),
    "EFA that Karpenter attaches": (
        {**EFA, "operators": EFA_PLUGIN, "pools": KARPENTER}, "the security group of nodes of pool gpu", "efa 32",
    ),
    "zones of EFA": (EFA, "nodes of pool gpu are in one zone, close to each other", ""),
    "zones of one node": ({**EFA, "pools": {"gpu": {"shape": "aws-p5-48xlarge", "nodes": 1}}}, "efa 32", "one zone"),
    "zones of Karpenter's subnets": (
        {**EFA, "pools": KARPENTER}, "offer `vpc.amazonaws.com/efa 32`", "are in one zone",
    ),
    "pools off the fabric": (
        {"pools": {**EFA["pools"], "cpu": {"shape": "cpu-64", "nodes": 2}}, "fabric": {"type": "efa"}},
        "nodes of pool gpu are in one zone",
        "nodes of pool cpu are",
    ),
    "huge pages of EFA": (EFA, "hugepages-2Mi 10Gi", ""),
    "huge pages that nobody requests": ({"pools": EFA["pools"]}, "offer at least cpu", "hugepages"),
    "GKE's networks": (GKE, "Networks `vpc1`, `vpc2`, `vpc3` and 5 more exist", "multi-networking"),
    "GKE's networks that are ours": (
        {**GKE, "fabric": {**TCPXO, "subnets": SUBNETS}},
        "multi-networking, and nodes of pool gpu have NICs in subnets `vpc1-nodes`, `vpc2-nodes`",
        "Networks `vpc1`",
    ),
    "GKE's plugin": (GKE, "NCCL's plugin for gpudirect-tcpxo is on nodes of pool gpu", ""),
    "GKE's injector": (GKE, "the NRI device injector runs on nodes of pool gpu", ""),
    "GKE's plugin that is ours": ({**GKE, "operators": GOOGLE}, "Networks `vpc1`", "NCCL's plugin"),
    "GKE's injector that is ours": ({**GKE, "operators": GOOGLE}, "Networks `vpc1`", "NRI device injector"),
    "GKE's plugin of others": ({**GKE, "operators": GOOGLES}, "NCCL's plugin for gpudirect-tcpxo", ""),
    "an export of NFS": (
        {},
        "`/export` of `nfs.example.com` is exported read-write to all nodes, with `no_root_squash`",
        "the root of each volume",
    ),
    "an export of NFS where the server decides": (
        {"storage": {"shared": {**NFS, "ownership": "server"}}},
        "the root of each volume of class shared is writable",
        "no_root_squash",
    ),
    "an export of NFS behind a class that exists": (
        {"storage": {"shared": {"provisioner": "nfs.csi.k8s.io", "existing": True}}},
        "the server's folder is exported read-write",
        "`/export`",
    ),
    "a driver of another kind": (
        {"storage": {"shared": {"provisioner": "filestore.csi.storage.gke.io"}}, "drivers": {}},
        "",
        "no_root_squash",
    ),
    "labels of SELinux": (
        {"system": {"distribution": "openshift"}, "storage": {"shared": CEPHFS}},
        "pods with volumes of class shared start in time, although each file gets an SELinux label",
        "",
    ),
    "one label for all files": (
        {
            "system": {"distribution": "openshift"},
            "storage": {
                "shared": {**CEPHFS, "parameters": {"kernelMountOptions": LABEL}}
            },
        },
        "",
        "SELinux",
    ),
    "no labels on other distributions": ({"storage": {"shared": CEPHFS}}, "", "SELinux"),
    "files without labels": ({"system": {"distribution": "openshift"}}, "", "SELinux"),
    "a volume of one node": (
        {"system": {"distribution": "openshift"}, "storage": {"shared": {**CEPHFS, "access": "ReadWriteOnce"}}},
        "",
        "SELinux",
    ),
    "hardware": ({}, "a person has synced Application `test-hardware`", ""),
    "no hardware": ({"operators": THEIRS}, "", "test-hardware"),
    "a class that exists": ({}, "StorageClass `local` is there, of `rancher.io/local-path`", "storage driver `rancher"),
    "a driver of ours": (
        {"drivers": None, "operators": {**OPERATORS, "csi-driver-nfs": {"version": "4.13.4"}}},
        "`/export` of `nfs.example.com` is exported read-write",
        "storage driver `nfs.csi.k8s.io`",
    ),
    "a driver that an operator of somebody else brings": (
        {"drivers": None, "operators": {**OPERATORS, "csi-driver-nfs": {"version": "4.13.4", "managed": False}}},
        "storage driver `nfs.csi.k8s.io` runs on all nodes",
        "(by the test)",
    ),
    "a driver with a role": (
        {"operators": {**OPERATORS, "aws-efs-csi-driver": EFS | {"identity": "irsa"}}},
        "IAM has an OIDC provider for the issuer of the cluster",
        "the agent of EKS Pod Identity",
    ),
    "a driver with a role by the agent": (
        {"operators": {**OPERATORS, "aws-efs-csi-driver": EFS | {"identity": "pod-identity"}}},
        "the agent of EKS Pod Identity runs on all nodes",
        "IAM has an OIDC provider",
    ),
    "a driver with the rights of nodes": (
        {"operators": {**OPERATORS, "aws-efs-csi-driver": {"version": "4.4.1", "identity": "node"}}},
        "the role of the nodes has policy `arn:aws:iam::aws:policy/service-role/AmazonEFSCSIDriverPolicy`",
        "trusts service account",
    ),
    "a file system of Rook": (
        {"storage": {"shared": BY_ROOK}, "operators": {**OPERATORS, "rook": {"version": "1.20.6"}}},
        "CephFilesystem `rook-ceph/training` is there",
        "CephBlockPool",
    ),
    "a class of ours": ({}, "storage driver `nfs.csi.k8s.io` runs on all nodes (by the test)", "StorageClass `shared`"),
    "an operator of others": ({"operators": THEIRS}, "gpu-operator 26.7.0 is there", "kueue"),
    "a runtime class": ({"runtimeClasses": ["gvisor"]}, "RuntimeClass `gvisor` is there", ""),
    "pipelines": (
        {"pipelines": {"image": IMAGE, "serviceAccount": "editor", "namespaces": {"nlp": "nlp-profile"}}},
        "service account `nlp-profile/editor` is there",
        "",
    ),
    "a central Argo CD": ({}, "Argo CD knows this cluster as `test`", "runs on this cluster"),
    "Argo CD on the cluster": (
        {"argocd": {"version": "3.5.1", "destination": {"server": "https://kubernetes.default.svc"}}},
        "Argo CD 3.5.1 runs on this cluster",
        "Argo CD knows",
    ),
    "an operator without a known release": (
        {"operators": {"kueue": UNLISTED, "jobset": {"version": "0.12.0", "managed": False}}},
        "jobset 0.12.0 is there, with `jobsets.jobset.x-k8s.io`",
        "kueue",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("changes", "there", "absent"), CASES.values(), ids=CASES)
def test_a_field_calls_for_it(changes, there, absent):
    """What a field needs is listed, and nothing that belongs to another."""
    found = whats(specs(**changes))
    assert there in found
    assert not absent or absent not in found


WAYS = {
    "Talos": ({"system": {"distribution": "talos"}}, "NVIDIA's driver", "nvidia-open-gpu-kernel-modules-lts"),
    "Talos' toolkit": ({"system": {"distribution": "talos"}}, "container toolkit", "nvidia-container-toolkit-lts"),
    "OpenShift's driver": (
        {"operators": THEIRS, "system": {"distribution": "openshift"}}, "NVIDIA's driver", "of OperatorHub",
    ),
    "values of the operator": ({"operators": switched_off("driver")}, "NVIDIA's driver", "remove `driver.enabled"),
    "an image": ({"system": {"gpuDriver": "system"}}, "NVIDIA's driver", "choose an image for the nodes"),
}  # fmt: skip


@pytest.mark.parametrize(("changes", "what", "get"), WAYS.values(), ids=WAYS)
def test_each_way_to_a_driver(changes, what, get):
    """Whoever can bring a part of the GPU's software on these nodes is the one who is named."""
    found = prerequisites(specs(**changes), "test")["GPUs"]
    (item,) = (item for item in found if what in item.what)
    assert get in item.get


EKS = (
    "`aws eks create-nodegroup --nodegroup-name gpu --labels trainyard.dev/pool=gpu --taints "
    "key=nvidia.com/gpu,value=present,effect=NO_SCHEDULE key=spot,effect=NO_EXECUTE`"
)
GCLOUD = (
    "`gcloud container node-pools create gpu --node-labels=trainyard.dev/pool=gpu "
    "--node-taints=nvidia.com/gpu=present:NoSchedule,spot=:NoExecute`"
)
EFA_WAYS = {
    "a plugin of ours": ({"operators": EFA_PLUGIN}, "at device 0 of each other card", "helm install"),
    "a plugin of others": ({}, "helm install", ""),
    "Karpenter's interfaces": ({"pools": KARPENTER}, "helm install", "launch template"),
    "one interface": (
        {"pools": {"gpu": {"shape": "aws-g5-48xlarge", "nodes": 2}}}, "`efa` as the type of the interface", "device 1",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("changes", "there", "absent"), EFA_WAYS.values(), ids=EFA_WAYS)
def test_each_way_to_efa(changes, there, absent):
    """Nodes need interfaces and a plugin; whoever brings one of them is not asked for it again."""
    found = prerequisites(specs(**{**EFA, **changes}), "test")["Fabric"]
    (item,) = (item for item in found if "offer `vpc.amazonaws.com/efa" in item.what)
    assert there in item.get
    assert not absent or absent not in item.get


SSD = "--ephemeral-storage-local-ssd"
ON_DISKS = {
    "gke-cos": (GKE_DISKS, SSD),
    "kubeadm": (GPU_DISKS, "mount it at the kubelet's folder"),
    "eks": (AWS_DISKS, ""),
    "gke-ubuntu": ({"shape": "gke-a3-megagpu-8g", "nodes": 4}, ""),
}


@pytest.mark.parametrize(("distribution", "case"), ON_DISKS.items(), ids=ON_DISKS)
def test_local_disks_of_the_kubelet(distribution, case):
    """Whoever makes the nodes puts the kubelet's folder onto them, but where a file does; others are told nothing."""
    pool, get = case
    found = prerequisites(specs(system={"distribution": distribution}, pools={"gpu": pool}), "test")["Nodes"]
    (item,) = (item for item in found if "offer at least" in item.what)
    assert get in item.get if get else "disks" not in item.get
    assert any("have the files" in item.what for item in found) == (distribution == "eks")


MARKS = {
    "eks": EKS,
    "eks-bottlerocket": EKS,
    "gke-cos": GCLOUD,
    "gke-ubuntu": GCLOUD,
    "aks": (
        "`az aks nodepool add --labels trainyard.dev/pool=gpu "
        "--node-taints nvidia.com/gpu=present:NoSchedule,spot=:NoExecute`"
    ),
    "kubeadm": (
        "`kubectl label node NODE trainyard.dev/pool=gpu`; `kubectl taint node NODE nvidia.com/gpu=present:NoSchedule`"
        "; `kubectl taint node NODE spot:NoExecute`"
    ),
}


@pytest.mark.parametrize(("distribution", "get"), MARKS.items(), ids=MARKS)
def test_marks_of_nodes_outlast_them(distribution, get):
    """Where the provider replaces nodes, their group gives labels and taints; a pool without taints names none."""

    def marking(pool):
        found = prerequisites(specs(system={"distribution": distribution}, pools={"gpu": pool}), "test")["Nodes"]
        (item,) = (item for item in found if "4 nodes with the label" in item.what)
        return item.get

    joins = f"; write it into {KEPT['kubeadm']}"
    lasting = joins if distribution == "kubeadm" else "; what kubectl sets is lost when a node is replaced"
    assert marking(TAINTED) == f"{get}{lasting}"
    assert "taint" not in marking(GPU)


def test_labels_of_others_are_left_to_them():
    """Where a selector says whose labels count, the group of nodes is asked for taints alone."""
    selector = {"cloud.google.com/gke-nodepool": "gpu"}
    tainted = {**TAINTED, "selector": selector}
    for pool, command in (
        (tainted, "; `gcloud container node-pools create gpu --node-taints=nvidia.com/gpu=present:NoSchedule,spot="),
        ({**GPU, "selector": selector}, ""),
    ):
        found = prerequisites(specs(system={"distribution": "gke-cos"}, pools={"gpu": pool}), "test")["Nodes"]
        (item,) = (item for item in found if "4 nodes with the label" in item.what)
        assert item.get.startswith(f"have whoever makes the nodes set it, or correct `selector` of the pool{command}")
        assert ("gcloud" in item.get) == bool(command)


def test_zones_of_a_cloud_are_left_to_it():
    """The controller of a cloud labels nodes with their zone; elsewhere a person does."""
    zones = [{"zone": "topology.kubernetes.io/zone"}]
    for distribution, text in (("eks", "the cloud's controller sets it"), ("kubeadm", "kubectl label node NODE")):
        found = prerequisites(specs(system={"distribution": distribution}, topology=zones), "test")["Nodes"]
        (item,) = (item for item in found if "`topology.kubernetes.io/zone`" in item.what)
        assert text in item.get
        assert ("kubectl label" in item.get) == (distribution == "kubeadm")


def test_labels_of_mig_outlast_nodes():
    """The label that cuts GPUs is set by the node pool, too."""
    pool = {"shape": "gke-a3-megagpu-8g", "nodes": 4, "mig": {"layout": {"1g.10gb": 7}}}
    found = prerequisites(specs(system={"distribution": "gke-cos"}, pools={"gpu": pool}), "test")["Nodes"]
    (item,) = (item for item in found if "mig.config" in item.what)
    assert "gcloud container node-pools create gpu --node-labels=nvidia.com/mig.config=gpu`" in item.get


SPOT = {**GPU, "taints": [{"key": "nvidia.com/gpu", "value": "present"}, {"key": "spot", "effect": "NoExecute"}]}
TOLD = {
    "COS": (
        {"system": {"distribution": "gke-cos"}},
        (" with `driver.enabled=false`, `toolkit.env[0].name=RUNTIME_CONFIG_SOURCE`, `toolkit.env[0].value=file`, "
        "`toolkit.installDir=/home/kubernetes/bin/nvidia`, `hostPaths.driverInstallDir=/home/kubernetes/bin/nvidia`"),
    ),
    "EKS": ({"system": {"distribution": "eks"}}, " with `driver.enabled=false`, `toolkit.enabled=false`"),
    "AKS": (
        {"system": {"distribution": "aks"}},
        " with `driver.enabled=false`, `toolkit.enabled=false`, `operator.runtimeClass=nvidia-container-runtime`",
    ),
    "the chart's own": ({}, ""),
    "the common taint": ({"pools": {"gpu": {**GPU, "taints": [{"key": "nvidia.com/gpu", "value": "present"}]}}}, ""),
    "another taint": (
        {"pools": {"gpu": SPOT}},
        " with tolerations of spot in `daemonsets.tolerations` and `node-feature-discovery.worker.tolerations`",
    ),
    "values that the file says": (
        {
            "system": {"distribution": "eks"},
            "operators": {
                **OPERATORS,
                "gpu-operator": {"version": "26.7.0", "managed": False, "values": {"driver": {"enabled": False}}},
            },
        },
        " with `toolkit.enabled=false`",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("changes", "words"), TOLD.values(), ids=TOLD)
def test_an_operator_of_others_is_told_of_the_nodes(changes, words):
    """The values that Trainyard would derive are listed, and none that the chart has by itself."""
    found = prerequisites(specs(**{"operators": THEIRS, **changes}), "test")["Software"]
    (item,) = (item for item in found if item.what.startswith("gpu-operator 26.7.0 is there"))
    chart = "install chart gpu-operator of https://helm.ngc.nvidia.com/nvidia"
    assert item.get == f"{chart}{words}, or remove `managed: false`"


GKE_GPUS = {
    "an operator of others": ("gke-cos", THEIRS, True, "disabled`, and `kubectl apply", True),
    "an operator of ours": ("gke-cos", OURS, True, "disabled`, and `kubectl apply", False),
    "Ubuntu": ("gke-ubuntu", THEIRS, True, "disabled`, and Google's installer", True),
    "no operator": ("gke-cos", OPERATORS, False, "gpu-driver-version=latest`", False),
    "a plugin that values switch off": ("gke-cos", switched_off("devicePlugin"), False, "version=latest`", False),
    "another provider": ("eks", THEIRS, False, "AL2023_x86_64_NVIDIA", False),
}


@pytest.mark.parametrize(("form", "operators", "labelled", "driver", "quota"), GKE_GPUS.values(), ids=GKE_GPUS)
def test_one_device_plugin_of_two(form, operators, labelled, driver, quota):
    """GKE's own plugin, which brings the driver too, stays away where the GPU Operator advertises the GPUs."""
    found = prerequisites(specs(system={"distribution": form}, operators=operators), "test")
    whats = [item.what for items in found.values() for item in items]
    assert any("gke-no-default-nvidia-gpu-device-plugin=true" in what for what in whats) == labelled
    assert any("ResourceQuota" in what for what in whats) == quota
    (item,) = (item for item in found["GPUs"] if "NVIDIA's driver" in item.what)
    assert driver in item.get


KEPT = {
    "kubeadm": "`node-labels` in `nodeRegistration.kubeletExtraArgs` of `kubeadm join` too, for nodes that join again",
    "k3s": "`node-label` in /etc/rancher/k3s/config.yaml too, for nodes that join again",
    "talos": "`machine.nodeLabels` of the machine configuration, or",
    "openshift": None,
}


@pytest.mark.parametrize(("form", "place"), KEPT.items())
def test_labels_outlast_the_object_of_a_node(form, place):
    """What kubectl sets is lost with the Node object; where nothing else is known, nothing is said."""
    items = prerequisites(specs(system={"distribution": form}), "test")["Nodes"]
    found = [item.get for item in items if "have the label `example.com/rack`" in item.what or "no taint" in item.what]
    assert len(found) == 2
    assert all(get.startswith("`kubectl label node NODE") for get in found)
    assert all((place in get) if place else ("join again" not in get) for get in found)


RESTARTS = {
    "a limit, up to 1.13": ({"fabric": SHARED}, "1.13", "talos.yaml`, which reboots the node"),
    "a limit, from 1.14 on": ({"fabric": SHARED}, "1.14", "talos.yaml`, which restarts the container runtime"),
    "no limit": ({"fabric": {**SHARED, "memlock": "provided"}}, "1.13", "talos.yaml`"),
}


@pytest.mark.parametrize(("changes", "version", "end"), RESTARTS.values(), ids=RESTARTS)
def test_whoever_patches_talos_knows_what_restarts(changes, version, end):
    """Only the limit on locked memory is more than a patch of a running node can change."""
    talos = {"distribution": "talos", "distributionVersion": version}
    items = prerequisites(specs(**changes, operators=NETWORK, system=talos), "test")["Nodes"]
    (item,) = (item for item in items if "have the files of" in item.what)
    assert item.get.endswith(end)


def test_commands_are_such_that_nodes_have_them():
    """Talos has no shell; where pools differ, both ways are said."""
    pools = {"gpu": GPU, "cpu": {"shape": "cpu-64", "nodes": 1, "system": {"distribution": "kubeadm"}}}
    found = prerequisites(
        make_specs(
            clusters={"test": cluster(pools=pools, system={"distribution": "talos"})},
            repository=make_repository(registries=["registry.example.com"]),
        ),
        "test",
    )
    (toolkit,) = (item for item in found["GPUs"] if "toolkit" in item.what)
    assert toolkit.look == "`talosctl get extensions --nodes NODE` lists nvidia-container-toolkit"
    (pull,) = (item for item in found["Access"] if "nodes can pull" in item.what)
    assert pull.look == "`talosctl image pull IMAGE --nodes NODE` or `crictl pull IMAGE`, on a node"


def test_values_that_switch_a_part_off_are_the_field():
    """A reader finds the line that makes the driver somebody else's."""
    (item,) = (
        item
        for item in prerequisites(specs(operators=switched_off("driver")), "test")["GPUs"]
        if "driver," in item.what
    )
    assert item.at == ("operators", "gpu-operator", "values", "driver", "enabled")


TEAMS = {
    "secrets": ({"secrets": ["tokens"]}, "Secret `nlp/tokens` is there"),
    "config maps": ({"configMaps": ["settings"]}, "ConfigMap `nlp/settings` is there"),
    "egress": ({"egress": [{"namespace": "store", "ports": [80]}]}, "namespace `store` is there"),
    "an identity": (
        {"serviceAccounts": {"reader": {"annotations": {"eks.amazonaws.com/role-arn": "arn:x"}}}},
        "trusts service account `nlp/reader` as `arn:x`",
    ),
    "people": ({}, "the identity provider has the group nlp-people"),
}


@pytest.mark.parametrize(("changes", "there"), TEAMS.values(), ids=TEAMS)
def test_teams_call_for_it(changes, there):
    """What a team's file names and nobody makes is listed, with that file."""
    team = make_team(**{"secrets": None, **changes})
    found = prerequisites(make_specs(clusters={"test": cluster()}, teams={"nlp": team}), "test")
    (item,) = (item for item in found["Access"] if there in item.what)
    assert item.file == "platform/teams/nlp.yaml"


def test_teams_that_no_queue_admits_need_nothing():
    """A cluster lists Secrets of its own teams alone."""
    teams = {"nlp": make_team(), "ads": make_team(secrets=["others"])}
    assert "others" not in whats(make_specs(clusters={"test": cluster()}, teams=teams))


def test_objects_of_the_repository_s_own_are_no_prerequisites():
    """A namespace that somebody puts into platform/extra is applied from here, so nobody else has to."""
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "store"}}
    file = "platform/extra/test/platform/store.yaml"
    team = make_team(egress=[{"namespace": "store", "ports": [80]}])
    before = make_specs(clusters={"test": cluster()}, teams={"nlp": team})
    after = replace(before, extra=(ExtraFile("test", "platform", make_source(file, space)),))
    assert "namespace `store`" in whats(before)
    assert "namespace `store`" not in whats(after)


def test_every_line_says_why_where_and_how():
    """No prerequisite is without a reason, a field and a way to get it; who cannot ask a server has a command."""
    every = specs(**{**EFA, "operators": THEIRS, "runtimeClasses": ["gvisor"], "system": {"kernel": "6.8"}})
    for items in prerequisites(every, "test").values():
        for item in items:
            assert all((item.why, item.get, item.at, item.question or item.look))
            assert not item.what.endswith(".")
            assert "\n" not in item.what


def test_what_people_write_stays_text():
    """Text of a cluster's file is neither markup nor a new line of the page."""
    assert legible("a\n# b <script> `x <y>`") == r"a # b \<script\> `x <y>`"
    said = fields({}, {"drivers": {"nfs.csi.k8s.io": "by *us* <b>"}})
    assert r"by \*us\* \<b\>" in page(specs(**said), "test")


WINDOW = {"schedule": "0 8 * * *", "duration": "2h", "timeZone": "Europe/Berlin"}
SYNCED = {
    "drivers of GPUs": ({}, "`0 6 * * 1-5` for 14h (UTC); then nodes get the daemons of NVIDIA GPUs"),
    "virtual functions": (
        {"fabric": {**ROCE, "pools": ["gpu"]}, "operators": {**OURS, "sriov-network-operator": {"version": "1.6.0"}}},
        "daemons of NVIDIA GPUs; nodes are drained, and restarted where NICs need it, one after the other",
    ),
    "windows of the cluster's own": (
        {"argocd": {"version": "3.5.1", "destination": {"name": "test"}, "hardwareDeny": [WINDOW]}},
        "`0 8 * * *` for 2h (Europe/Berlin); then",
    ),
}


@pytest.mark.parametrize(("changes", "there"), SYNCED.values(), ids=SYNCED)
def test_the_sync_of_hardware_says_when_and_what_follows(changes, there):
    """The line has the command, the windows that refuse it, and what the rendered objects do to nodes."""
    (item,) = (one for one in prerequisites(specs(**changes), "test")["Argo CD"] if "test-hardware" in one.what)
    assert item.get.startswith("`argocd app sync test-hardware`, outside of its deny windows: ")
    assert there in item.get


CLASS = {
    "image": "al2023@v20260810",
    "role": "nodes",
    "subnets": ["subnet-0a1b2c3d"],
    "securityGroups": ["sg-0a1b2c3d", "sg-0a1b2c3e"],
}
POOL = {"shape": "aws-p5-48xlarge", "nodes": {"max": 2}, "scaling": {"nodeClass": CLASS}}
BLOCK = {"id": "cr-1", "starts": "2026-12-10T11:30Z", "ends": "2026-12-24T11:30Z", "earlyMinutes": 40}
KARPENTER = {**OPERATORS, "karpenter": {"version": "1.14.1", "managed": False}}


def of_account(**pool) -> dict[str, str]:
    """Return how to get what Karpenter and the account need for a pool, by what it is."""
    found = specs(pools={"gpu": {**POOL, **pool}}, operators=KARPENTER, system={"distribution": "eks"})
    return {item.what: item.get for items in prerequisites(found, "test").values() for item in items}


QUOTAS = {
    "on-demand": (
        {},
        "ask AWS for a quota of 384 vCPUs for on-demand instances of class P (Service Quotas, Amazon EC2)",
    ),
    "spot": (
        {"spot": True},
        "ask AWS for a quota of 384 vCPUs for spot instances of class P5 (Service Quotas, Amazon EC2)",
    ),
    "another class": (
        {"shape": "aws-g5-48xlarge", "spot": True},
        "ask AWS for a quota of 384 vCPUs for spot instances of class G (Service Quotas, Amazon EC2)",
    ),
    "reserved": (
        {"reservation": BLOCK},
        "ask AWS for a quota of 384 vCPUs for instances of class P (Service Quotas, Amazon EC2)",
    ),
}


@pytest.mark.parametrize(("pool", "expected"), QUOTAS.values(), ids=QUOTAS)
def test_a_quota_is_named_as_ec2_counts_it(pool, expected):
    """In vCPUs of all nodes at once, by class, and apart for spot instances."""
    assert of_account(**pool)["the account may run 2 nodes of pool gpu at once"] == expected


def test_an_account_needs_a_role_for_spot_instances_alone():
    """EC2 makes on-demand instances without it."""
    role = "the account has EC2's service-linked role for spot instances"
    assert role in of_account(spot=True)
    assert role not in of_account()


def test_nodes_reach_the_cluster_by_the_groups_of_their_class():
    """A group that knows only its own members keeps them out."""
    one = {"nodeClass": {**CLASS, "securityGroups": ["sg-0a1b2c3d"]}}
    alone, several = "\n".join(of_account(scaling=one)), "\n".join(of_account())
    assert "sg-0a1b2c3d is the cluster's own security group, or both let each other through" in alone
    assert "one of sg-0a1b2c3d, sg-0a1b2c3e is the cluster's own security group" in several


def test_a_placement_group_is_somebody_else_s():
    """Karpenter finds it by name and makes none."""
    near = of_account(scaling={"nodeClass": {**CLASS, "placementGroup": "near"}})
    what = "placement group `near` is there, in the zone of the pool's subnets, and Karpenter may use it"
    assert near[what].startswith("`aws ec2 create-placement-group --group-name near --strategy cluster`")
    assert not any("placement group" in item for item in of_account())


def test_a_driver_is_switched_on_or_gets_its_role_by_a_command():
    """The cloud's own add-on, or the trust in the driver's service account, is a line to copy."""

    def gets(**changes: object) -> str:
        return "\n".join(item.get for item in prerequisites(specs(**changes), "test")["Storage"])

    assert "`az aks update -g GROUP -n CLUSTER --enable-file-driver`" in gets(
        storage={"homes": {"provisioner": "file.csi.azure.com"}}, system={"distribution": "aks"}
    )
    issuer, agent = (
        gets(operators={**OPERATORS, "aws-efs-csi-driver": EFS | {"identity": way}}) for way in ("irsa", "pod-identity")
    )
    account = "efs-csi-controller-sa"
    assert f"`sub` = `system:serviceaccount:kube-system:{account}`" in issuer
    assert f"--service-account {account} --role-arn {EFS['role']}" in agent
