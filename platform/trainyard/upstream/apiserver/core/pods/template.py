"""Pod templates, wherever an object embeds one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from trainyard.upstream.apiserver.core.pods import paths
from trainyard.upstream.apiserver.core.pods.options import Options
from trainyard.upstream.apiserver.core.pods.rules import ANNOTATIONS, TEMPLATE
from trainyard.upstream.apiserver.core.pods.scheduling import check_tolerations
from trainyard.upstream.apiserver.core.pods.spec import all_containers, check_spec
from trainyard.upstream.apiserver.core.shapes import EMPTY, Object, child, count, inner, integer, text
from trainyard.upstream.apiserver.meta.metadata import check_annotations, check_labels
from trainyard.upstream.apiserver.problems import Path, Problem

MIRROR = "kubernetes.io/config.mirror"
_TOLERATIONS = "scheduler.alpha.kubernetes.io/tolerations"
_DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
_SECCOMP_POD = "seccomp.security.alpha.kubernetes.io/pod"
_SECCOMP = "container.seccomp.security.alpha.kubernetes.io/"
_APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/"
_COST = re.compile("0|-?[1-9][0-9]*|-0+[0-9]*")


def check_template(template: Object, path: Path, options: Options) -> Iterator[Problem]:
    """Yield the problems with a pod template: its labels and annotations, and the pod's specification.

    Names and other metadata of a template are never looked at.
    """
    meta, spec = child(template, "metadata") or EMPTY, child(template, "spec") or EMPTY
    if meta:
        yield from check_labels(meta.get("labels"), (*path, "metadata", "labels"))
        yield from check_annotations(meta.get("annotations"), (*path, "metadata", "annotations"))
        yield from check_pod_annotations(meta, spec, path)
    yield from check_spec(spec, (*path, "spec"), options)
    if count(spec, "ephemeralContainers"):
        yield TEMPLATE.forbidden((*path, "spec", "ephemeralContainers"), "not allowed in a pod template")


def check_pod_annotations(meta: Object, spec: Object, path: Path) -> Iterator[Problem]:
    """Yield annotations with a meaning of their own whose values are wrong, or contradict fields."""
    annotations = child(meta, "annotations")
    if not annotations:
        return
    at = (*path, "metadata", "annotations")
    if MIRROR in annotations and not spec.get("nodeName"):
        yield ANNOTATIONS.invalid((*at, MIRROR), annotations[MIRROR], "needs spec.nodeName")
    cost = annotations.get(_DELETION_COST)
    if isinstance(cost, str) and not _is_int32(cost):
        yield ANNOTATIONS.invalid((*at, _DELETION_COST), cost, "must be a 32 bit integer")
    if tolerations := text(annotations, _TOLERATIONS):
        yield from _check_annotated_tolerations(tolerations, (*at, _TOLERATIONS))
    for key, value in annotations.items():
        if not isinstance(value, str):
            continue
        if key == _SECCOMP_POD or key.startswith(_SECCOMP):
            if detail := _seccomp(value):
                yield ANNOTATIONS.invalid((*at, key), value, detail)
        elif key.startswith(_APP_ARMOR):
            yield from _check_app_armor(key, value, spec, (*at, key))
    yield from _check_agreement(annotations, spec, (*path, "spec"))


def _is_int32(text_: str) -> bool:
    return _COST.fullmatch(text_) is not None and -(2**31) <= integer(text_) < 2**31


def _check_annotated_tolerations(value: str, path: Path) -> Iterator[Problem]:
    try:
        tolerations = json.loads(value)
    except (ValueError, RecursionError):
        tolerations = None
    if not isinstance(tolerations, list):
        yield ANNOTATIONS.invalid(path, value, "must be a JSON list of tolerations")
        return
    for problem in check_tolerations({"tolerations": tolerations}, ()):
        yield Problem(path, problem.rule, problem.message, problem.source)


def _seccomp(value: str) -> str | None:
    if value in {"runtime/default", "docker/default", "unconfined"}:
        return None
    if value.startswith("localhost/"):
        return paths.check_descending(value.removeprefix("localhost/"))
    return "must be a valid seccomp profile"


def _check_app_armor(key: str, value: str, spec: Object, path: Path) -> Iterator[Problem]:
    name = key.removeprefix(_APP_ARMOR)
    if all(text(container, "name") != name for _, container in all_containers(spec, ())):
        yield ANNOTATIONS.invalid(path, name, "container not found")
    if value not in {"", "runtime/default", "unconfined"} and not value.startswith("localhost/"):
        yield ANNOTATIONS.invalid(path, value, "must be runtime/default, unconfined or localhost/<profile>")


def _check_agreement(annotations: Object, spec: Object, path: Path) -> Iterator[Problem]:
    """Yield annotations that contradict fields; in a Pod, AppArmor's become fields of containers that have none."""
    pod = inner(spec, "securityContext")
    yield from _compare(annotations, _SECCOMP_POD, child(pod, "seccompProfile"), (*path, "securityContext"))
    windows = inner(spec, "os").get("name") == "windows"
    for at, container in all_containers(spec, path):
        context, name = inner(container, "securityContext"), text(container, "name")
        where = (*at, "securityContext")
        yield from _compare(annotations, _SECCOMP + name, child(context, "seccompProfile"), where)
        profile = child(context, "appArmorProfile")
        if profile is None and (path != ("spec",) or annotations.get(_APP_ARMOR + name) in (None, "", "localhost/")):
            profile = child(pod, "appArmorProfile")
        if not windows:
            yield from _compare(annotations, _APP_ARMOR + name, profile, where)


def _compare(annotations: Object, key: str, profile: Object | None, path: Path) -> Iterator[Problem]:
    annotation = annotations.get(key)
    if profile is None or not isinstance(annotation, str):
        return
    kind = profile.get("type")
    if kind == "Localhost":
        agrees = annotation == f"localhost/{profile.get('localhostProfile')}"
    else:
        default = ("runtime/default",) if key.startswith(_APP_ARMOR) else ("runtime/default", "docker/default")
        choices = {"Unconfined": ("unconfined",), "RuntimeDefault": default}
        agrees = annotation in choices.get(text(profile, "type"), (annotation,))
    if not agrees:
        yield ANNOTATIONS.forbidden((*path, "type"), f"must agree with the annotation {key}")
