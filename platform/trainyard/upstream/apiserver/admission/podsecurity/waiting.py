"""What training-operator has Workers of a PyTorchJob begin with, by the template that it is installed with.

Sources: training-operator v1.9.4 pkg/controller.v1/pytorch/initcontainer.go, pkg/config/config.go,
cmd/training-operator.v1/main.go.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from trainyard.base.documents import load
from trainyard.upstream.apiserver.admission.podsecurity.installs import (
    Containers,
    common_answer,
    containers,
    read,
    sources,
)
from trainyard.upstream.apiserver.core.shapes import Object, each, inner, text, texts

TRAINING_OPERATOR = "training-operator"
FLAG, FILE = "--pytorch-init-container-template-file", "/etc/config/initContainer.yaml"
"""How the operator is told of its template, and where it is by default."""

_FILLED = re.compile(r"\{\{-?\s*\.(?:MasterAddr|InitContainerImage|MaxTries)\s*-?\}\}")


class Install(NamedTuple):
    """A Deployment of training-operator, whole or a patch of one, and the namespace that it comes into."""

    pod: Object
    namespace: str


def deployments(objects: Sequence[Object]) -> Iterator[Install]:
    """Yield the Deployments of training-operator: those among the objects, and patches by which Argo CD makes them."""
    for value in objects:
        if value.get("kind") == "Deployment":
            found = [(value, text(inner(value, "metadata"), "namespace") or "default")]
        else:
            found = [*patches(value)]
        for deployment, namespace in found:
            pod = inner(deployment, "spec", "template", "spec")
            if deployment.get("kind") == "Deployment" and operator_of(pod) is not None:
                yield Install(pod, namespace)


def patches(value: Object) -> Iterator[tuple[Object, str]]:
    """Yield the strategic merge patches of an Application's manifests, and the namespace that these come into."""
    for source in sources(value):
        kustomize, destination = inner(source, "kustomize"), inner(value, "spec", "destination")
        namespace = text(kustomize, "namespace") or text(destination, "namespace")
        for _, patch in each(kustomize, "patches"):
            for written in read(text(patch, "patch")):
                yield written, namespace


def operator_of(pod: Object) -> Object | None:
    """Return the container of training-operator in the pod of a Deployment."""
    for _, container in each(pod, "containers"):
        image = text(container, "image").rpartition("/")[2]
        if TRAINING_OPERATOR in (text(container, "name"), re.split("[:@]", image)[0]):
            return container
    return None


def template_of(install: Install, objects: Sequence[Object]) -> Containers | None:
    """Return the containers of the template that an operator is given; None where it is given none that is known."""
    operator = operator_of(install.pod) or {}
    path = file_of(operator)
    mounts = [mount for _, mount in each(operator, "volumeMounts") if is_above(text(mount, "mountPath"), path)]
    if not mounts:
        return None
    mount = max(mounts, key=lambda found: len(text(found, "mountPath")))
    folder = text(mount, "mountPath").rstrip("/")
    key = text(mount, "subPath") or path.removeprefix(folder).lstrip("/")
    volumes = (found for _, found in each(install.pod, "volumes") if found.get("name") == mount.get("name"))
    volume = inner(next(volumes, {}), "configMap")
    items = {text(item, "path"): text(item, "key") for _, item in each(volume, "items")}
    key = items.get(key, "") if items else key
    return common_answer(
        template_containers(text(inner(value, "data"), key))
        for value in objects
        if value.get("kind") == "ConfigMap"
        and text(inner(value, "metadata"), "name") == text(volume, "name") != ""
        and (text(inner(value, "metadata"), "namespace") or "default") == install.namespace
        and key in inner(value, "data")
    )


def file_of(operator: Object) -> str:
    """Return the path from which an operator's container reads its template."""
    words = [word for name in ("command", "args") for _, word in texts(operator, name)]
    for index, word in enumerate(words):
        name, equals, told = word.partition("=")
        if name in (FLAG, FLAG[1:]):
            return told if equals else next(iter(words[index + 1 :]), "")
    return FILE


def is_above(folder: str, path: str) -> bool:
    """Whether a path is that of a mount, or below it."""
    return bool(folder) and f"{path}/".startswith(f"{folder.rstrip('/')}/")


def template_containers(template: str) -> Containers | None:
    """Return the containers of a template, with something in place of what the operator fills in."""
    whole = _FILLED.sub("1", template)
    found = [document.value for document in load(whole.encode(), file=FILE)[0]]
    if "{{" in whole or len(found) > 1:
        return None
    return containers(found[0]) if found else ()
