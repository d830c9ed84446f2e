from __future__ import annotations

from typing import Any

import pytest

from trainyard.base.findings import ObjectRef
from trainyard.base.labels import PROTECTED
from trainyard.change.plan.compare.dangers import dangers
from trainyard.change.plan.compare.marks import marks
from trainyard.change.plan.compare.security import loosened

RESTRICTED: dict[str, Any] = {
    "automountServiceAccountToken": False,
    "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
    "containers": [{"name": "a", "securityContext": {"allowPrivilegeEscalation": False}}],
}


def job(*, own: dict[str, Any] | None = None, container: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return a Job that the strictest level takes, with other fields in its pods or in their container."""
    containers = [{**RESTRICTED["containers"][0], **(container or {})}]
    spec = {**RESTRICTED, "containers": containers, **(own or {})}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "x"}, "spec": {"template": {"spec": spec}}}


def secured(**fields: Any) -> dict[str, Any]:
    """Return a Job whose container has other fields in its security context."""
    return job(container={"securityContext": {"allowPrivilegeEscalation": False, **fields}})


TOKEN = [{"name": "t", "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}}]
LOOSE = {
    "the strictest level": (job(), []),
    "a privileged container": (secured(privileged=True), ["container a is privileged"]),
    "capabilities": (
        secured(capabilities={"add": ["SYS_ADMIN", "BPF"]}),
        ["container a has capabilities BPF, SYS_ADMIN"],
    ),
    "escalation": (job(container={"securityContext": {}}), ["container a may gain privileges"]),
    "root": (secured(runAsUser=0), ["container a is root"]),
    "no user": (job(own={"securityContext": {}}), ["container a may be root"]),
    "no seccomp": (secured(seccompProfile={"type": "Unconfined"}), ["container a has no seccomp"]),
    "no seccomp of the pod": (
        job(own={"securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "Unconfined"}}}),
        ["container a has no seccomp"],
    ),
    "the node's network": (job(own={"hostNetwork": True}), ["pods use the node's network"]),
    "a path of the node": (
        job(own={"volumes": [{"name": "h", "hostPath": {"path": "/"}}]}),
        ["volume h is / of the node"],
    ),
    "a token by default": (
        job(own={"automountServiceAccountToken": None}),
        ["pods have a token of service account default"],
    ),
    "a token of an account": (
        job(own={"automountServiceAccountToken": True, "serviceAccountName": "reader"}),
        ["pods have a token of service account reader"],
    ),
    "a projected token": (job(own={"volumes": TOKEN}), ["volume t has a token of the service account"]),
    "the cluster's own priority": (
        job(own={"priorityClassName": "system-cluster-critical"}),
        ["pods have priority system-cluster-critical, which evicts everything else"],
    ),
    "a port of the node": (
        job(container={"ports": [{"hostPort": 80}], **RESTRICTED["containers"][0]}),
        ["container a listens on the node, port 80"],
    ),
    "an init container": (
        job(own={"initContainers": [{"name": "i", "securityContext": {"privileged": True}}]}),
        ["container i is privileged"],
    ),
    "rubbish": (job(own={"containers": [3], "volumes": 4, "securityContext": 5}), []),
}


@pytest.mark.parametrize(("value", "expected"), LOOSE.values(), ids=LOOSE)
def test_what_pods_may_beyond_the_strictest_level(value: Any, expected: Any) -> None:
    """Each way out of the restricted profile is one sentence, and pods of that profile have none."""
    found = list(loosened([value]))
    assert found == expected or len(found) == expected


PATCHED = {
    "patches": [
        {
            "object": "Job",
            "role": "worker",
            "merge": {"spec": {"template": {"spec": {"priorityClassName": "system-cluster-critical"}}}},
            "reason": "it is urgent",
        }
    ],
    "waive": {"ckp-interval": "it is short"},
    "containers": [{"name": "agent", "image": "a/b@sha256:" + "ab" * 32}],
    "volumes": [{"name": "h", "hostPath": {"path": "/"}}, {"name": "e"}],
    "serviceAccount": "reader",
}
SAID = [
    ("patch", "Job of role worker: spec.template.spec.priorityClassName = system-cluster-critical", "it is urgent"),
    ("waiver", "ckp-interval", "it is short"),
    ("outside", "container agent: a/b@sha256:abababababab…", ""),
    ("outside", "volume h: hostPath", ""),
    ("outside", "volume e: emptyDir", ""),
    ("outside", "service account reader", ""),
]


def test_what_a_job_says_beyond_what_is_derived() -> None:
    """Patches with path, value and reason, waivers with theirs, and everything outside of our containers."""
    assert [(mark.word, mark.what, mark.reason) for mark in marks(PATCHED, [])] == SAID


def test_what_was_there_before_is_told_apart() -> None:
    """A reviewer reads what is new and what is gone; another reason is new."""
    before = marks(PATCHED, [])
    after = {**PATCHED, "waive": {"ckp-interval": "otherwise"}, "serviceAccount": None}
    found = {(mark.what, mark.was) for mark in marks(after, [], before)}
    assert ("ckp-interval", "new") in found
    assert ("service account reader", "gone") in found
    assert ("volume h: hostPath", "as before") in found
    assert {mark.was for mark in marks(PATCHED, [], None)} == {"unknown"}


def test_no_mark_shows_a_credential() -> None:
    """Not in a patched value, and not in a reason."""
    token = "hf_" + "aB3dE5gH7jK9mN1pQ3rS5tU7vW9xY1zA2b"
    patch = {"object": "Job", "merge": {"metadata": {"annotations": {"x": token}}}, "reason": f"see {token}"}
    assert token not in repr(marks({"patches": [patch], "args": ["--token", token]}, []))


@pytest.mark.parametrize("value", [None, 3, [], {"patches": 3, "waive": [], "containers": [None], "volumes": {}}])
def test_a_file_that_is_no_job_has_no_marks(value: Any) -> None:
    """A plan of a damaged file is still a plan."""
    assert marks(value, [value]) == ()


def policy(egress: list[Any], types: tuple[str, ...] = ("Egress",)) -> dict[str, Any]:
    """Return a NetworkPolicy."""
    return {"kind": "NetworkPolicy", "spec": {"egress": egress, "policyTypes": list(types)}}


def namespace(level: str) -> dict[str, Any]:
    """Return a Namespace with a Pod Security level."""
    return {"kind": "Namespace", "metadata": {"labels": {"pod-security.kubernetes.io/enforce": level}}}


RANGE = {"to": [{"ipBlock": {"cidr": "10.0.0.0/8"}}], "ports": [{"port": 443}]}
DENY = {"kind": "ValidatingAdmissionPolicyBinding", "spec": {"validationActions": ["Deny"]}}
BOUND = {"kind": "RoleBinding", "subjects": [{"kind": "Group", "name": "people"}]}
DANGERS = {
    "a level is loosened": (namespace("restricted"), namespace("privileged"), "is loosened: restricted → privileged"),
    "a level is tightened": (namespace("privileged"), namespace("restricted"), None),
    "a namespace is new": (None, namespace("restricted"), None),
    "a loose namespace is new": (None, namespace("baseline"), "is new, with pod security baseline"),
    "egress is opened": (policy([]), policy([RANGE]), "opens egress: 10.0.0.0/8, port 443"),
    "egress is closed": (policy([RANGE]), policy([]), None),
    "nothing governs egress any more": (policy([]), policy([], ()), "no longer restricts egress"),
    "a policy goes": (policy([]), None, "is removed: it no longer restricts traffic"),
    "a policy leaves Git and stays": ({**policy([]), "metadata": {"annotations": PROTECTED}}, None, None),
    "a gate leaves Git and stays": ({**DENY, "metadata": {"annotations": PROTECTED}}, None, None),
    "a gate goes": (DENY, None, "is removed: it no longer denies anything"),
    "a gate only warns": (DENY, {**DENY, "spec": {"validationActions": ["Warn"]}}, "no longer denies requests"),
    "somebody gets rights": (None, BOUND, "grants its permissions to group people"),
    "rights stay": (BOUND, BOUND, None),
    "a role allows more": (
        {"kind": "Role", "rules": []},
        {"kind": "Role", "rules": [{"verbs": ["get"], "resources": ["secrets"]}]},
        "allows get of secrets",
    ),
    "a queue is drained": (
        {"kind": "ClusterQueue", "spec": {"stopPolicy": "None"}},
        {"kind": "ClusterQueue", "spec": {"stopPolicy": "HoldAndDrain"}},
        "is drained: its running jobs are evicted",
    ),
    "an account becomes somebody": (
        {"kind": "ServiceAccount"},
        {"kind": "ServiceAccount", "metadata": {"annotations": {"eks.amazonaws.com/role-arn": "arn:x"}}},
        "eks.amazonaws.com/role-arn is arn:x",
    ),
    "a pod of the platform is privileged": (job(), secured(privileged=True), "container a is privileged"),
}


@pytest.mark.parametrize(("old", "new", "expected"), DANGERS.values(), ids=DANGERS)
def test_what_a_reviewer_should_not_miss(old: Any, new: Any, expected: str | None) -> None:
    """What is loosened, opened or ended is one sentence, and what is tightened none."""
    kind = (new or old)["kind"]
    found = list(dangers(ObjectRef("v1", kind, None, "x"), old, new))
    assert [expected in item for item in found] == [True] if expected else found == []
