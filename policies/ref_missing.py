"""Objects that the pods of a job name exist on the cluster that is described here.

Why: Without its service account, RuntimeClass or PriorityClass no pod is made. Without its PodGroup none gets a node.
 Without a claim, a Secret, a ConfigMap or a network no container starts. Kueue admits the job all the same, and its
 GPUs wait with it.
Fix: correct the name, or add the object to platform/extra, or to the team's file.
Source: kubernetes v1.35 plugin/pkg/admission/serviceaccount/admission.go, pkg/kubelet/volumemanager,
 plugin/pkg/admission/{runtimeclass,priority}/admission.go; kueue v0.19.2 pkg/controller/jobframework/reconciler.go;
 multus-cni v4.3.0 pkg/k8sclient/k8sclient.go; gpu-operator v26.3.3 controllers/object_controls.go; kubernetes v1.37.2
 pkg/scheduler/framework/plugins/gangscheduling/gangscheduling.go
"""

from collections.abc import Iterator

from trainyard.checks import (
    NETWORKS,
    RUN_LABEL,
    Manifest,
    Place,
    Pods,
    Problem,
    Severity,
    TrainingJob,
    World,
    did_you_mean,
    mapping,
)

SEVERITY = Severity.WARNING

OF_EVERY_NAMESPACE = {"ServiceAccount": {"default"}, "ConfigMap": {"kube-root-ca.crt"}}
"""Objects that controllers make in each namespace."""

GROUPS = {
    "NetworkAttachmentDefinition": "k8s.cni.cncf.io",
    "PodGroup": "scheduling.k8s.io",
    "RuntimeClass": "node.k8s.io",
    "PriorityClass": "scheduling.k8s.io",
    "Workload": "kueue.x-k8s.io",
    "ResourceClaimTemplate": "resource.k8s.io",
}

OF_THE_CLUSTER = {
    "RuntimeClass": {"nvidia", "nvidia-cdi", "nvidia-legacy", "nvidia-container-runtime"},
    "PriorityClass": {"system-cluster-critical", "system-node-critical"},
}
"""Kinds without a namespace, with the objects that the API server, the GPU operator and AKS make."""

SECRETS = ("Secret", "ExternalSecret", "SealedSecret")
"""Kinds that a Secret of the same name comes from; a team may use those that its Role names, too."""

PREBUILT = "kueue.x-k8s.io/prebuilt-workload-name"


def check(world: World) -> Iterator[Problem]:
    """Look at jobs of one's own in namespaces that are described."""
    spaces = {one.name for one in world.of("Namespace", group="")} if world.inventory is not None else set()
    for job in world.training_jobs():
        if job.namespace not in spaces or RUN_LABEL in {*job.manifest.labels, *job.manifest.outer.labels}:
            continue
        seen = set()
        named = [*of_job(job), *(found for pods in job.pod_sets() for found in (*references(pods), *texts_of(pods)))]
        for kind, name, place in named:
            if (kind, name) not in seen and (problem := missing(world, job, kind, name, place)):
                seen.add((kind, name))
                yield problem


def of_job(job: TrainingJob) -> Iterator[tuple[str, str, Place]]:
    """Yield the Workload that a job says was made for it."""
    for part, keys in (("annotations", job.manifest.annotations), ("labels", job.manifest.labels)):
        if name := keys.get(PREBUILT):
            yield "Workload", name, job.place("metadata", part, PREBUILT)
            return


def of_scheduler(pods: Pods) -> Iterator[tuple[str, str, Place]]:
    """Yield the kind and name of each object without which the scheduler finds no node, and where it is named."""
    claims = pods.spec.get("resourceClaims")
    for index, claim in enumerate(claims if isinstance(claims, list) else ()):
        if isinstance(name := mapping(claim).get("resourceClaimTemplateName"), str):
            place = pods.place("spec", "resourceClaims", index, "resourceClaimTemplateName")
            yield "ResourceClaimTemplate", name, place
    group = mapping(pods.spec.get("schedulingGroup")).get("podGroupName")
    if isinstance(group, str):
        yield "PodGroup", group, pods.place("spec", "schedulingGroup", "podGroupName")


