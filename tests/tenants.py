"""Tries at tenants' lines, as patches of pods and of the objects around them, with what each is about."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from make import IMAGE, make_cluster, make_repository, make_resolved, make_run, make_team
from trainyard.kinds import build, kinds
from trainyard.launchers import launchers
from trainyard.tenancy import Allowance, breaches
from trainyard.tenancy.allowance import of
from trainyard.tenancy.shapes import Breach

ELSEWHERE = "evil.example.net/x@sha256:" + "4f0c7e2ab95d8136" * 4
CLUSTER = make_cluster(topology=None)
TEAM = make_team(
    priorities=["low", "normal"], serviceAccounts=["reader"], secrets=["tokens"], podSecurity={"other": "privileged"}
)
ALLOWED = of(make_repository(), "test", CLUSTER, "nlp", TEAM)
BASELINE = of(make_repository(), "test", CLUSTER, "nlp", make_team(podSecurity="baseline"))


class Try(NamedTuple):
    """One try: the number of its class, the object that is patched, the patch, and what is refused."""

    number: str
    target: str
    merge: dict[str, Any]
    subject: str


def pod(number: str, subject: str, **spec: Any) -> Try:
    """Return a try in a pod's spec."""
    return Try(number, "Pod", {"spec": spec}, subject)


def noted(number: str, subject: str = "label", **metadata: Any) -> Try:
    """Return a try in a pod's metadata."""
    return Try(number, "Pod", {"metadata": metadata}, subject)


def more(number: str, subject: str, **container: Any) -> Try:
    """Return a try in a container of one's own, right but for that."""
    return pod(number, subject, containers=[{**SIDE, **container}])


def volume(number: str, subject: str = "volume", **source: Any) -> Try:
    """Return a try of a volume."""
    return pod(number, subject, volumes=[{"name": "v", **source}])


def avoiding(**term: Any) -> dict[str, Any]:
    """Return anti-affinity of one term."""
    whole = {"topologyKey": "kubernetes.io/os", "labelSelector": {}, **term}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [whole]}}


def patched(**spec: Any) -> dict[str, Any]:
    """Return a patch of a TrainJob by which it patches the pods of its runtime."""
    job = {"name": "node", "template": {"spec": {"template": {"spec": spec}}}}
    whole = {"template": {"spec": {"replicatedJobs": [job]}}}
    return {"spec": {"runtimePatches": [{"manager": "example.com/x", "trainingRuntimeSpec": whole}]}}


