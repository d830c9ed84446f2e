"""What nodes must be given comes out in the form that their distribution reads, and says the same in every form."""

from __future__ import annotations

import base64
import configparser
import re
import tomllib
from typing import Any, get_args

import pytest
import yaml
from pydantic import ValidationError

from everything import KUBELET
from make import make_cluster, make_pool
from trainyard.render.clusters import node_files
from trainyard.render.clusters.node_forms import FORMS
from trainyard.render.sizing.kubelet import configuration
from trainyard.specs import Cluster
from trainyard.specs.distributions import distributions
from trainyard.specs.models.system import Distribution

ROCE: dict[str, Any] = {"type": "roce", "rails": 8, "attach": "sriov", "addresses": "10.56.0.0/16", "pools": ["h100"]}
OPTIONS = {"prefer-closest-numa-nodes": "true", "max-allowable-numa-nodes": "8"}
POOL: dict[str, Any] = {
    "shape": "dgx-h100",
    "nodes": 2,
    "kubelet": {**KUBELET, "topologyManagerPolicyOptions": OPTIONS},
}
OTHER = {"cpu": {"shape": "cpu-64", "nodes": 1}}

FACTS = distributions()
WHOLE = [name for name in FORMS if FACTS[name].kubelet_fields is None]
"""Forms that carry all fields of the kubelet."""

TALOS_KEEPS = {
    "apiVersion",
    "authentication",
    "authorization",
    "cgroupRoot",
    "kind",
    "kubeletCgroups",
    "port",
    "protectKernelDefaults",
    "resolvConf",
    "rotateCertificates",
    "seccompDefault",
    "staticPodPath",
    "systemCgroups",
}
"""Fields that it refuses (talos v1.13 pkg/machinery/kubelet/kubelet.go)."""


Fields = dict[str, Any]


def cluster(system: Fields | None = None, *, memlock: str = "node", pool: Fields | None = None) -> Cluster:
    """Return a cluster with one pool on a fabric."""
    pools = {"h100": {**POOL, **(pool or {})}, **OTHER}
    return make_cluster(pools=pools, fabric={**ROCE, "memlock": memlock}, system=system or {}, queues={})


def files(system: dict[str, Any] | None = None, **changes: Any) -> dict[str, str]:
    """Return the texts of the pool's files, by name."""
    return {file.name: file.text for file in node_files(cluster(system, **changes)).get("nodes/h100", ())}


def kubelet(found: dict[str, str]) -> dict[str, Any]:
    """Return the fields of the kubelet's configuration, out of whatever form carries it."""
    for text in found.values():
        value = yaml.safe_load(text) if not text.splitlines()[1].startswith("[") else {}
        spec = value.get("spec", {})
        carried = [
            value.get("machine", {}).get("kubelet", {}).get("extraConfig"),
            spec.get("kubelet", {}).get("config"),
            spec.get("kubeletConfig"),
            yaml.safe_load(value["nodes"][0]["kubeadmConfigPatches"][0]) if "nodes" in value else None,
            value if "topologyManagerPolicy" in value else None,
        ]
        for fields in filter(None, carried):
            return {name: item for name, item in fields.items() if name not in {"apiVersion", "kind"}}
    return {}


@pytest.mark.parametrize("form", FORMS)
def test_files_of_a_form_are_those_that_were_read(form, golden):
    """Golden: one pool with everything, in each form."""
    found = files({"distribution": form})
    golden(f"golden/nodes/{form}.txt", "".join(f"=== {name}\n{text}" for name, text in sorted(found.items())))


def test_every_distribution_has_a_form():
    """What a cluster's file may say is what can be rendered."""
    assert set(FORMS) == set(get_args(Distribution)) == set(FACTS)


@pytest.mark.parametrize("form", WHOLE)
def test_the_kubelet_is_told_the_same_in_every_form(form):
    """A form wraps the configuration and changes none of it; what only a cluster knows stays out."""
    pool = make_pool(**POOL)
    assert pool.kubelet is not None
    expected = {name: value for name, value in configuration(pool, pool.kubelet).items() if value is not None}
    limit = {"podPidsLimit": 65536} if FACTS[form].pod_pids else {}
    assert kubelet(files({"distribution": form})) == expected | limit
    assert expected["topologyManagerPolicyOptions"] == OPTIONS
    assert not expected.keys() & (TALOS_KEEPS | {"clusterDNS", "clusterDomain"})


