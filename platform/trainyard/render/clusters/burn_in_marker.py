"""Marks of nodes that failed the test of idle nodes: a CronJob, the few rights of its program, and a policy for them.

The program reads the pods of the test, and writes one condition of nodes; node-readiness-controller makes a taint of
it. It has an image, an account and a namespace of its own: the image of the test is mostly that of a team's job, and
Kueue manages the Jobs beside it. Whoever may write the status of nodes may write all of it, and their labels, so a
policy holds the account to its condition (kubernetes v1.35.4 pkg/registry/core/node/strategy.go nodeStatusStrategy).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.base.labels import POD_SECURITY
from trainyard.render.operators.base import tolerations
from trainyard.render.parts import unprivileged
from trainyard.render.parts.objects import Resource
from trainyard.render.parts.pods import drop_empty
from trainyard.render.parts.programs import program_text
from trainyard.render.sizing.burn_in import FAILED, MARKER, NAME, marks, most_marks, stated
from trainyard.specs import Cluster

PROGRAM, FOLDER = "burn_in_marker.py", "/etc/trainyard"
SCHEDULE = "*/10 * * * *"
"""Every ten minutes: so long may a run still get a node that has just failed."""

AT = ("health", "burnIn", "markerImage")
RBAC, POLICY = "rbac.authorization.k8s.io", "admissionregistration.k8s.io/v1"

OTHER_FIELDS = (
    *("addresses", "allocatable", "capacity", "config", "daemonEndpoints", "declaredFeatures", "features", "images"),
    *("nodeInfo", "phase", "runtimeHandlers", "volumesAttached", "volumesInUse"),
)
"""Fields of a node's status beside its conditions (kubernetes v1.35.4 staging/src/k8s.io/api/core/v1/types.go)."""

OTHER_META = ("annotations", "finalizers", "labels", "ownerReferences")
"""Fields of a node's metadata that a write of its status may change."""


def resources(cluster: Cluster) -> Iterator[Resource]:
    """Yield the program with its rights, and the policy; nothing where a person cordons nodes."""
    said = stated(cluster)
    if said is None or said.marker_image is None or not marks(cluster):
        return
    modes = {f"{POD_SECURITY}/{mode}": "restricted" for mode in ("enforce", "warn", "audit")}
    yield Resource("v1", "Namespace", MARKER, AT, labels=modes)
    yield Resource("v1", "ServiceAccount", MARKER, AT, MARKER, fields={"automountServiceAccountToken": False})
    yield from rights()
    closed = {"podSelector": {}, "policyTypes": ["Ingress"]}
    yield Resource("networking.k8s.io/v1", "NetworkPolicy", "closed", AT, MARKER, fields={"spec": closed})
    yield Resource("v1", "ConfigMap", MARKER, AT, MARKER, fields={"data": {PROGRAM: program_text("burn_in_marker")}})
    yield Resource("batch/v1", "CronJob", MARKER, AT, MARKER, fields={"spec": cron_job(cluster, said.marker_image)})
    yield from policy()


def rights() -> Iterator[Resource]:
    """Yield the roles of the program, which reads pods of the test and nodes, and writes the status of nodes."""
    account = {"kind": "ServiceAccount", "name": MARKER, "namespace": MARKER}
    rules = {
        "Role": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}],
        "ClusterRole": [
            {"apiGroups": [""], "resources": ["nodes"], "verbs": ["list"]},
            {"apiGroups": [""], "resources": ["nodes/status"], "verbs": ["patch"]},
        ],
    }
    for kind, allowed in rules.items():
        where = NAME if kind == "Role" else None
        yield Resource(f"{RBAC}/v1", kind, MARKER, AT, where, fields={"rules": allowed})
        role = {"apiGroup": RBAC, "kind": kind, "name": MARKER}
        fields = {"roleRef": role, "subjects": [account]}
        yield Resource(f"{RBAC}/v1", f"{kind}Binding", MARKER, AT, where, fields=fields)


def cron_job(cluster: Cluster, image: str) -> dict[str, Any]:
    """Return the CronJob; its pod asks for nothing, so that no node is too full for it, and runs on every pool."""
    words = [f"--namespace={NAME}", f"--condition={FAILED}", f"--most={most_marks(cluster)}"]
    container = {
        "name": "marker",
        "image": image,
        "command": ["python3", "-B", f"{FOLDER}/{PROGRAM}", *words],
        "securityContext": unprivileged.container(),
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": [{"name": "program", "mountPath": FOLDER, "readOnly": True}],
    }
    pod = {
        "serviceAccountName": MARKER,
        "automountServiceAccountToken": True,
        "restartPolicy": "Never",
        "securityContext": {**unprivileged.pod(), "fsGroup": unprivileged.NOBODY},
        "tolerations": tolerations(cluster.pools.values()),
        "containers": [container],
        "volumes": [{"name": "program", "configMap": {"name": MARKER}}],
    }
    job = {"backoffLimit": 0, "activeDeadlineSeconds": 300, "template": {"spec": drop_empty(pod)}}
    return {
        "schedule": SCHEDULE,
        "concurrencyPolicy": "Forbid",
        "startingDeadlineSeconds": 300,
        "successfulJobsHistoryLimit": 1,
        "failedJobsHistoryLimit": 1,
        "jobTemplate": {"spec": job},
    }


def policy() -> Iterator[Resource]:
    """Yield the policy by which the account changes nothing of a node but its condition."""
    user = f"system:serviceaccount:{MARKER}:{MARKER}"
    others = f"object.status.?conditions.orValue([]).filter(one, one.type != '{FAILED}')"
    same = [f"{others} == {others.replace('object', 'oldObject', 1)}"]
    same += [f"object.status.?{name} == oldObject.status.?{name}" for name in OTHER_FIELDS]
    same += [f"object.metadata.?{name} == oldObject.metadata.?{name}" for name in OTHER_META]
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["nodes/status"], "operations": ["UPDATE"]}
    spec = {
        "failurePolicy": "Fail",
        "matchConstraints": {"resourceRules": [rule]},
        "matchConditions": [{"name": "marker", "expression": f"request.userInfo.username == '{user}'"}],
        "validations": [
            {
                "expression": " && ".join(same),
                "message": f"{MARKER} may change the condition {FAILED} of a node alone",
                "reason": "Forbidden",
            }
        ],
    }
    yield Resource(POLICY, "ValidatingAdmissionPolicy", MARKER, AT, fields={"spec": spec})
    bound = {"policyName": MARKER, "validationActions": ["Deny"]}
    yield Resource(POLICY, "ValidatingAdmissionPolicyBinding", MARKER, AT, fields={"spec": bound})
