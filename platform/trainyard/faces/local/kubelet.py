"""What the kubelet makes of a pod: each container's command line and environment, before anything runs.

Facts: kubernetes v1.35 pkg/kubelet/kubelet_pods.go makeEnvironmentVariables, pkg/kubelet/container/helpers.go
ExpandContainerCommandAndArgs.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from trainyard.faces.local.controllers.base import Object, Objects, Pod, RunError
from trainyard.faces.local.downward import field_of, resource_of
from trainyard.faces.local.expansion import expand


@dataclass(frozen=True, slots=True)
class Container:
    """One container as it would be started."""

    name: str
    command: tuple[str, ...]
    """What it runs, arguments included; empty where only its image knows."""
    env: Mapping[str, str]
    """Its variables beside those of the image."""
    value: Object
    """As the pod has it."""
    first: bool = False
    """Whether it runs before the others, to its end."""

    @property
    def image_starts(self) -> bool:
        """Whether the image's entry point is what starts."""
        return not self.value.get("command")


@dataclass(frozen=True, slots=True)
class Resolved:
    """A pod with everything that can be known of it."""

    pod: Pod
    address: str
    containers: tuple[Container, ...]
    """In the order in which they start."""

    @property
    def folder(self) -> str:
        """Name of its folder among those of a run: by number, since names are the manifest's."""
        return folder_of(self.address)

    @property
    def main(self) -> Container:
        """The first of its containers proper."""
        return next(container for container in self.containers if not container.first)


def folder_of(address: str) -> str:
    """Return the name of the folder of the pod that has an address."""
    return "pod-" + "-".join(address.split(".")[2:])


def resolve(pod: Pod, objects: Objects, address: str) -> Resolved:
    """Return the containers of a pod that has an address."""
    spec = pod.spec
    before = [
        container_of(pod, init_container, objects, address, first=True)
        for init_container in spec.get("initContainers") or ()
    ]
    found = [container_of(pod, container, objects, address) for container in spec["containers"]]
    return Resolved(pod, address, (*before, *found))


def container_of(pod: Pod, container: Object, objects: Objects, address: str, *, first: bool = False) -> Container:
    """Return one container."""
    env = environment(pod, container, objects, address)
    words = (*(container.get("command") or ()), *(container.get("args") or ()))
    command = tuple(expand(str(word), env) for word in words)
    return Container(str(container.get("name")), command, env, container, first)


def environment(pod: Pod, container: Object, objects: Objects, address: str) -> dict[str, str]:
    """Return a container's variables: those of ConfigMaps and Secrets, then its own, which may name those before."""
    found: dict[str, str] = {}
    for source in container.get("envFrom") or ():
        for key, value in bulk(pod, source, objects):
            found[f"{source.get('prefix') or ''}{key}"] = value
    for variable in container.get("env") or ():
        text: str | None = str(variable.get("value") or "")
        if text:
            text = expand(text, found)
        elif variable.get("valueFrom"):
            text = one(pod, container, variable["valueFrom"], objects, address)
        if text is not None:
            found[variable["name"]] = text
    return found


def bulk(pod: Pod, source: Mapping[str, Any], objects: Objects) -> Iterator[tuple[str, str]]:
    """Yield all keys of a ConfigMap or Secret."""
    for field, kind in (("configMapRef", "ConfigMap"), ("secretRef", "Secret")):
        reference = source.get(field)
        if reference:
            yield from (data(pod, kind, reference, objects) or {}).items()


def one(pod: Pod, container: Object, source: Mapping[str, Any], objects: Objects, address: str) -> str | None:
    """Return the value of a variable that comes from elsewhere, None where it may be missing and is."""
    if source.get("fieldRef"):
        return field_of(pod.value, source["fieldRef"]["fieldPath"], address)
    if source.get("resourceFieldRef"):
        return resource_of(pod.value, container, source["resourceFieldRef"])
    for field, kind in (("configMapKeyRef", "ConfigMap"), ("secretKeyRef", "Secret")):
        reference = source.get(field)
        if reference:
            found = data(pod, kind, reference, objects)
            if found is not None and reference["key"] in found:
                return found[reference["key"]]
            if reference.get("optional"):
                return None
            if found is None:
                return ""
            raise RunError(
                f"pod {pod.name!r} needs key {reference['key']!r} of {kind} {reference['name']!r}, which does not exist"
            )
    raise RunError(f"pod {pod.name!r} has a variable from {', '.join(source)}, which is not supported here")


def data(pod: Pod, kind: str, reference: Mapping[str, Any], objects: Objects) -> Mapping[str, str] | None:
    """Return the texts of a ConfigMap or Secret, None where it does not exist.

    Secrets stand in no repository, so theirs is no error; what needs one finds it empty, as `absent` says.
    """
    namespace, name = pod.value["metadata"]["namespace"], str(reference.get("name"))
    found = objects.find(kind, namespace, name)
    if found is not None:
        return texts(found)
    if reference.get("optional") or kind == "Secret":
        return None
    raise RunError(f"pod {pod.name!r} needs {kind} {name!r}, which is missing here; add its file")


def absent(pod: Pod, objects: Objects) -> Iterator[str]:
    """Yield the names of Secrets that a pod needs and nobody has given."""
    spec, namespace = pod.spec, pod.value["metadata"]["namespace"]
    wanted = [volume.get("secret") or {} for volume in spec.get("volumes") or ()]
    for volume in spec.get("volumes") or ():
        wanted += [source.get("secret") or {} for source in (volume.get("projected") or {}).get("sources") or ()]
    for container in (*spec["containers"], *(spec.get("initContainers") or ())):
        wanted += [variable.get("secretRef") or {} for variable in container.get("envFrom") or ()]
        sources = (variable.get("valueFrom") or {} for variable in container.get("env") or ())
        wanted += [source.get("secretKeyRef") or {} for source in sources]
    for item in wanted:
        name = item.get("secretName") or item.get("name")
        if name and not item.get("optional") and objects.find("Secret", namespace, name) is None:
            yield str(name)


def texts(value: Mapping[str, Any]) -> dict[str, str]:
    """Return the values of a ConfigMap or a Secret."""
    plain = {str(key): str(text) for key, text in (value.get("data") or {}).items()}
    if value.get("kind") == "Secret":
        plain = {key: base64.b64decode(text).decode("utf-8", "replace") for key, text in plain.items()}
        return {**plain, **{str(key): str(text) for key, text in (value.get("stringData") or {}).items()}}
    return plain