TALOS: Fields = {"distribution": "talos", "distributionVersion": "1.14"}


def test_talos_reads_documents_from_its_release_on(golden):
    """Golden: the same pool for a configuration that 1.14 wrote; the kubelet's fields are those of 1.13."""
    (text,) = files(TALOS).values()
    golden("golden/nodes/talos-1.14.txt", text)
    before = yaml.safe_load(files({"distribution": "talos"})["talos.yaml"])["machine"]
    parts = list(yaml.safe_load_all(text))
    found = {part["kind"]: part for part in parts}
    assert found["KubeletConfig"]["config"] == before["kubelet"]["extraConfig"]
    assert found["CRIBaseRuntimeSpecConfig"]["overrides"] == before["baseRuntimeSpecOverrides"]
    assert found["KubeNodeConfig"]["labels"] == before["nodeLabels"] == {"trainyard.dev/pool": "h100"}
    loaded = [part["name"] for part in parts if part["kind"] == "KernelModuleConfig"]
    assert loaded == [module["name"] for module in before["kernel"]["modules"]]


def test_a_patch_is_applied_once_only_where_lists_add_up():
    """From 1.14 on modules have names and the limit is replaced; lists of the kubelet and rules of udev add up."""
    plain = {"kubelet": {"cpuManagerPolicy": "static"}}
    kinds = [({"distribution": "talos"}, plain, True), (TALOS, plain, False), (TALOS, {}, True)]
    for system, pool, once in kinds:
        assert ("apply it once" in files(system, pool=pool)["talos.yaml"].splitlines()[0]) is once
    open_to_all = make_cluster(pools={"gpu": {**AMD, "deviceAccess": "udev"}}, system=TALOS, queues={})
    (file,) = node_files(open_to_all)["nodes/gpu"]
    assert "apply it once" in file.text
    label, rules = yaml.safe_load_all(file.text)
    assert label == {"apiVersion": "v1alpha1", "kind": "KubeNodeConfig", "labels": {"trainyard.dev/pool": "gpu"}}
    assert rules == {"apiVersion": "v1alpha1", "kind": "UdevRulesConfig", "rules": OPEN}


def test_the_release_of_a_cluster_is_not_that_of_a_pool_with_another_distribution():
    """A pool inherits it with the distribution alone."""
    pools = {"h100": {**POOL, "system": {"distribution": "kubeadm"}}, **OTHER}
    mixed = make_cluster(pools=pools, system=TALOS, queues={})
    assert [mixed.system_of(name).distribution_version for name in pools] == [None, "1.14"]


@pytest.mark.parametrize("system", [{"distribution": "talos"}, TALOS])
def test_labels_of_somebody_else_are_not_in_the_patch(system):
    """A pool that is selected by others' labels gets none from here."""
    (text,) = files(system, pool={"selector": {"example.com/gpu": "h100"}}).values()
    assert "nodeLabels" not in text
    assert "KubeNodeConfig" not in text


NAMED = [f"ibs{number}" for number in range(8)]


@pytest.mark.parametrize(("changes", "loads"), [({"interfaces": NAMED}, True), ({}, False)])
def test_network_devices_of_infiniband_are_there_where_nics_are_shared_by_their_names(changes, loads):
    """Nothing loads the module for a device; NICs that are found by their type need no network device."""
    fabric = {"type": "infiniband", "attach": "rdma-shared", "pools": ["h100"], "resources": ["rdma/nics"]}
    operators = {"network-operator": {"version": "26.4.1"}}
    pools = {"h100": {**POOL, **changes}, **OTHER}
    on = make_cluster(pools=pools, fabric=fabric, system=TALOS, operators=operators, queues={})
    (file,) = node_files(on)["nodes/h100"]
    assert ("name: ib_ipoib" in file.text) is loads


@pytest.mark.parametrize(
    ("form", "folder"),
    [
        ("systemd", "/etc/kubernetes/kubelet.conf.d"),
        ("rke2", "/var/lib/rancher/rke2/agent/etc/kubelet.conf.d"),
        ("k3s", "/var/lib/rancher/k3s/agent/etc/kubelet.conf.d"),
    ],
)
def test_drop_ins_are_such_that_the_kubelet_reads_them(form, folder):
    """Files of other names are skipped without a word, and one without kind keeps it from starting."""
    (name,) = [name for name, text in files({"distribution": form}).items() if "kubelet.config.k8s.io" in text]
    text = files({"distribution": form})[name]
    assert name.endswith(".conf")
    assert text.splitlines()[0] == f"# {folder}/{name}"
    assert yaml.safe_load(text)["kind"] == "KubeletConfiguration"