SIDE: dict[str, Any] = {
    "name": "side",
    "image": IMAGE,
    "resources": {"limits": {"cpu": "100m", "memory": "64Mi"}, "requests": {"cpu": "100m", "memory": "64Mi"}},
    "env": [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"}],
    "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
}
RIGHTS = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Ei"}}}
MANAGED = {"argocd.argoproj.io/sync-options": "Prune=false"}

PODS: dict[str, Try] = {
    "processes of the node": pod("C3", "host", hostPID=True),
    "its shared memory": pod("C3", "host", hostIPC=True),
    "its network": pod("C3", "host", hostNetwork=True),
    "its resolver by the network's policy": pod("C3", "host", dnsPolicy="ClusterFirstWithHostNet"),
    "other resolvers": pod("C3", "host", dnsConfig={"nameservers": ["198.51.100.1"]}),
    "its root folder": volume("C3", hostPath={"path": "/"}),
    "the container runtime's socket": volume("C3", hostPath={"path": "/run/containerd/containerd.sock"}),
    "a privileged container": more("C3", "security", securityContext={**RIGHTS, "privileged": True}),
    "escalation": more("C3", "security", securityContext={**RIGHTS, "allowPrivilegeEscalation": True}),
    "escalation left to the default": more("C3", "security", securityContext={"capabilities": {"drop": ["ALL"]}}),
    "capabilities kept": more("C3", "security", securityContext={"allowPrivilegeEscalation": False}),
    "a capability more": more(
        "C3",
        "security",
        securityContext={**RIGHTS, "capabilities": {"drop": ["ALL"], "add": ["SYS_ADMIN"]}},
    ),
    "root": more("C3", "security", securityContext={**RIGHTS, "runAsUser": 0}),
    "root of the whole pod": pod("C3", "security", securityContext={"runAsUser": 0, "runAsNonRoot": False}),
    "a user that may be root": more("C3", "security", securityContext={**RIGHTS, "runAsNonRoot": False}),
    "no seccomp": more("C3", "security", securityContext={**RIGHTS, "seccompProfile": {"type": "Unconfined"}}),
    "no seccomp of the pod": pod("C3", "security", securityContext={"seccompProfile": None}),
    "no AppArmor": more("C3", "security", securityContext={**RIGHTS, "appArmorProfile": {"type": "Unconfined"}}),
    "all of /proc": more("C3", "security", securityContext={**RIGHTS, "procMount": "Unmasked"}),
    "another SELinux type": more("C3", "security", securityContext={**RIGHTS, "seLinuxOptions": {"type": "spc_t"}}),
    "a process of Windows' host": more(
        "C3", "security", securityContext={**RIGHTS, "windowsOptions": {"hostProcess": True}}
    ),
    "a setting of the node's kernel": pod(
        "C3", "security", securityContext={"sysctls": [{"name": "kernel.msgmax", "value": "1"}]}
    ),
    "a port of the node": more("C3", "host", ports=[{"containerPort": 80, "hostPort": 80}]),
    "an address of the node": more("C3", "host", ports=[{"containerPort": 80, "hostIP": "10.0.0.1"}]),
    "mounts that reach the node": more(
        "C3",
        "volume",
        volumeMounts=[{"name": "shared-memory", "mountPath": "/x", "mountPropagation": "Bidirectional"}],
    ),
    "a node's name": pod("C3", "place", nodeName="node-1"),
    "a probe that asks another": more(
        "C3", "host", livenessProbe={"httpGet": {"path": "/", "port": 80, "host": "169.254.169.254"}}
    ),
    "a hook that asks another": more(
        "C3", "host", lifecycle={"postStart": {"tcpSocket": {"port": 80, "host": "10.0.0.1"}}}
    ),
    "a container for debugging": pod("C3", "image", ephemeralContainers=[{"name": "d", "image": IMAGE}]),
    "a field that nobody knows yet": pod("C3", "field", hostSomething=True),
    "the class of system pods": pod("H1", "priority", priorityClassName="system-cluster-critical"),
    "the class of nodes' pods": pod("H1", "priority", priorityClassName="system-node-critical"),
    "a number for a class": pod("H1", "priority", priority=2_000_000_000),
    "whom pods preempt": pod("H1", "priority", preemptionPolicy="PreemptLowerPriority"),
    "anti-affinity against teams": pod("H2", "affinity", affinity=avoiding(namespaces=["ads", "vision"])),
    "anti-affinity against all": pod("H2", "affinity", affinity=avoiding(namespaceSelector={})),
    "anti-affinity that is preferred": pod(
        "H2",
        "affinity",
        affinity={
            "podAntiAffinity": {
                "preferredDuringSchedulingIgnoredDuringExecution": [
                    {"weight": 100, "podAffinityTerm": {"topologyKey": "x", "namespaces": ["ads"]}}
                ]
            }
        },
    ),
    "affinity to another team": pod(
        "H2",
        "affinity",
        affinity={
            "podAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "x", "namespaces": ["ads"]}]
            }
        },
    ),
    "every taint borne": pod("H2", "place", tolerations=[{"operator": "Exists"}]),
    "the control plane's taint borne": pod(
        "H2", "place", tolerations=[{"key": "node-role.kubernetes.io/control-plane", "operator": "Exists"}]
    ),
    "a scheduler that is not there": pod("H2", "place", schedulerName="mine"),
    "a gate that holds pods": pod("H2", "place", schedulingGates=[{"name": "example.com/wait"}]),
    "nfs": volume("H4", nfs={"server": "nfs.example.com", "path": "/export"}),
    "cephfs": volume("H4", cephfs={"monitors": ["10.0.0.1"]}),
    "iscsi": volume("H4", iscsi={"targetPortal": "10.0.0.1", "iqn": "iqn.2001-04.com.example:x", "lun": 0}),
    "rbd": volume("H4", rbd={"monitors": ["10.0.0.1"], "image": "x"}),
    "fibre channel": volume("H4", fc={"wwids": ["x"]}),
    "a flex volume": volume("H4", flexVolume={"driver": "example.com/x"}),
    "Azure's files": volume("H4", azureFile={"secretName": "tokens", "shareName": "x"}),
    "a driver's inline volume": volume(
        "H4", csi={"driver": "nfs.csi.k8s.io", "volumeAttributes": {"server": "nfs.example.com", "share": "/"}}
    ),
    "secrets by a driver": volume("H4", csi={"driver": "secrets-store.csi.k8s.io"}),
    "a claim of any class": volume(
        "H4", ephemeral={"volumeClaimTemplate": {"spec": {**CLAIM, "storageClassName": "shared"}}}
    ),
    "a claim of the default class": volume("H4", ephemeral={"volumeClaimTemplate": {"spec": CLAIM}}),
    "a claim on somebody's volume": volume(
        "H4", ephemeral={"volumeClaimTemplate": {"spec": {**CLAIM, "storageClassName": "x", "volumeName": "pv-7"}}}
    ),
    "a claim that is not the team's": volume("H4", persistentVolumeClaim={"claimName": "other"}),
    "a repository": volume("H4", gitRepo={"repository": "https://example.com/x"}),
    "an image as a volume": volume("H7", "image", image={"reference": ELSEWHERE}),
    "an image volume by tag": volume("H7", "digest", image={"reference": "registry.example.com/x:1"}),
    "an image from elsewhere": more("H7", "image", image=ELSEWHERE),
    "a registry whose name begins alike": more(
        "H7", "image", image=ELSEWHERE.replace("evil", "registry.example.com.evil")
    ),
    "an image by tag": more("H7", "digest", image="registry.example.com/x:1"),
    "an init container from elsewhere": pod("H7", "image", initContainers=[{**SIDE, "image": ELSEWHERE}]),
    "a sync option": noted("M1", annotations=MANAGED),
    "all GPUs by a variable": more("M2", "device", env=[{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}]),
    "one GPU by a variable": more("M2", "device", env=[{"name": "NVIDIA_VISIBLE_DEVICES", "value": "0"}]),
    "GPUs by a Secret": more(
        "M2",
        "device",
        env=[{"name": "NVIDIA_VISIBLE_DEVICES", "valueFrom": {"secretKeyRef": {"name": "tokens", "key": "x"}}}],
    ),
    "AMD's variable": more("M2", "device", env=[*SIDE["env"], {"name": "AMD_VISIBLE_DEVICES", "value": "all"}]),
    "Habana's variable": more("M2", "device", env=[*SIDE["env"], {"name": "HABANA_VISIBLE_DEVICES", "value": "all"}]),
    "Ascend's variable": more("M2", "device", env=[*SIDE["env"], {"name": "ASCEND_VISIBLE_DEVICES", "value": "0-7"}]),
    "adapters by a variable": more("M2", "device", env=[*SIDE["env"], {"name": "NVIDIA_MOFED", "value": "enabled"}]),
    "channels by a variable": more(
        "M2", "device", env=[*SIDE["env"], {"name": "NVIDIA_IMEX_CHANNELS", "value": "all"}]
    ),
    "MIG by a variable": more(
        "M2", "device", env=[*SIDE["env"], {"name": "NVIDIA_MIG_CONFIG_DEVICES", "value": "all"}]
    ),
    "the variable left to the image": more("M2", "device", env=[]),
    "the variable left to the image, wherever the pod lands": pod(
        "M2", "device", nodeSelector=None, containers=[{**SIDE, "env": []}]
    ),
    "the runtime of NVIDIA": pod("M2", "device", runtimeClassName="nvidia"),
    "a Secret as a volume": volume("M3", "secret", secret={"secretName": "other"}),
    "a Secret as files among others": volume("M3", "secret", projected={"sources": [{"secret": {"name": "other"}}]}),
    "a Secret as a variable": more(
        "M3", "secret", env=[*SIDE["env"], {"name": "X", "valueFrom": {"secretKeyRef": {"name": "other", "key": "x"}}}]
    ),
    "a Secret as variables": more("M3", "secret", envFrom=[{"secretRef": {"name": "other"}}]),
    "a Secret of a registry": pod("M3", "secret", imagePullSecrets=[{"name": "other"}]),
    "another's ConfigMap": volume("M3", "config", configMap={"name": "other"}),
    "an account that is not listed": pod("M3", "account", serviceAccountName="someone"),
    "an account by its old name": pod("M3", "account", serviceAccount="someone"),
    "a token of nobody in particular": pod("M3", "account", automountServiceAccountToken=True),
    "a token by default": pod("M3", "account", automountServiceAccountToken=None),
    "kube2iam": noted("M4", annotations={"iam.amazonaws.com/role": "ads-production"}),
    "Vault": noted("M4", annotations={"vault.hashicorp.com/role": "ads"}),
    "Calico": noted("M4", annotations={"cni.projectcalico.org/ipAddrs": '["10.0.0.1"]'}),
    "Multus' default network": noted("M4", annotations={"v1.multus-cni.io/default-network": "kube-system/x"}),
    "a network that is not the fabric's": noted("M4", annotations={"k8s.v1.cni.cncf.io/networks": "ads/rail-0"}),
    "devices of CRI-O": noted("M4", annotations={"io.kubernetes.cri-o.Devices": "/dev/sda"}),
    "a profile by annotation": noted(
        "M4", annotations={"container.apparmor.security.beta.kubernetes.io/side": "unconfined"}
    ),
    "Istio": noted("M4", labels={"sidecar.istio.io/inject": "true"}),
    "Grafana": noted("M4", labels={"grafana_dashboard": "1"}),
    "an identity of Azure's by a plain word": noted("M4", labels={"aadpodidbinding": "ads"}),
    "another's workload": noted("M4", labels={"kueue.x-k8s.io/prebuilt-workload-name": "ads"}),
    "another team's label": noted("M4", labels={"trainyard.dev/team": "ads"}),
    "another run's label": noted("M4", labels={"trainyard.dev/run": "other-aaaaaaaa"}),
    "files with a token of nobody in particular": volume(
        "M3", "account", projected={"sources": [{"serviceAccountToken": {"path": "token", "audience": "vault"}}]}
    ),
    "no GPUs that are said to be some": more(
        "M2",
        "device",
        env=[],
        resources={**SIDE["resources"], "limits": {**SIDE["resources"]["limits"], "nvidia.com/gpu": 0}},
    ),
    "another device of NVIDIA's": more(
        "M2",
        "device",
        env=[],
        resources={**SIDE["resources"], "limits": {**SIDE["resources"]["limits"], "nvidia.com/hostdev": 1}},
    ),
    "a pool by affinity alone": pod("M2", "device", nodeSelector=None, containers=[{**SIDE, "env": []}]),
    "a digest with a line after it": more("H7", "digest", image=IMAGE + "\n"),
    "a policy of names that is a map": pod("C3", "host", dnsPolicy={}),
    "a taint whose name is a list": pod("H2", "place", tolerations=[{"key": ["x"], "operator": "Exists"}]),
    "31 years to end": pod("M5", "grace", terminationGracePeriodSeconds=1_000_000_000),
    "a hook that sleeps": more("M5", "grace", lifecycle={"preStop": {"sleep": {"seconds": 1_000_000}}}),
    "a probe that ends late": more(
        "M5", "grace", livenessProbe={"exec": {"command": ["true"]}, "terminationGracePeriodSeconds": 10_000_000}
    ),
    "an owner": noted("M5", "controller", ownerReferences=[{"name": "x"}]),
    "a finalizer": noted("M5", "controller", finalizers=["example.com/stay"]),
    "no resources": more("M5", "resources", resources=None),
    "requests of nothing": more(
        "M5",
        "resources",
        resources={"requests": {"cpu": "0", "memory": "0"}, "limits": {"cpu": "500", "memory": "1Ti"}},
    ),
    "requests of little": more(
        "M5",
        "resources",
        resources={"requests": {"cpu": "1m", "memory": "1Mi"}, "limits": {"cpu": "500", "memory": "1Ti"}},
    ),
    "memory without a limit": more("M5", "resources", resources={"requests": {"cpu": "1", "memory": "1Gi"}}),
    "no CPU": more("M5", "resources", resources={"requests": {"memory": "1Gi"}, "limits": {"memory": "1Gi"}}),
    "resources of the pod alone": pod("M5", "resources", resources={"limits": {"cpu": "500"}}),
}
"""Tries in pods, which every kind has."""

