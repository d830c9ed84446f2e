"""Which program runs where a Deployment of an operator has a pod, and with which flags of the Deployment."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from .components import OPERATORS
from .paths import BIN

DEPLOYMENTS = {
    "kueue-controller-manager": "kueue",
    "jobset-controller": "jobset",
    "trainer-kubeflow-trainer-controller-manager": "trainer",
    "lws-controller-manager": "lws",
    "kuberay-operator": "kuberay",
    "training-operator": "training-operator",
    "mpi-operator": "mpi-operator",
    "volcano-admission": "volcano",
    "volcano-controllers": "volcano-controllers",
    "volcano-scheduler": "volcano-scheduler",
}
"""Whose program a Deployment runs, by its name in the charts and manifests that Applications name."""

PROGRAMS = OPERATORS | {
    process: replace(operator, args=args, config={}, also=())
    for operator in OPERATORS.values()
    for process, _, args in operator.also
}
"""All programs: those of operators, and the further ones of their installations."""

FILES = {
    "volcano": ("--admission-conf={settings}/volcano-admission.conf",),
    "volcano-scheduler": ("--scheduler-conf={settings}/volcano-scheduler.conf",),
}
"""Flags that name files of ConfigMaps."""

PASSED_ON = ("--gang-scheduling=", "--gang-scheduler-name=")
"""Flags of a Deployment that its program gets: they change what it does, and no address."""


def passed_on(deployment: dict[str, Any]) -> Iterator[str]:
    """Yield the flags of a Deployment that its program gets as they are."""
    for container in deployment["spec"]["template"]["spec"]["containers"]:
        yield from (arg for arg in container.get("args", ()) if arg.startswith(PASSED_ON))


def program(name: str, deployment: dict[str, Any]) -> Path:
    """Return the program of the release that a Deployment's image names, or the one there is."""
    images = [container["image"] for container in deployment["spec"]["template"]["spec"]["containers"]]
    named = [BIN / f"{name}-{image.rpartition(':')[2].removeprefix('v')}" for image in images]
    return next((path for path in named if path.exists()), BIN / f"{name}-{PROGRAMS[name].version}")
