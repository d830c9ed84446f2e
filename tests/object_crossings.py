"""Tries in the objects around pods: workloads, Services, and the metadata of each; and what is right."""

from __future__ import annotations

from typing import Any

from make import IMAGE
from tenant_crossings import CLAIM, ELSEWHERE, MANAGED, SIDE, patched
from trainyard.base.labels import POOL

TORCH = {"kind": "ClusterTrainingRuntime", "name": "torch"}
LITTLE: dict[str, dict[str, Any]] = {
    item: {"cpu": "1", "memory": "1Gi", "ephemeral-storage": "1Gi"} for item in ("limits", "requests")
}
WITHOUT_DISK = {item: {"cpu": "1", "memory": "1Gi"} for item in ("limits", "requests")}
METRICS = [{"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization"}}}]
GPU = {"nvidia.com/gpu": 1}
WITH_GPU = {**SIDE, "env": [], "resources": {key: {**said, **GPU} for key, said in SIDE["resources"].items()}}


def on_pools(*pools: str, **spec: Any) -> dict[str, Any]:
    """Return a patch of a TrainJob by which it patches its nodes to pools, one after the other."""
    (patch,) = patched()["spec"]["runtimePatches"]
    found = []
    for index, pool in enumerate(pools):
        (value,) = patched(nodeSelector={POOL: pool})["spec"]["runtimePatches"]
        found.append({**value, "manager": f"{patch['manager']}-{index}"})
    return {"spec": {**spec, "runtimePatches": found}}


def in_runtime(**context: Any) -> dict[str, Any]:
    """Return a patch of a TrainJob by which it patches the rights of its runtime's container."""
    return patched(containers=[{"name": "node", "securityContext": context}])


def launcher(container: dict[str, Any], field: str = "containers") -> dict[str, Any]:
    """Return a patch of an MPIJob that gives its launcher a container more."""
    return {"spec": {"mpiReplicaSpecs": {"Launcher": {"template": {"spec": {field: [container]}}}}}}


def group(**more: Any) -> dict[str, Any]:
    """Return a patch of a Ray cluster's workers."""
    return {"spec": {"workerGroupSpecs": [{"groupName": "worker", **more}]}}


def in_job(cluster: dict[str, Any]) -> dict[str, Any]:
    """Return a patch of a Ray cluster as one of a RayJob."""
    return {"spec": {"rayClusterSpec": cluster["spec"]}}


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