def test_a_patch_is_one_that_kubeadm_takes():
    """Its name says target and type (kubernetes v1.35 cmd/kubeadm/app/util/patches/patches.go)."""
    (name,) = [name for name in files({"distribution": "kubeadm"}) if name.endswith(".yaml")]
    assert re.fullmatch(r"kubeletconfiguration[^.+\n]*\+merge\.yaml", name)


SERVERS = {"rke2": "rke2-server", "k3s": "k3s"}
UNITS = {"systemd": "containerd", "kubeadm": "containerd", "rke2": "rke2-agent", "k3s": "k3s-agent"}


@pytest.mark.parametrize(("form", "unit"), UNITS.items())
def test_the_unit_that_starts_containerd_lifts_the_limit(form, unit):
    """Containers inherit what the unit has, whoever they run as."""
    text = files({"distribution": form})["10-trainyard-memlock.conf"]
    assert text.startswith(f"# /etc/systemd/system/{unit}.service.d/10-trainyard-memlock.conf\n")
    server = f"# on a server: /etc/systemd/system/{SERVERS.get(form)}.service.d/10-trainyard-memlock.conf\n"
    assert (server in text) == (form in SERVERS) == ("on a server" in text)
    settings = configparser.ConfigParser()
    settings.optionxform = str  # type: ignore[assignment,method-assign]  # keys of systemd have capitals
    settings.read_string(text)
    assert settings["Service"]["LimitMEMLOCK"] == "infinity"


def test_cri_o_lifts_the_limit_in_its_own_configuration():
    """On nodes of any distribution that lets one choose, and on OpenShift by a MachineConfig."""
    own = files({"distribution": "kubeadm", "runtime": "cri-o"})
    assert "10-trainyard-memlock.conf" not in own
    carried = yaml.safe_load(files({"distribution": "openshift"})["machineconfig.yaml"])
    (file,) = carried["spec"]["config"]["storage"]["files"]
    decoded = base64.b64decode(file["contents"]["source"].partition("base64,")[2]).decode()
    for text in (own["crio-10-trainyard.conf"], decoded):
        assert tomllib.loads(text) == {"crio": {"runtime": {"default_ulimits": ["memlock=-1:-1"]}}}


def test_openshift_finds_the_nodes_of_the_pool_by_their_label():
    """Its configurations belong to a machine config pool of exactly those nodes, which are workers too."""
    found = {name: yaml.safe_load(text) for name, text in files({"distribution": "openshift"}).items()}
    pool = found["machineconfigpool.yaml"]
    assert pool["spec"]["nodeSelector"] == {"matchLabels": {"trainyard.dev/pool": "h100"}}
    (roles,) = pool["spec"]["machineConfigSelector"]["matchExpressions"]
    assert found["machineconfig.yaml"]["metadata"]["labels"][roles["key"]] in roles["values"]
    chosen = found["kubeletconfig.yaml"]["spec"]["machineConfigPoolSelector"]["matchLabels"]
    assert chosen.items() <= pool["metadata"]["labels"].items()


FEW: dict[str, Fields] = {
    "gke-cos": {
        "kubeletConfig": {
            "cpuManagerPolicy": "static",
            "memoryManager": {"policy": "Static"},
            "topologyManager": {"policy": "restricted", "scope": "pod"},
        }
    },
    "aks": {"cpuManagerPolicy": "static", "topologyManagerPolicy": "restricted"},
    "eks-bottlerocket": {
        "kubernetes": {
            "cpu-manager-policy": "static",
            "cpu-manager-policy-options": ["full-pcpus-only"],
            "topology-manager-policy": "restricted",
            "topology-manager-scope": "pod",
            "max-pods": 110,
        },
        "oci-defaults": {
            "resource-limits": {"max-locked-memory": {"soft-limit": "unlimited", "hard-limit": "unlimited"}}
        },
    },
}


@pytest.mark.parametrize(("form", "expected"), FEW.items(), ids=FEW)
def test_a_provider_reads_the_fields_that_it_knows(form, expected):
    """Google, Microsoft and Bottlerocket name the fields of the kubelet as their own documents do."""
    (text,) = files({"distribution": form}).values()
    read = tomllib.loads(text)["settings"] if form == "eks-bottlerocket" else yaml.safe_load(text)
    assert read == expected


