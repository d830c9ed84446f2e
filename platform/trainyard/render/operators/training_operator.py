"""Kubeflow's training operator: its first API, by the manifests of its release, since it has no chart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.render.operators.base import Operator, Site, harden_deployment
from trainyard.render.parts import gang
from trainyard.render.parts.objects import Resource

NAME = "training-operator"

MPI = "mpi-operator"
"""The operator of MPIJob v2beta1."""

SHARED = "mpijobs.kubeflow.org"
"""The definition that both bring, each with its own version alone."""

OTHERS = ("tfjob", "pytorchjob", "xgboostjob", "paddlejob", "jaxjob")
"""What it reconciles beside MPIJob, as its flag takes them (v1.9.4 pkg/controller.v1/register_controller.go)."""

CONFIG, FOLDER, FILE = "training-operator-init-container", "/etc/config", "initContainer.yaml"
"""Where it looks for a template of init containers (v1.9.4 pkg/config/config.go)."""

NOTHING = "[]\n"
"""A template of none: by default workers of a PyTorchJob wait for the name of the Master in a container of Docker Hub.

That has no security context, so that no pod starts where Pod Security is restricted, and other requests than limits, so
that the kubelet pins no CPUs for the pod. Launchers wait by themselves.
"""


class TrainingOperator(Operator):
    """The operator from the manifests of its tag; it makes its webhook's certificate itself."""

    name = NAME

    def cedes(self, site: Site) -> frozenset[str]:
        """Return MPIJob where the operator of its second version is there."""
        return frozenset({SHARED} if MPI in site.cluster.operators else ())

    def changes(self, site: Site) -> Iterator[Mapping[str, Any]]:
        """Yield the operator's pod as Pod Security restricted takes it, and what it leaves to others."""
        args = [f"--enable-scheme={kind}" for kind in OTHERS] if self.cedes(site) else []
        if site.choice.scheduler == "volcano":
            args.append(f"--gang-scheduler-name={gang.VOLCANO}")
        yield harden_deployment(
            site,
            NAME,
            container={"args": args, "volumeMounts": [{"name": CONFIG, "mountPath": FOLDER, "readOnly": True}]},
            volumes=[{"name": CONFIG, "configMap": {"name": CONFIG}}],
        )
        for name in sorted(self.cedes(site)):
            head = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
            yield {"$patch": "delete", **head, "metadata": {"name": name}}

    def own(self, site: Site) -> Iterator[Resource]:
        """Yield the template of init containers."""
        yield Resource("v1", "ConfigMap", CONFIG, site.at, site.facts.namespace, fields={"data": {FILE: NOTHING}})


OPERATOR = TrainingOperator()