def references(pods: Pods) -> Iterator[tuple[str, str, Place]]:
    """Yield the kind and name of each object without which pods do not start, and where it is named."""
    account = pods.spec.get("serviceAccountName")
    if isinstance(account, str):
        yield "ServiceAccount", account, pods.place("spec", "serviceAccountName")
    for field, kind in (("runtimeClassName", "RuntimeClass"), ("priorityClassName", "PriorityClass")):
        if isinstance(name := pods.spec.get(field), str) and name:
            yield kind, name, pods.place("spec", field)
    yield from of_scheduler(pods)
    volumes = pods.spec.get("volumes")
    for index, volume in enumerate(volumes if isinstance(volumes, list) else ()):
        claim, config = (mapping(mapping(volume).get(field)) for field in ("persistentVolumeClaim", "configMap"))
        if isinstance(name := claim.get("claimName"), str):
            yield (
                "PersistentVolumeClaim",
                name,
                pods.place("spec", "volumes", index, "persistentVolumeClaim", "claimName"),
            )
        if isinstance(name := config.get("name"), str) and config.get("optional") is not True:
            yield "ConfigMap", name, pods.place("spec", "volumes", index, "configMap", "name")
        secret = mapping(mapping(volume).get("secret"))
        if isinstance(name := secret.get("secretName"), str) and secret.get("optional") is not True:
            yield "Secret", name, pods.place("spec", "volumes", index, "secret", "secretName")
    for namespace, name in pods.networks():
        if namespace == (pods.manifest.namespace or "default"):
            yield "NetworkAttachmentDefinition", name, pods.place("metadata", "annotations", NETWORKS)


def texts_of(pods: Pods) -> Iterator[tuple[str, str, Place]]:
    """Yield the ConfigMaps and Secrets from which containers take variables."""
    fields = {
        "configMapRef": "ConfigMap",
        "configMapKeyRef": "ConfigMap",
        "secretRef": "Secret",
        "secretKeyRef": "Secret",
    }
    for container, value in pods.containers():
        for part in ("env", "envFrom"):
            entries = value.get(part)
            for index, entry in enumerate(entries if isinstance(entries, list) else ()):
                inner: tuple[str, ...] = ("valueFrom",) if part == "env" else ()
                holder = mapping(mapping(entry).get("valueFrom")) if inner else mapping(entry)
                for field, kind in fields.items():
                    named = mapping(holder.get(field))
                    if isinstance(name := named.get("name"), str) and named.get("optional") is not True:
                        yield kind, name, Place(pods.manifest, (*container, part, index, *inner, field, "name"))


def missing(world: World, job: TrainingJob, kind: str, name: str, place: Place) -> Problem | None:
    """Return the problem of an object that the cluster, or its namespace, does not have."""
    if kind == "Secret":
        return missing_secret(world, job, name, place)
    wide = kind in OF_THE_CLUSTER
    where = "is not among the objects of this cluster" if wide else f"does not exist in namespace {job.namespace!r}"
    known = OF_THE_CLUSTER if wide else OF_EVERY_NAMESPACE
    there = {one.name for one in of_kind(world, kind, None if wide else job.namespace)} | known.get(kind, set())
    if name in there:
        return None
    near = did_you_mean(name, there) if there else "there are none"
    return Problem(place, f"{kind} {name!r} {where}; {near}")


def missing_secret(world: World, job: TrainingJob, name: str, place: Place) -> Problem | None:
    """Return the problem of a Secret that has almost the name of a known one: others are made elsewhere."""
    known = {one.name for kind in SECRETS for one in world.of(kind, namespace=job.namespace)}
    for role in world.of("Role", namespace=job.namespace, group="rbac.authorization.k8s.io"):
        for path, rule in role.at("rules", "*", of=dict):
            if "secrets" in (rule.get("resources") or ()):
                known.update(named for _, named in role.at(*path, "resourceNames", "*", of=str))
    near = did_you_mean(name, known) if known and name not in known else ""
    if not near.startswith("did you mean"):
        return None
    return Problem(place, f"Secret {name!r} is not among those of namespace {job.namespace!r}; {near}")


def of_kind(world: World, kind: str, namespace: str | None) -> Iterator[Manifest]:
    """Yield the objects of a kind, in a namespace where it has one."""
    yield from world.of(kind, namespace=namespace, group=GROUPS.get(kind, ""))
