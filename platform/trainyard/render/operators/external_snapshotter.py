"""External Snapshotter: the controller that has drivers make and delete snapshots, as Pod Security restricted takes it.

Its definitions come from the manifests of its tag, so upstream's whole kustomizations, one for each, need no copy here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.render.operators.base import Operator, Site
from trainyard.render.parts import unprivileged
from trainyard.render.parts.objects import Resource

CONTROLLER = "snapshot-controller"
RBAC = "rbac.authorization.k8s.io"
EVERY = ["create", "delete", "get", "list", "patch", "update", "watch"]
READ = ["get", "list", "watch"]

RULES: tuple[tuple[str, tuple[str, ...], list[str]], ...] = (
    ("", ("persistentvolumes",), READ),
    ("", ("persistentvolumeclaims",), [*READ, "update"]),
    ("", ("events",), ["create", "list", "patch", "update", "watch"]),
    ("snapshot.storage.k8s.io", ("volumesnapshotclasses",), READ),
    ("snapshot.storage.k8s.io", ("volumesnapshotcontents", "volumesnapshots"), EVERY),
    ("snapshot.storage.k8s.io", ("volumesnapshotcontents/status", "volumesnapshots/status"), ["patch", "update"]),
)
"""Its rights, without those on groups of snapshots, whose feature gate is off.

kubernetes-csi/external-snapshotter v8.6.0 deploy/kubernetes/snapshot-controller/rbac-snapshot-controller.yaml,
cmd/snapshot-controller/main.go.
"""

WAIT = 35
"""Seconds until a pod counts: those for which it waits for its definitions, and a few more."""


class ExternalSnapshotter(Operator):
    """The controller's objects; two pods, of which one works."""

    name = "external-snapshotter"

    def own(self, site: Site) -> Iterator[Resource]:
        """Yield account, rights and Deployment."""
        space = site.facts.namespace
        account = {"kind": "ServiceAccount", "name": CONTROLLER, "namespace": space}
        rules = [{"apiGroups": [group], "resources": list(names), "verbs": verbs} for group, names, verbs in RULES]
        yield Resource("v1", "ServiceAccount", CONTROLLER, site.at, space)
        yield Resource(f"{RBAC}/v1", "ClusterRole", CONTROLLER, site.at, fields={"rules": rules})
        for kind, role, of in (("ClusterRoleBinding", "ClusterRole", None), ("RoleBinding", "Role", space)):
            fields = {"roleRef": {"apiGroup": RBAC, "kind": role, "name": CONTROLLER}, "subjects": [account]}
            yield Resource(f"{RBAC}/v1", kind, CONTROLLER, site.at, of, fields=fields)
        lease = {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": EVERY}
        yield Resource(f"{RBAC}/v1", "Role", CONTROLLER, site.at, space, fields={"rules": [lease]})
        yield Resource("apps/v1", "Deployment", CONTROLLER, site.at, space, fields={"spec": deployment(site)})


def deployment(site: Site) -> dict[str, Any]:
    """Return the Deployment of the controller."""
    labels = {"app.kubernetes.io/name": CONTROLLER}
    ((asked,),) = ([item.resources.model_dump() for item in daemon.containers] for daemon in site.facts.daemons)
    container = {
        "name": CONTROLLER,
        "image": site.components["controller"]["image"],
        "args": ["--v=2", "--leader-election=true"],
        "resources": {kind: amounts for kind, amounts in asked.items() if amounts},
        "securityContext": unprivileged.container(),
        "terminationMessagePolicy": "FallbackToLogsOnError",
    }
    user = {"runAsNonRoot": True, "runAsUser": 65532, "seccompProfile": {"type": "RuntimeDefault"}}
    pod = {"containers": [container], "securityContext": user, "serviceAccountName": CONTROLLER}
    return {
        "replicas": 2,
        "minReadySeconds": WAIT,
        "selector": {"matchLabels": labels},
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}},
        "template": {"metadata": {"labels": labels}, "spec": pod},
    }


OPERATOR = ExternalSnapshotter()
