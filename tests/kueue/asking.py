"""Cases by chance of jobs of every kind that Kueue knows, with what changes their requests around them."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from kueue.question import Object

NAMES = ("cpu", "memory", "example.com/gpu", "ephemeral-storage", "hugepages-2Mi", "nvidia.com/mig-1g.10gb")
AMOUNTS = {
    "cpu": ["0", 1, 2, "250m", "1500m", "0.1", "2.5", "1k", "0.0005"],
    "memory": ["1Gi", "512Mi", "1G", "1500M", "0.5Gi", "1e9", "128974848000m", 123456789],
    "example.com/gpu": [0, 1, 2, "8"],
    "ephemeral-storage": ["1Gi", "10G"],
    "hugepages-2Mi": ["2Mi", "1Gi"],
    "nvidia.com/mig-1g.10gb": [1, 2],
}
"""Quantities as people write them."""

Chance = random.Random


def case(seed: int) -> Object:
    """Return the case of a seed, the same each time."""
    chance = Chance(f"jobs {seed}")
    kinds = chance.sample(sorted(KINDS), k=chance.choice([1, 2, 3]))
    jobs = [item for index, kind in enumerate(kinds) for item in KINDS[kind](chance, f"{kind.lower()}-{index}")]
    config: Object = {"featureGates": {"PartialAdmission": chance.random() < 0.9}}
    if chance.random() < 0.4:
        config["resources"] = drawn_config(chance)
    return {"name": str(seed), "config": config, "objects": [*around(chance), *jobs]}


def around(chance: Chance) -> list[Object]:
    """Return what stands around jobs: limits of the namespace, runtime classes, priorities."""
    found: list[Object] = []
    for index in range(chance.choice([0, 0, 1, 2])):
        metadata = {"name": f"range-{index}", "namespace": "default"}
        spec = {"limits": [drawn_limit(chance) for _ in range(chance.choice([1, 2]))]}
        found.append({"apiVersion": "v1", "kind": "LimitRange", "metadata": metadata, "spec": spec})
    runtime: Object = {
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "metadata": {"name": "vm"},
        "handler": "vm",
    }
    found.append({**runtime, "overhead": {"podFixed": amounts(chance, "cpu", "memory")}})
    for name, value in (("urgent", 7), ("idle", -3)):
        metadata = {"name": name}
        found.append(
            {
                "apiVersion": "kueue.x-k8s.io/v1beta2",
                "kind": "WorkloadPriorityClass",
                "metadata": metadata,
                "value": value,
            }
        )
    for name, value in (("batch", 3), ("fallback", 1)):
        default = {"globalDefault": True} if name == "fallback" and chance.random() < 0.3 else {}
        metadata = {"name": name}
        found.append(
            {
                "apiVersion": "scheduling.k8s.io/v1",
                "kind": "PriorityClass",
                "metadata": metadata,
                "value": value,
                **default,
            }
        )
    return found


def amounts(chance: Chance, *names: str) -> Object:
    """Return amounts of some resources."""
    return {name: chance.choice(AMOUNTS[name]) for name in names if chance.random() < 0.6}


def drawn_limit(chance: Chance) -> Object:
    """Return one item of a LimitRange."""
    item: Object = {"type": chance.choice(["Container", "Container", "Pod"])}
    for field in ("default", "defaultRequest", "max", "min"):
        if chance.random() < (0.6 if field.startswith("default") else 0.12):
            item[field] = whole(amounts(chance, "cpu", "memory", "ephemeral-storage"))
    return item


def whole(found: Object) -> Object:
    """Return amounts without fractions of binary units, which no API server stores.

    Kueue adds the overhead to such an amount of a whole pod once more each time it is asked: it changes it in place.
    """
    return {name: amount for name, amount in found.items() if amount != "0.5Gi"}


def drawn_config(chance: Chance) -> Object:
    """Return exclusions and transformations of Kueue's configuration."""
    found: Object = {}
    if chance.random() < 0.6:
        found["excludeResourcePrefixes"] = chance.sample(["nvidia.com/", "example.com/", "eph", "hugepages-"], k=2)
    rules = []
    for name in chance.sample(
        ["example.com/gpu", "nvidia.com/mig-1g.10gb", "cpu", "memory"], k=chance.choice([0, 1, 2, 3])
    ):
        outputs = {
            output: chance.choice([1, "2", "500m", "5Gi", "-1", "-2"])
            for output in chance.sample(
                ["example.com/credits", "example.com/mem", "cpu", "memory"], k=chance.choice([1, 2])
            )
        }
        rule: Object = {"input": name, "outputs": outputs, "strategy": chance.choice(["Retain", "Replace"])}
        if chance.random() < 0.3:
            rule["multiplyBy"] = chance.choice(["cpu", "example.com/gpu", "memory"])
        rules.append(rule)
    return {**found, "transformations": rules} if rules else found