WORKLOADS: dict[str, tuple[str, dict[str, Any], str]] = {
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
    "a runtime of the cluster that nobody gives": (
        "TrainJob",
        {"spec": {"runtimeRef": {"kind": "ClusterTrainingRuntime", "name": "privileged"}}},
        "object",
    ),
    "a runtime of the cluster by default": (
        "TrainJob",
        {"spec": {"runtimeRef": {"kind": None, "name": "privileged"}}},
        "object",
    ),
    "another run's runtime": ("TrainJob", {"spec": {"runtimeRef": {"name": "other-aaaaaaaa"}}}, "object"),
    "a runtime of another API": ("TrainJob", {"spec": {"runtimeRef": {"apiGroup": "example.com"}}}, "field"),
    "the platform's runtime without resources": ("TrainJob", {"spec": {"runtimeRef": TORCH}}, "resources"),
    "the platform's runtime without a limit of disk": (
        "TrainJob",
        {"spec": {"runtimeRef": TORCH, "trainer": {"resourcesPerNode": WITHOUT_DISK, "env": SIDE["env"]}}},
        "resources",
    ),
    "the platform's runtime without GPUs": (
        "TrainJob",
        {"spec": {"runtimeRef": TORCH, "trainer": {"resourcesPerNode": LITTLE}}},
        "device",
    ),
    "the platform's runtime without GPUs on two pools": (
        "TrainJob",
        on_pools("cpu", "gpu", runtimeRef=TORCH, trainer={"resourcesPerNode": LITTLE}),
        "device",
    ),
    "the run's own runtime without its GPUs": (
        "TrainJob",
        {"spec": {"trainer": {"resourcesPerNode": {**LITTLE, "limits": {**LITTLE["limits"], "nvidia.com/gpu": 0}}}}},
        "device",
    ),
    "the run's own runtime without its GPUs, said to be elsewhere": (
        "TrainJob",
        on_pools("cpu", trainer={"resourcesPerNode": LITTLE}),
        "device",
    ),
    "the run's own runtime on another pool": ("TrainJob", on_pools("gpu"), "device"),
    "a launcher's second container": ("MPIJob", launcher({**SIDE, "env": []}), "device"),
    "a launcher's container before it": ("MPIJob", launcher({**SIDE, "env": []}, field="initContainers"), "device"),
    "a launcher that its sidecar's GPUs unblind": ("MPIJob", launcher(WITH_GPU), "device"),
    "a launcher that trains": ("MPIJob", {"spec": {"runLauncherAsWorker": True}}, "device"),
    "an autoscaler of PyTorch's": ("PyTorchJob", {"spec": {"elasticPolicy": {"metrics": METRICS}}}, "resources"),
    "an autoscaler of Paddle's": ("PaddleJob", {"spec": {"elasticPolicy": {"metrics": METRICS}}}, "resources"),
    "an elastic policy that nobody knows yet": ("PyTorchJob", {"spec": {"elasticPolicy": {"x": 1}}}, "resources"),
    "more workers of Ray than quota counts": ("RayCluster", group(replicas=0, minReplicas=8), "resources"),
    "more workers of Ray's job than quota counts": ("RayJob", in_job(group(replicas=0, minReplicas=8)), "resources"),
    "a driver submitted from the head": ("RayJob", {"spec": {"submissionMode": "SidecarMode"}}, "device"),
    "a driver submitted by nobody's pod": ("RayJob", {"spec": {"submitterPodTemplate": None}}, "device"),
    "workers that stay when the launcher has ended": (
        "MPIJob",
        {"spec": {"runPolicy": {"cleanPodPolicy": "None"}}},
        "resources",
    ),
    "pods that stay by default": ("PyTorchJob", {"spec": {"runPolicy": {"cleanPodPolicy": None}}}, "resources"),
    "no word on pods that stay": ("TFJob", {"spec": {"runPolicy": None}}, "resources"),
    "a role that nobody counts": ("TFJob", {"spec": {"tfReplicaSpecs": {"Ghost": {"replicas": 8}}}}, "field"),
    "a role of PyTorch's that nobody counts": (
        "PyTorchJob",
        {"spec": {"pytorchReplicaSpecs": {"Evaluator": {"replicas": 8}}}},
        "field",
    ),
    "a Ray cluster that outlives its job": ("RayJob", {"spec": {"ttlSecondsAfterFinished": 10**9}}, "resources"),
    "a Ray cluster that nobody ends": ("RayJob", {"spec": {"shutdownAfterJobFinishes": False}}, "resources"),
    "a Ray cluster that a strategy keeps": (
        "RayJob",
        {"spec": {"deletionStrategy": {"onSuccess": {"policy": "DeleteNone"}}}},
        "resources",
    ),
    "no queue of Volcano's": ("VolcanoJob", {"spec": {"queue": None}}, "queue"),
    "a scheduler that knows no queues": ("VolcanoJob", {"spec": {"schedulerName": "default-scheduler"}}, "place"),
    "no queue": ("JobSet", {"metadata": {"labels": {"kueue.x-k8s.io/queue-name": None}}}, "queue"),
    "no queue of a Ray job": ("RayJob", {"metadata": {"labels": {"kueue.x-k8s.io/queue-name": None}}}, "queue"),
    "root by a patch of the runtime": ("TrainJob", in_runtime(runAsUser=0), "security"),
    "who may be root by a patch of the runtime": ("TrainJob", in_runtime(runAsNonRoot=False), "security"),
    "escalation by a patch of the runtime": ("TrainJob", in_runtime(allowPrivilegeEscalation=True), "security"),
    "capabilities by a patch of the runtime": ("TrainJob", in_runtime(capabilities={"drop": []}), "security"),
    "root of the whole pod by a patch of the runtime": (
        "TrainJob",
        patched(securityContext={"runAsUser": 0, "runAsNonRoot": False}),
        "security",
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
    "a pattern that its job matches": ("M1", {"labels": {"trainyard.dev/job": "t.ain"}}, "label"),
    "a job longer than its name": ("M1", {"labels": {"trainyard.dev/job": "train" * 12}}, "label"),
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
    "a probe of itself": {"spec": {"containers": [{**SIDE, "startupProbe": {"grpc": {"port": 8080}}}]}},
    "variables of a Secret": {
        "spec": {
            "containers": [
                {
                    **SIDE,
                    "envFrom": [{"prefix": item, "secretRef": {"name": "tokens"}} for item in ("WANDB_", "NV_API_")],
                }
            ]
        }
    },
    "devices from the team's template": {
        "spec": {"resourceClaims": [{"name": "c", "resourceClaimTemplateName": "gpus"}]}
    },
    "an hour to end": {"spec": {"terminationGracePeriodSeconds": 3600}},
    "a probe": {"spec": {"containers": [{**SIDE, "livenessProbe": {"httpGet": {"path": "/", "port": 8080}}}]}},
    "a library's choice of GPUs": {
        "spec": {"containers": [{**SIDE, "env": [*SIDE["env"], {"name": "CUDA_VISIBLE_DEVICES", "value": "0"}]}]}
    },
}
"""Patches of pods that are right."""

LARGE: dict[str, Any] = {
    "spec": {
        "containers": [
            {
                **SIDE,
                "name": f"side-{index}",
                "env": [*SIDE["env"], *({"name": f"V{n}", "value": "x"} for n in range(100))],
            }
            for index in range(8)
        ],
        "volumes": [{"name": f"v-{index}", "emptyDir": {}} for index in range(50)],
    },
    "metadata": {"labels": {f"example.com/label-{index}": "x" for index in range(50)}},
}
"""A patch that makes pods as large as anybody's, which is right."""

RIGHT_WORKLOADS: dict[str, tuple[str, dict[str, Any]]] = {
    "the platform's runtime with GPUs": (
        "TrainJob",
        {
            "spec": {
                "runtimeRef": TORCH,
                "trainer": {"resourcesPerNode": {key: {**said, **GPU} for key, said in LITTLE.items()}},
            }
        },
    ),
    "the platform's runtime on a pool without GPUs": (
        "TrainJob",
        on_pools("cpu", runtimeRef=TORCH, trainer={"resourcesPerNode": LITTLE}),
    ),
    "the platform's runtime that sees no GPUs": (
        "TrainJob",
        {"spec": {"runtimeRef": TORCH, "trainer": {"resourcesPerNode": LITTLE, "env": SIDE["env"]}}},
    ),
    "rights that take nothing away": (
        "TrainJob",
        in_runtime(runAsUser=1001, capabilities={"drop": ["ALL"]}, readOnlyRootFilesystem=True),
    ),
    "a launcher with a sidecar that sees none": ("MPIJob", launcher(SIDE)),
    "bounds of an elastic job": (
        "PyTorchJob",
        {"spec": {"elasticPolicy": {"minReplicas": 1, "maxReplicas": 8, "rdzvBackend": "c10d"}}},
    ),
    "a driver that is submitted without a pod": ("RayJob", {"spec": {"submissionMode": "HTTPMode"}}),
    "fewer workers of Ray": ("RayCluster", group(replicas=2, minReplicas=1)),
}
"""Patches of workloads that are right."""