LIMITS: dict[str, tuple[str, Fields, int | None]] = {
    "OpenShift allows too few": ("openshift", {}, 65536),
    "OpenShift, with a number of the pool's own": ("openshift", {"podPidsLimit": 8192}, 8192),
    "no limit elsewhere": ("kubeadm", {}, None),
    "a number of the pool's own elsewhere": ("talos", {"podPidsLimit": 8192}, 8192),
}


@pytest.mark.parametrize(("form", "fields", "expected"), LIMITS.values(), ids=LIMITS)
def test_ranks_may_start_their_threads(form, fields, expected):
    """Where the distribution allows a pod few processes, the file for nodes allows more, or what the pool states."""
    settings = kubelet(files({"distribution": form}, pool={"kubelet": {**KUBELET, **fields}}))
    assert settings.get("podPidsLimit") == expected


def test_other_names_of_the_limit():
    """Google, Microsoft and Bottlerocket take it at places of their own."""
    pool = {"kubelet": {"podPidsLimit": 8192}}
    (google,) = files({"distribution": "gke-cos"}, pool=pool).values()
    assert yaml.safe_load(google)["kubeletConfig"]["podPidsLimit"] == 8192
    (aks,) = files({"distribution": "aks"}, pool=pool).values()
    (rocket,) = files({"distribution": "eks-bottlerocket"}, pool=pool).values()
    assert yaml.safe_load(aks)["podMaxPids"] == 8192
    assert tomllib.loads(rocket)["settings"]["kubernetes"]["pod-pids-limit"] == 8192


def test_nodes_that_the_provider_configures_get_no_file():
    """Autopilot takes nothing, whatever the pool says."""
    assert files({"distribution": "gke-autopilot"}) == {}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("memlock", ["nri", "provided"])
def test_a_limit_that_others_lift_makes_no_file(form, memlock):
    """The NRI plugin and the node image need none; what is left is the kubelet's."""
    found = files({"distribution": form}, memlock=memlock)
    assert bool(found) == (FACTS[form].kubelet_fields != ())
    assert "MEMLOCK" not in "".join(found.values())
    assert "memlock" not in "".join(found.values())


AMD = {"shape": "mi300x", "nodes": 2}
OPEN = ['KERNEL=="kfd", MODE="0666"', 'SUBSYSTEM=="drm", KERNEL=="renderD*", MODE="0666"']


@pytest.mark.parametrize("form", [name for name in FORMS if "udev" in FACTS[name].node_files])
def test_every_user_opens_amd_gpus_where_the_pool_wants_rules_of_udev(form):
    """Where groups are said, or nothing has to be done, there is no rule; no other file changes with it."""
    pools = {"gpu": {**AMD, "deviceAccess": "udev"}}
    on = make_cluster(pools=pools, system={"distribution": form}, queues={})
    found = {file.name: file.text for file in node_files(on)["nodes/gpu"]}
    if form == "talos":
        assert yaml.safe_load(found["talos.yaml"])["machine"]["udev"] == {"rules": OPEN}
    elif form == "openshift":
        (file,) = yaml.safe_load(found["machineconfig.yaml"])["spec"]["config"]["storage"]["files"]
        assert file["path"] == "/etc/udev/rules.d/70-amdgpu.rules"
        assert base64.b64decode(file["contents"]["source"].partition("base64,")[2]).decode().splitlines() == OPEN
    else:
        assert found["70-amdgpu.rules"].splitlines() == ["# /etc/udev/rules.d/70-amdgpu.rules", *OPEN]
        assert set(found) == {"70-amdgpu.rules"}
    for access in ("open", [109]):
        assert node_files(make_cluster(pools={"gpu": {**AMD, "deviceAccess": access}}, queues={})) == {}


INBOX = {"nicDriver": "inbox"}
RDMA = ["rdma_ucm", "ib_umad"]
NVIDIA = ["nvidia", "nvidia_uvm", "nvidia_drm", "nvidia_modeset"]