def resources(chance: Chance) -> Object:
    """Return requests and limits, often one of them alone."""
    found: Object = {}
    for field, odds in (("requests", 0.85), ("limits", 0.4)):
        if chance.random() < odds:
            found[field] = amounts(chance, *NAMES[: 2 if chance.random() < 0.5 else 6])
    return found


def template(chance: Chance) -> Object:
    """Return a pod template."""
    spec: Object = {"containers": [container(chance, f"c{index}") for index in range(chance.choice([1, 1, 2]))]}
    if chance.random() < 0.35:
        spec["initContainers"] = [
            {**container(chance, f"i{index}"), **({"restartPolicy": "Always"} if chance.random() < 0.5 else {})}
            for index in range(chance.choice([1, 2, 3]))
        ]
    if chance.random() < 0.15:
        spec["resources"] = {field: whole(found) for field, found in resources(chance).items()}
    if chance.random() < 0.2:
        spec["runtimeClassName"] = chance.choice(["vm", "vm", "gone"])
    if chance.random() < 0.1:
        spec["overhead"] = amounts(chance, "cpu", "memory")
    if chance.random() < 0.2:
        spec["priorityClassName"] = chance.choice(["batch", "batch", "gone"])
    if chance.random() < 0.2:
        spec["nodeSelector"] = {"b": "2", "a": "1"}
    if chance.random() < 0.15:
        spec["tolerations"] = [
            {"key": "k", "operator": "Exists"},
            {"value": "<v>", "key": "k2", "effect": "NoSchedule"},
        ]
    if chance.random() < 0.1:
        term = {"matchExpressions": [{"key": "k", "operator": "In", "values": ["v"]}]}
        required = {"nodeSelectorTerms": [term]}
        spec["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    notes = annotations(chance)
    return {"metadata": {"annotations": notes}, "spec": spec} if notes else {"spec": spec}


def container(chance: Chance, name: str) -> Object:
    """Return a container."""
    found: Object = {"name": name, "image": "i"}
    if chance.random() < 0.9:
        found["resources"] = resources(chance)
    if chance.random() < 0.1:
        found["ports"] = [{"containerPort": 80, "name": "http"}]
    return found


def annotations(chance: Chance) -> Object:
    """Return annotations on topology, sense and nonsense."""
    prefix = "kueue.x-k8s.io/podset-"
    found: Object = {}
    kind = chance.choice(["", "", "required", "preferred", "unconstrained"])
    if kind:
        found[f"{prefix}{kind}-topology"] = (
            chance.choice(["true", "1", "F", "no"]) if kind == "unconstrained" else "rack"
        )
    if chance.random() < 0.2:
        found[f"{prefix}slice-required-topology"] = "host"
    if chance.random() < 0.25:
        found[f"{prefix}slice-size"] = chance.choice(["2", "4", "x", "+3"])
    if chance.random() < 0.1:
        layers = ['[{"topology":"rack","size":4}]', "[]", '[{"topology":"rack","size":4},{"topology":"host","size":2}]']
        found[f"{prefix}slice-required-topology-constraints"] = chance.choice(layers)
    if chance.random() < 0.15:
        found[f"{prefix}group-name"] = "g"
    return found


def metadata(chance: Chance, name: str, **notes: str) -> Object:
    """Return the metadata of a job."""
    labels = {"kueue.x-k8s.io/queue-name": "lq"}
    if chance.random() < 0.2:
        labels["kueue.x-k8s.io/priority-class"] = chance.choice(["urgent", "idle", "gone"])
    return {"name": name, "labels": labels, **({"annotations": notes} if notes else {})}


def maybe(chance: Chance, **fields: Any) -> Object:
    """Return fields, each there or not."""
    return {name: value for name, value in fields.items() if chance.random() < 0.7}


def job_spec(chance: Chance) -> Object:
    """Return the specification of a Job."""
    return {
        **maybe(chance, parallelism=chance.randint(0, 5), completions=chance.randint(1, 5)),
        "template": template(chance),
    }


def job(chance: Chance, name: str) -> list[Object]:
    """Return a Job."""
    notes = {"kueue.x-k8s.io/job-min-parallelism": chance.choice(["2", "x", "-1"])} if chance.random() < 0.3 else {}
    return [
        {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata(chance, name, **notes), "spec": job_spec(chance)}
    ]


def replicated(chance: Chance) -> list[Object]:
    """Return the jobs of a JobSet."""
    return [
        {"name": f"job{index}", **maybe(chance, replicas=chance.randint(0, 3)), "template": {"spec": job_spec(chance)}}
        for index in range(chance.choice([1, 2, 3]))
    ]


def jobset(chance: Chance, name: str) -> list[Object]:
    """Return a JobSet."""
    spec = {"replicatedJobs": replicated(chance)}
    return [
        {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": metadata(chance, name), "spec": spec}
    ]


def trainjob(chance: Chance, name: str) -> list[Object]:
    """Return a TrainJob with its runtime."""
    step = "trainer.kubeflow.org/trainjob-ancestor-step"
    node = template(chance)
    node["spec"]["containers"][0]["name"] = "node"
    jobs: list[Object] = [
        {"name": "node", "template": {"metadata": {"labels": {step: "trainer"}}, "spec": {"template": node}}}
    ]
    if chance.random() < 0.4:
        first = template(chance)
        first["spec"]["containers"][0]["name"] = "dataset-initializer"
        label = {"labels": {step: "dataset-initializer"}}
        jobs.insert(0, {"name": "dataset-initializer", "template": {"metadata": label, "spec": {"template": first}}})
    policy: Object = {
        **maybe(chance, numNodes=chance.randint(1, 3)),
        **({"torch": {}} if chance.random() < 0.8 else {}),
    }
    kind = chance.choice(["ClusterTrainingRuntime", "TrainingRuntime"])
    runtime = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": kind,
        "metadata": {"name": f"{name}-runtime", "labels": {"trainer.kubeflow.org/framework": "torch"}},
        "spec": {**({"mlPolicy": policy} if policy else {}), "template": {"spec": {"replicatedJobs": jobs}}},
    }
    trainer = maybe(chance, numNodes=chance.randint(1, 4), resourcesPerNode=resources(chance))
    reference: Object = {"name": f"{name}-runtime" if chance.random() < 0.95 else "gone"}
    if kind == "TrainingRuntime" or chance.random() < 0.3:
        reference["kind"] = kind
    spec = {"runtimeRef": reference, **({"trainer": trainer} if trainer else {})}
    made = {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob", "metadata": metadata(chance, name)}
    return [runtime, {**made, "spec": spec}]


def kubeflow(kind: str, field: str, *roles: str) -> Callable[[Chance, str], list[Object]]:
    """Return what draws one of Kubeflow's jobs."""

    def draw(chance: Chance, name: str) -> list[Object]:
        there = [role for role in roles if chance.random() < 0.7] or [roles[-1]]
        chance.shuffle(there)
        specs = {role: {**maybe(chance, replicas=chance.randint(0, 4)), "template": template(chance)} for role in there}
        policy = {"schedulingPolicy": {"priorityClass": "batch"}} if chance.random() < 0.2 else {}
        version = "v2beta1" if kind == "MPIJob" else "v1"
        spec = {field: specs, **({"runPolicy": policy} if policy else {})}
        return [
            {"apiVersion": f"kubeflow.org/{version}", "kind": kind, "metadata": metadata(chance, name), "spec": spec}
        ]

    return draw


def cluster_spec(chance: Chance) -> Object:
    """Return the specification of a Ray cluster."""
    groups = [
        {
            "groupName": f"Group{index}",
            "rayStartParams": {},
            **maybe(chance, replicas=chance.randint(0, 3), numOfHosts=chance.randint(1, 3)),
            "template": template(chance),
        }
        for index in range(chance.choice([0, 1, 2]))
    ]
    found: Object = {
        "headGroupSpec": {"rayStartParams": {}, "template": template(chance)},
        **({"workerGroupSpecs": groups} if groups else {}),
    }
    if chance.random() < 0.3:
        found["enableInTreeAutoscaling"] = chance.random() < 0.8
        if chance.random() < 0.4:
            found["autoscalerOptions"] = {"resources": resources(chance)}
    if chance.random() < 0.15:
        found["gcsFaultToleranceOptions"] = {"redisAddress": "redis:6379"}
    return found


def raycluster(chance: Chance, name: str) -> list[Object]:
    """Return a RayCluster."""
    notes = {"ray.io/ft-enabled": chance.choice(["true", "True", "false"])} if chance.random() < 0.2 else {}
    if chance.random() < 0.2:
        notes["kueue.x-k8s.io/elastic-job"] = "true"
    made = {"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": metadata(chance, name, **notes)}
    return [{**made, "spec": cluster_spec(chance)}]


def rayjob(chance: Chance, name: str) -> list[Object]:
    """Return a RayJob."""
    spec: Object = {"entrypoint": "python x.py", "rayClusterSpec": cluster_spec(chance)}
    if chance.random() < 0.7:
        spec["submissionMode"] = chance.choice(["K8sJobMode", "HTTPMode", "SidecarMode", "InteractiveMode"])
    if chance.random() < 0.3:
        spec["submitterPodTemplate"] = template(chance)
    if chance.random() < 0.05:
        spec["clusterSelector"] = {"ray.io/cluster": "rc"}
    return [{"apiVersion": "ray.io/v1", "kind": "RayJob", "metadata": metadata(chance, name), "spec": spec}]


def pod(chance: Chance, name: str) -> list[Object]:
    """Return a pod."""
    made = template(chance)
    own = metadata(chance, name, **made.get("metadata", {}).get("annotations", {}))
    return [{"apiVersion": "v1", "kind": "Pod", "metadata": own, "spec": made["spec"]}]


def pods(chance: Chance, name: str) -> list[Object]:
    """Return the pods of a group."""
    shapes = [template(chance) for _ in range(chance.choice([1, 2]))]
    count = chance.choice([1, 2, 3, 4])
    total = count + chance.choice([0, 0, 0, 1, -1])
    own = metadata(chance, name)
    found: list[Object] = []
    for index in range(count):
        shape = chance.choice(shapes)
        notes = {
            **shape.get("metadata", {}).get("annotations", {}),
            "kueue.x-k8s.io/pod-group-total-count": str(max(1, total)),
        }
        labels = {**own["labels"], "kueue.x-k8s.io/pod-group-name": name}
        value = {"name": f"{name}-{index}", "labels": labels, "annotations": notes}
        found.append({"apiVersion": "v1", "kind": "Pod", "metadata": value, "spec": shape["spec"]})
    return found


def lws(chance: Chance, name: str) -> list[Object]:
    """Return a LeaderWorkerSet."""
    group: Object = {"workerTemplate": template(chance), **maybe(chance, size=chance.randint(1, 4))}
    if chance.random() < 0.5:
        group["leaderTemplate"] = template(chance)
    spec = {**maybe(chance, replicas=chance.randint(0, 3)), "leaderWorkerTemplate": group}
    made = {"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "metadata": metadata(chance, name)}
    return [{**made, "spec": spec}]


def appwrapper(chance: Chance, name: str) -> list[Object]:
    """Return an AppWrapper."""
    draws = [job, jobset, KINDS["PyTorchJob"], raycluster, rayjob, pod]
    held = [chance.choice(draws)(chance, f"held-{index}")[0] for index in range(chance.choice([1, 2]))]
    spec = {"components": [{"template": item} for item in held]}
    made = {"apiVersion": "workload.codeflare.dev/v1beta2", "kind": "AppWrapper", "metadata": metadata(chance, name)}
    return [{**made, "spec": spec}]


KINDS: dict[str, Callable[[Chance, str], list[Object]]] = {
    "Job": job,
    "JobSet": jobset,
    "TrainJob": trainjob,
    "PyTorchJob": kubeflow("PyTorchJob", "pytorchReplicaSpecs", "Master", "Worker"),
    "TFJob": kubeflow("TFJob", "tfReplicaSpecs", "PS", "Worker", "Chief", "Master", "Evaluator", "Eval"),
    "XGBoostJob": kubeflow("XGBoostJob", "xgbReplicaSpecs", "Worker", "Master"),
    "PaddleJob": kubeflow("PaddleJob", "paddleReplicaSpecs", "Worker", "Master"),
    "JAXJob": kubeflow("JAXJob", "jaxReplicaSpecs", "Worker"),
    "MPIJob": kubeflow("MPIJob", "mpiReplicaSpecs", "Worker", "Launcher"),
    "RayCluster": raycluster,
    "RayJob": rayjob,
    "Pod": pod,
    "PodGroup": pods,
    "LeaderWorkerSet": lws,
    "AppWrapper": appwrapper,
}
"""What draws jobs of each kind."""
