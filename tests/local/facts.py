"""What is told of pods and the objects beside them, a line each: the same words of ours and of a control plane's."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

UNSTABLE = re.compile(r"(uid|job-key|pod-template-hash|template-uid|group-key|-hash)$|^kueue\.|group-name$|revision")
"""Labels and annotations that are drawn, or another controller's."""

GROUP = "jobset.sigs.k8s.io/group-name"
WAITS = frozenset({"init-pytorch", "wait-gcs-ready"})
"""Containers of operators whose script is our own; what they are told is compared."""

RANDOM = "DMLC_TRACKER_URI="
"""Of containers whose operator adds to them by plugins that run in any order."""

DRAWN = re.compile(r"[bcdfghjklmnpqrstvwxz2456789]{5}$")


def lines(job: str, pods: Iterable[Mapping[str, Any]], beside: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return what is told of all pods of a job, by name, then of what is beside them; drawn names as `*`."""
    found = list(pods)
    names = drawn(job, found)
    blocks = sorted([clean(line, names) for line in pod(item)] for item in found)
    others = sorted(clean(line, names) for item in beside for line in other(item))
    return [*(line for block in blocks for line in block), *others]


def drawn(job: str, pods: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return names that somebody drew, and what stands for them."""
    found = {}
    for one_pod in pods:
        metadata = one_pod["metadata"]
        stem = metadata.get("generateName")
        if stem and DRAWN.fullmatch(metadata["name"].removeprefix(stem)):
            found[metadata["name"]] = f"{stem}*"
        labels = metadata.get("labels") or {}
        cluster = labels.get("ray.io/cluster", job)
        if cluster != job:
            found[cluster] = f"{job}-<cluster>"
        replica = labels.get("ray.io/worker-group-replica-name")
        if replica:
            found[replica] = DRAWN.sub("*", replica)
        for container in one_pod["spec"]["containers"]:
            for variable in container.get("env") or ():
                if variable["name"] == "RAY_JOB_SUBMISSION_ID":
                    found[variable["value"]] = f"{job}-<id>"
    return found


def clean(line: str, names: Mapping[str, str]) -> str:
    """Return a line without drawn names."""
    for name in sorted(names, key=len, reverse=True):
        line = line.replace(name, names[name])
    return line


def text(value: Any) -> str:
    """Return a value in one line."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def pod(value: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is told of a pod."""
    metadata, spec = value["metadata"], value["spec"]
    yield f"pod {metadata['name']}"
    for key in ("hostname", "subdomain", "restartPolicy"):
        if spec.get(key):
            yield f"  {key} {spec[key]}"
    for what in ("labels", "annotations"):
        for key, marked in sorted((metadata.get(what) or {}).items()):
            if key == GROUP or not UNSTABLE.search(key):
                yield f"  {what[:-1]} {key}={marked}"
    shuffled = spec.get("schedulerName") == "volcano"
    volumes = [volume for volume in spec.get("volumes") or () if not volume["name"].startswith("kube-api-access")]
    for volume in sorted(volumes, key=lambda one_volume: one_volume["name"]):
        yield f"  volume {text(plain(volume))}"
    for field in ("initContainers", "containers"):
        for item in spec.get(field) or ():
            yield from container(field[:-1], item, shuffled=shuffled)


def plain(volume: Mapping[str, Any]) -> dict[str, Any]:
    """Return a volume without what the server adds."""
    found = json.loads(json.dumps(volume))
    for source in ("configMap", "secret"):
        if source in found and found[source].get("defaultMode") == 0o644:
            del found[source]["defaultMode"]
    return dict(found)


def container(kind: str, value: Mapping[str, Any], *, shuffled: bool) -> Iterator[str]:
    """Yield what is told of a container; `shuffled`: its operator adds things in any order."""
    yield f"  {kind} {value['name']}"
    if value["name"] not in WAITS:
        for key in ("command", "args"):
            if value.get(key):
                yield f"    {key} {text(value[key])}"
    env = [variable(one_variable) for one_variable in value.get("env") or ()]
    shuffled = shuffled or any(one_variable.startswith(RANDOM) for one_variable in env)
    yield from (f"    env {one_variable}" for one_variable in (sorted(env) if shuffled else env))
    for port in value.get("ports") or ():
        yield f"    port {port.get('name', '')} {port['containerPort']}"
    for mount in sorted(value.get("volumeMounts") or (), key=lambda volume_mount: volume_mount["mountPath"]):
        if not mount["name"].startswith("kube-api-access"):
            yield f"    mount {mount['mountPath']} {mount['name']} {mount.get('subPath', '')}".rstrip()


def variable(value: Mapping[str, Any]) -> str:
    """Return what is told of a variable."""
    source = value.get("valueFrom")
    if not source:
        return f"{value['name']}={text(value.get('value', ''))}"
    return f"{value['name']} from " + text(
        {kind: {key: said for key, said in ref.items() if key != "apiVersion"} for kind, ref in source.items()}
    )


def other(value: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is told of a Service, ConfigMap or Secret."""
    kind, name = value["kind"], value["metadata"]["name"]
    if kind == "Service":
        spec = value["spec"]
        unready = " not ready too" if spec.get("publishNotReadyAddresses") else ""
        headless = "headless" if spec.get("clusterIP") == "None" else "one address"
        yield f"service {name}: {headless}{unready}; for {text(spec.get('selector'))}"
    elif kind == "ConfigMap":
        yield from (f"configmap {name} {key}: {text(said)}" for key, said in (value.get("data") or {}).items())
    elif kind == "Secret":
        yield f"secret {name}: {value.get('type', 'Opaque')}, {', '.join(sorted(value.get('data') or {}))}"