def modules(found: dict[str, str]) -> list[str]:
    """Return the kernel modules that a pool's files load, out of whatever form carries them."""
    if "modules-load-trainyard.conf" in found:
        place, *names = found["modules-load-trainyard.conf"].splitlines()
        assert place == "# /etc/modules-load.d/trainyard.conf"
        return names
    if "talos.yaml" in found:
        kernel = yaml.safe_load(found["talos.yaml"])["machine"].get("kernel", {})
        return [module["name"] for module in kernel.get("modules", ())]
    if "userdata.toml" in found:
        settings = tomllib.loads(found["userdata.toml"])["settings"].get("kernel", {}).get("modules", {})
        assert all(value == {"allowed": True, "autoload": True} for value in settings.values())
        return list(settings)
    return [line for line in ignitions(found, "/etc/modules-load.d/trainyard.conf") if line]


def ignitions(found: dict[str, str], path: str) -> list[str]:
    """Return the lines of a file that a MachineConfig carries; none where it carries none."""
    value = yaml.safe_load(found.get("machineconfig.yaml", "{}"))
    carried = value.get("spec", {}).get("config", {}).get("storage", {}).get("files", ())
    sources = [file["contents"]["source"] for file in carried if file["path"] == path]
    return [line for one in sources for line in base64.b64decode(one.partition("base64,")[2]).decode().splitlines()]


@pytest.mark.parametrize("form", FORMS)
def test_modules_of_rdma_are_loaded_where_the_file_says_that_the_kernel_drives_the_nics(form):
    """Device plugins skip NICs without their device files; what cannot be told of modules gets no file for them."""
    expected = [*FACTS[form].gpus.modules, *RDMA] if FACTS[form].modules.load else []
    assert modules(files({"distribution": form, **INBOX})) == expected
    others = modules(files({"distribution": form, "nicDriver": "operator"}))
    assert others == list(FACTS[form].gpus.modules)


def test_talos_loads_the_modules_of_its_extensions():
    """Those of the GPUs, and those of RDMA, since its kernel's own driver of NICs is the only one."""
    assert modules(files({"distribution": "talos"})) == [*NVIDIA, *RDMA]
    off = make_cluster(pools={"h100": POOL, **OTHER}, system={"distribution": "talos"}, queues={})
    found = {file.name: file.text for file in node_files(off)["nodes/h100"]}
    assert modules(found) == NVIDIA
    assert set(node_files(off)) == {"nodes/h100"}


def test_peer_memory_is_loaded_beside_a_driver_of_the_image():
    """The GPU Operator loads it with its own driver; DOCA's NICs need it either way."""
    assert modules(files({"nicDriver": "doca", "gpuDriver": "system"})) == ["nvidia_peermem"]
    assert modules(files({"nicDriver": "doca"})) == []


def test_a_driver_of_amd_s_operator_keeps_the_kernel_s_own_from_loading():
    """On OpenShift by a MachineConfig; where the operator is ours it does so by itself."""
    driver = {"gpuDriver": "operator", "gpuDriverVersion": "30.20.1"}
    theirs = {"amd-gpu-operator": {"version": "1.5.1", "managed": False}}
    changes: Fields = {"pools": {"gpu": AMD}, "system": {"distribution": "openshift", **driver}, "queues": {}}
    ((path, found),) = node_files(make_cluster(operators=theirs, **changes)).items()
    texts = {file.name: file.text for file in found}
    assert path == "nodes/gpu"
    assert ignitions(texts, "/etc/modprobe.d/trainyard.conf") == ["blacklist amdgpu"]
    ours = {"amd-gpu-operator": {"version": "1.5.1"}}
    assert node_files(make_cluster(operators=ours, **changes)) == {}
    plain = {**changes, "system": {"distribution": "openshift"}}
    assert node_files(make_cluster(operators=theirs, **plain)) == {}


def test_efa_locks_memory_as_verbs_do():
    """On EKS by a NodeConfig that leaves the kubelet alone where it is not ours to set."""
    pools = {"h100": {"shape": "aws-p5-48xlarge", "nodes": 2}, **OTHER}
    on = make_cluster(pools=pools, fabric={"type": "efa"}, system={"distribution": "eks"}, queues={})
    ((path, (pages, file)),) = node_files(on).items()
    assert pages.text == "# /etc/sysctl.d/trainyard.conf\nvm.nr_hugepages = 5128\n"
    limits = yaml.safe_load(file.text)["spec"]["containerd"]["baseRuntimeSpec"]["process"]["rlimits"]
    assert path == "nodes/h100"
    assert {limit["type"] for limit in limits} == {"RLIMIT_NOFILE", "RLIMIT_MEMLOCK"}
    assert "kubelet" not in yaml.safe_load(file.text)["spec"]