SERVICE = {
    "addresses of others": {"externalIPs": ["10.8.0.10", "8.8.8.8"]},
    "an address of the cluster": {"clusterIP": None},
    "a given address": {"clusterIP": "10.0.0.10"},
    "a load balancer": {"type": "LoadBalancer"},
    "ports of nodes": {"type": "NodePort"},
    "a number of a node's port": {"ports": [{"port": 29500, "nodePort": 30000}]},
    "a name of the world": {"type": "ExternalName", "externalName": "example.net"},
    "a range of sources": {"loadBalancerSourceRanges": ["0.0.0.0/0"]},
    "no selector": {"selector": None},
}

RAY = {
    "a Service of the head": ("RayCluster", {"spec": {"headGroupSpec": {"headService": {"spec": {}}}}}, "service"),
    "a head on nodes' ports": ("RayCluster", {"spec": {"headGroupSpec": {"serviceType": "NodePort"}}}, "service"),
    "an ingress": ("RayCluster", {"spec": {"headGroupSpec": {"enableIngress": True}}}, "service"),
    "what the Service says": ("RayCluster", {"spec": {"headServiceAnnotations": {"a/b": "c"}}}, "service"),
    "Redis": ("RayCluster", {"spec": {"gcsFaultToleranceOptions": {"redisAddress": "10.0.0.1"}}}, "secret"),
    "an autoscaler": ("RayCluster", {"spec": {"autoscalerOptions": {"image": ELSEWHERE}}}, "security"),
    "another's cluster": ("RayJob", {"spec": {"clusterSelector": {"ray.io/cluster": "other"}}}, "object"),
    "another's controller for Ray": ("RayJob", {"spec": {"managedBy": "kueue.x-k8s.io/multikueue"}}, "controller"),
    "claims of a JobSet": ("JobSet", {"spec": {"volumeClaimPolicies": [{"templates": []}]}}, "field"),
    "another's controller": ("JobSet", {"spec": {"managedBy": "kueue.x-k8s.io/multikueue"}}, "controller"),
    "claims of a set": ("LeaderWorkerSet", {"spec": {"leaderWorkerTemplate": {"volumeClaimTemplates": []}}}, "volume"),
    "a Job that adopts": ("Job", {"spec": {"manualSelector": True, "selector": {}}}, "controller"),
    "claims of Volcano": ("VolcanoJob", {"spec": {"volumes": [{"mountPath": "/x", "volumeClaim": CLAIM}]}}, "volume"),
    "a class of Volcano": ("VolcanoJob", {"spec": {"priorityClassName": "system-cluster-critical"}}, "priority"),
    "a queue of Volcano": ("VolcanoJob", {"spec": {"queue": "production"}}, "queue"),
    "a class of a gang": (
        "PyTorchJob",
        {"spec": {"runPolicy": {"schedulingPolicy": {"priorityClass": "system-cluster-critical"}}}},
        "priority",
    ),
    "a queue of a gang": (
        "TFJob",
        {"spec": {"runPolicy": {"schedulingPolicy": {"queue": "production"}}}},
        "queue",
    ),
    "a trainer's image": ("TrainJob", {"spec": {"trainer": {"image": ELSEWHERE}}}, "image"),
    "a trainer's variable": (
        "TrainJob",
        {"spec": {"trainer": {"env": [{"name": "X", "valueFrom": {"secretKeyRef": {"name": "other", "key": "x"}}}]}}},
        "secret",
    ),
    "more of a node than quota counts": (
        "TrainJob",
        {
            "spec": {
                "trainer": {
                    "resourcesPerNode": {
                        "requests": {"cpu": "1m", "memory": "1Mi"},
                        "limits": {"cpu": "500", "memory": "1Ti"},
                    }
                }
            }
        },
        "resources",
    ),
    "an account in a patch of the runtime": ("TrainJob", patched(serviceAccountName="someone"), "account"),
    "the node's network in a patch of the runtime": ("TrainJob", patched(hostNetwork=True), "host"),
    "a token in a patch of the runtime": (
        "TrainJob",
        patched(volumes=[{"name": "t", "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}}]),
        "account",
    ),
    "no labels": ("JobSet", {"metadata": {"labels": None}}, "label"),
    "an initializer's Secret": (
        "TrainJob",
        {"spec": {"initializer": {"dataset": {"secretRef": {"name": "other"}}}}},
        "secret",
    ),
}
"""Tries in the objects around pods: kind, patch of the workload, and what is refused."""

OBJECTS: dict[str, tuple[str, dict[str, Any], str]] = {
    "Argo CD leaves it": ("M1", {"annotations": MANAGED}, "label"),
    "Argo CD starts it anew": (
        "M1",
        {"annotations": {"argocd.argoproj.io/sync-options": "Force=true,Replace=true"}},
        "label",
    ),
    "Argo CD's hook": ("M1", {"annotations": {"argocd.argoproj.io/hook": "PreSync"}}, "label"),
    "Argo CD's wave": ("M1", {"annotations": {"argocd.argoproj.io/sync-wave": "5"}}, "label"),
    "Argo CD's comparison": (
        "M1",
        {"annotations": {"argocd.argoproj.io/compare-options": "IgnoreExtraneous"}},
        "label",
    ),
    "Helm's hook": ("M1", {"annotations": {"helm.sh/hook": "pre-install"}}, "label"),
    "Helm's policy": ("M1", {"annotations": {"helm.sh/resource-policy": "keep"}}, "label"),
    "another team": ("M1", {"labels": {"trainyard.dev/team": "ads"}}, "label"),
    "another run": ("M1", {"labels": {"trainyard.dev/run": "other-aaaaaaaa"}}, "label"),
    "another job": ("M1", {"labels": {"trainyard.dev/job": "other"}}, "label"),
    "nobody's": ("M1", {"labels": {"trainyard.dev/run": None}}, "label"),
    "another's priority": ("H1", {"labels": {"kueue.x-k8s.io/priority-class": "high"}}, "priority"),
    "another queue": ("H1", {"labels": {"kueue.x-k8s.io/queue-name": "production"}}, "queue"),
    "another's workload by label": ("H1", {"labels": {"kueue.x-k8s.io/prebuilt-workload-name": "x"}}, "label"),
    "an owner of it": ("M5", {"ownerReferences": [{"name": "x"}]}, "controller"),
    "a finalizer of it": ("M5", {"finalizers": ["example.com/stay"]}, "controller"),
}
"""Tries in the metadata of every object: number, what the metadata has more, and what is refused."""

RIGHT: dict[str, dict[str, Any]] = {
    "nothing": {},
    "a sidecar": {"spec": {"containers": [SIDE]}},
    "memory": {"spec": {"volumes": [{"name": "v0", "emptyDir": {"medium": "Memory"}}]}},
    "a Secret of the team": {"spec": {"volumes": [{"name": "v1", "secret": {"secretName": "tokens"}}]}},
    "a claim of the team": {
        "spec": {"volumes": [{"name": "v2", "persistentVolumeClaim": {"claimName": "checkpoints"}}]}
    },
    "certificates": {"spec": {"volumes": [{"name": "v3", "configMap": {"name": "kube-root-ca.crt"}}]}},
    "an image of data": {"spec": {"volumes": [{"name": "v4", "image": {"reference": IMAGE}}]}},
    "an account of the team": {"spec": {"serviceAccountName": "reader", "automountServiceAccountToken": True}},
    "a plain word": {"metadata": {"labels": {"stage": "one"}, "annotations": {"a-note": "any"}}},
    "the company's own group": {"metadata": {"labels": {"example.com/stage": "one", "x.example.com/y": "z"}}},
    "near its own pods": {
        "spec": {
            "affinity": {
                "podAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": [
                        {"topologyKey": "kubernetes.io/hostname", "labelSelector": {}, "namespaces": ["nlp"]}
                    ]
                }
            }
        }
    },
    "an hour to end": {"spec": {"terminationGracePeriodSeconds": 3600}},
    "a probe": {"spec": {"containers": [{**SIDE, "livenessProbe": {"httpGet": {"path": "/", "port": 8080}}}]}},
    "a library's choice of GPUs": {
        "spec": {"containers": [{**SIDE, "env": [*SIDE["env"], {"name": "CUDA_VISIBLE_DEVICES", "value": "0"}]}]}
    },
}
"""Patches of pods that are right."""


def rendered(kind: str, *patches: dict[str, Any], name: str = "train", **job: Any) -> list[dict[str, Any]]:
    """Return the objects of a run of a kind, by the first launcher that it takes."""
    for launcher in ("torchrun", *launchers()):
        run = make_run(kind=kind, cluster=CLUSTER, team=TEAM, launcher=launcher, **job)
        roles = launchers()[launcher].roles(run)
        if kinds()[kind].can(launchers()[launcher].wants(run, roles), roles):
            said = [{"reason": "a test", **each} for each in patches]
            resolved = make_resolved(
                name, kind=kind, cluster=CLUSTER, team=TEAM, launcher=launcher, patches=said or None, **job
            )
            return [each.value() for each in build(resolved)]
    raise LookupError(kind)


def everything() -> Allowance:
    """Return what the team may use, with all kinds that there are."""
    known = frozenset({each for kind in kinds().values() for each in kind.objects})
    schedulers = (*ALLOWED.lists["schedulers"], "volcano")
    return Allowance("nlp", {**ALLOWED.lists, "schedulers": schedulers}, known)


def found(values: list[dict[str, Any]], allowed: Allowance | None = None) -> Iterator[Breach]:
    """Yield what of objects no run may be."""
    for value in values:
        yield from breaches(value, allowed or everything(), run=value["metadata"]["name"])


def target(kind: str) -> str:
    """Return what patches call a kind's workload."""
    return kinds()[kind].object_kind


def with_metadata(value: dict[str, Any], more_: dict[str, Any]) -> dict[str, Any]:
    """Return an object whose metadata says more; None takes away."""
    metadata = dict(value["metadata"])
    for key, said in more_.items():
        merged = {**metadata.get(key, {}), **said} if isinstance(said, dict) else said
        metadata[key] = (
            {name: text for name, text in merged.items() if text is not None} if isinstance(merged, dict) else merged
        )
    return {**value, "metadata": metadata}
