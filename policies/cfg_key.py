"""A key that pods take from a ConfigMap or a Secret is in that object.

Why: The kubelet waits for the key: the container stays in CreateContainerConfigError, or the pod in ContainerCreating,
 with the GPUs of the whole job reserved.
Fix: correct the key, add it to the object, or set optional: true.
Source: kubernetes v1.35 pkg/kubelet/kubelet_pods.go makeEnvironmentVariables;
 pkg/volume/configmap/configmap.go MakePayload
"""

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.checks import Place, Pods, Problem, World, all_workloads, did_you_mean, mapping

NAMES = {"ConfigMap": ("configMapKeyRef", "configMap", "name"), "Secret": ("secretKeyRef", "secret", "secretName")}
"""By kind: the source of a variable, the source of a volume, and the field of the latter that names the object."""

HELD = {"ConfigMap": ("data", "binaryData"), "Secret": ("data", "stringData")}


def check(world: World) -> Iterator[Problem]:
    """Look keys up in the ConfigMaps and Secrets that are among the objects."""
    for job in all_workloads(world):
        for pods in job.pod_sets():
            for kind, held in HELD.items():
                there = world.of(kind, namespace=job.namespace, group="")
                for name, place, key in keys_taken(pods, kind) if there else ():
                    named = [item.value for item in there if item.name == name]
                    keys = {key for item in named for field in held for key in mapping(item.get(field))}
                    if named and key not in keys:
                        message = f"{kind} {name!r} has no key {key!r}; {did_you_mean(key, keys)}"
                        yield Problem(place, message)


def keys_taken(pods: Pods, kind: str) -> Iterator[tuple[str, Place, str]]:
    """Yield the keys that must be there: the object's name, the place of the key, and the key."""
    variable, volume, field = NAMES[kind]
    for container, _ in pods.containers():
        for path, source in pods.manifest.at(*container, "env", "*", "valueFrom", variable, of=dict):
            yield from keyed(pods, source, str(source.get("name")), (*path, "key"))
    spec = (*pods.template, "spec", "volumes", "*")
    for path, source in pods.manifest.at(*spec, volume, of=dict):
        yield from keys_of_items(pods, source, str(source.get(field)), path)
    for path, source in pods.manifest.at(*spec, "projected", "sources", "*", volume, of=dict):
        yield from keys_of_items(pods, source, str(source.get("name")), path)


def keys_of_items(pods: Pods, source: Mapping[str, Any], name: str, path: Any) -> Iterator[tuple[str, Place, str]]:
    """Yield the keys of a volume's items."""
    items = source.get("items")
    for index, item in enumerate(items if isinstance(items, list) else ()):
        if isinstance(item, dict) and source.get("optional") is not True:
            yield from keyed(pods, item, name, (*path, "items", index, "key"))


def keyed(pods: Pods, source: Mapping[str, Any], name: str, path: Any) -> Iterator[tuple[str, Place, str]]:
    """Yield a key, unless it may be missing."""
    if isinstance(key := source.get("key"), str) and source.get("optional") is not True:
        yield name, Place(pods.manifest, path), key