@pytest.mark.parametrize("form", sorted({*UNITS, "talos", "openshift", "eks", "eks-bottlerocket"}))
def test_huge_pages_of_efa_are_set_aside_in_every_form(form):
    """As many as the shape has; a fabric that asks for none sets none aside."""
    pools = {"h100": {"shape": "aws-p5-48xlarge", "nodes": 2}, **OTHER}
    on = make_cluster(pools=pools, fabric={"type": "efa"}, system={"distribution": form}, queues={})
    texts = {file.name: file.text for file in node_files(on)["nodes/h100"]}
    if form == "openshift":
        assert ignitions(texts, "/etc/sysctl.d/trainyard.conf") == ["vm.nr_hugepages = 5128"]
    elif form == "talos":
        assert yaml.safe_load(texts["talos.yaml"])["machine"]["sysctls"] == {"vm.nr_hugepages": "5128"}
    elif form == "eks-bottlerocket":
        assert tomllib.loads(texts["userdata.toml"])["settings"]["kernel"]["sysctl"] == {"vm.nr_hugepages": "5128"}
    else:
        assert texts["sysctl-trainyard.conf"].splitlines()[1:] == ["vm.nr_hugepages = 5128"]
    assert "nr_hugepages" not in "".join(files({"distribution": form}).values())


LOCAL: Fields = {"shape": "aws-p5-48xlarge", "nodes": 2, "localDisks": {"size": "27000Gi"}}
STARTED: Fields = {
    "nodes": {"min": 0, "max": 2},
    "scaling": {
        "nodeClass": {
            "image": "al2023@v20260810",
            "role": "nodes",
            "subnets": ["subnet-0a1b2c3d4e5f60718"],
            "securityGroups": ["sg-0a1b2c3d4e5f60718"],
        }
    },
}
STRIPED: dict[str, tuple[str, Fields, bool]] = {
    "AL2023": ("eks", {}, True),
    "Bottlerocket": ("eks-bottlerocket", {}, True),
    "disks that a driver cuts": ("eks", {"localDisks": {"size": "27000Gi", "storage": "shared"}}, False),
    "no disks": ("eks", {"localDisks": None}, False),
    "nodes that Karpenter starts": ("eks", STARTED, False),
    "a distribution without a form for it": ("systemd", {}, False),
}


@pytest.mark.parametrize(("form", "changes", "striped"), STRIPED.values(), ids=STRIPED)
def test_the_kubelet_s_folder_goes_onto_local_disks(form, changes, striped):
    """Without it scratch on nvme would fill the root volume; Karpenter says it in its own user data."""
    on = make_cluster(pools={"gpu": {**LOCAL, **changes}}, system={"distribution": form}, queues={})
    found = {file.name: file.text for files in node_files(on).values() for file in files}
    assert bool(found) == striped
    if form == "eks" and striped:
        assert yaml.safe_load(found["nodeconfig.yaml"])["spec"] == {"instance": {"localStorage": {"strategy": "RAID0"}}}
    elif striped:
        ((_, command),) = tomllib.loads(found["userdata.toml"])["settings"]["bootstrap-commands"].items()
        assert [words[-1] for words in command["commands"]] == ["init", "bind"]
        assert (command["mode"], command["essential"]) == ("always", True)


def test_a_pool_may_be_set_up_in_another_way():
    """Field by field the pool's own, else the cluster's."""
    mixed = {"distribution": "kubeadm", "runtime": "cri-o"}
    assert "talos.yaml" in files(mixed, pool={"system": {"distribution": "talos", "runtime": "containerd"}})
    assert "crio-10-trainyard.conf" in files({"distribution": "kubeadm"}, pool={"system": {"runtime": "cri-o"}})


def test_a_kubelet_that_is_the_provider_s_gets_nothing():
    """Where neither kubelet nor locked memory is ours to set, there is no folder; nor for nodes off the fabric."""
    for form in FORMS:
        found = node_files(cluster({"distribution": form}, memlock="provided", pool={"kubelet": None}))
        assert found == {} or form == "talos"  # whose image loads no module of the GPUs by itself
    assert set(node_files(cluster())) == {"nodes/h100"}


def test_a_capability_is_refused_in_words():
    """IPC_LOCK is gone at exec for every user but root, so that a pod with it could lock nothing."""
    with pytest.raises(ValidationError, match="only works for root; use node, nri or provided"):
        cluster(memlock="capability")
