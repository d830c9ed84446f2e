"""Core kinds: single rules of the API server, also those that surprise, one sentence each."""

from __future__ import annotations

from typing import Any

import pytest

from apiserver import core_objects as objects
from apiserver.core_objects import GONE, altered, judged, spelled

MAIN = "spec.containers.0"
JOB_POD = "spec.template.spec"
ANY = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}
Case = tuple[dict[str, Any], dict[str, Any], str | None]

REQUEST = objects.named(
    "certificates.k8s.io/v1",
    "CertificateSigningRequest",
    spec={"request": "eA==", "signerName": "example.com/signer", "usages": ["client auth"]},
)
RANGE = objects.named("networking.k8s.io/v1", "ServiceCIDR", spec={"cidrs": ["fd01::/112"]})
HUGE_VOLUME = {"spec.capacity": {"storage": "9223372036854775808"}}

CASES: dict[str, Case] = {
    # What huge numbers and spellings mean
    "a volume whose size wraps around": (objects.VOLUME, HUGE_VOLUME, "spec.capacity.storage"),
    "a volume of a size that is zero to the server": (objects.VOLUME, {"spec.capacity": {"storage": "1e100"}}, None),
    "a range that is not written canonically": (RANGE, {"spec.cidrs.0": "Fd01::/112"}, "spec.cidrs[0]"),
    "bytes that are no signing request": (REQUEST, {}, "spec.request"),
    "mounts that take SELinux labels, behind a gate that is off": (
        objects.POD,
        {"spec.securityContext": {"seLinuxChangePolicy": "MountOption"}},
        "spec.securityContext.seLinuxChangePolicy",
    ),
    "a rollback to no number": (
        objects.DEPLOYMENT,
        {"metadata.annotations": {"deprecated.deployment.rollback.to": "x"}},
        "metadata.annotations.deprecated.deployment.rollback.to",
    ),
    "digits without end": (
        objects.JOB,
        {
            "spec.completionMode": "Indexed",
            "spec.completions": 3,
            "spec.successPolicy": {"rules": [{"succeededIndexes": "1" * 5000}]},
        },
        "spec.successPolicy.rules[0].succeededIndexes",
    ),
    # Pods
    "a limit alone is the request as well": (objects.POD, {f"{MAIN}.resources.limits.cpu": "500m"}, None),
    "a request above its limit": (
        objects.POD,
        {f"{MAIN}.resources.requests": {"cpu": "9"}},
        "spec.containers[0].resources.requests.cpu",
    ),
    "GPUs cannot be overcommitted": (
        objects.POD,
        {f"{MAIN}.resources.requests": {"nvidia.com/gpu": 4}},
        "spec.containers[0].resources.requests.nvidia.com/gpu",
    ),
    "GPUs are requested by limits, not by requests alone": (
        objects.POD,
        {f"{MAIN}.resources": {"requests": {"nvidia.com/gpu": 4}}},
        "spec.containers[0].resources.limits.nvidia.com/gpu",
    ),
    "half a GPU": (
        objects.POD,
        {f"{MAIN}.resources.limits": {"nvidia.com/gpu": "0.5"}},
        "spec.containers[0].resources.limits.nvidia.com/gpu",
    ),
    "a resource of no domain": (
        objects.POD,
        {f"{MAIN}.resources.limits": {"gpu": 1}},
        "spec.containers[0].resources.limits.gpu",
    ),
    "huge pages need cpu or memory": (
        objects.POD,
        {f"{MAIN}.resources.limits": {"hugepages-2Mi": "4Mi"}},
        "spec.containers[0].resources",
    ),
    "huge pages come by whole pages": (
        objects.POD,
        {f"{MAIN}.resources.limits": {"hugepages-2Mi": "3Mi", "cpu": 1}},
        "spec.containers[0].resources.limits.hugepages-2Mi",
    ),
    "a mount of a volume that is not there": (
        objects.POD,
        {f"{MAIN}.volumeMounts.0.name": "date"},
        "spec.containers[0].volumeMounts[0].name",
    ),
    "two mounts at one path": (
        objects.POD,
        {f"{MAIN}.volumeMounts.1": {"name": "data", "mountPath": "/data"}},
        "spec.containers[0].volumeMounts[1].mountPath",
    ),
    "a volume of two kinds": (
        objects.POD,
        {"spec.volumes.0.hostPath": {"path": "/"}},
        "spec.volumes[0].hostPath",
    ),
    "a volume that says nothing is an empty directory": (objects.POD, {"spec.volumes.0": {"name": "data"}}, None),
    "a host path with steps up": (
        objects.POD,
        {"spec.volumes.0": {"name": "data", "hostPath": {"path": "/a/../b"}}},
        "spec.volumes[0].hostPath.path",
    ),
    "containers of one name": (
        objects.POD,
        {"spec.containers.1": {"name": "main", "image": "a"}},
        "spec.containers[1].name",
    ),
    "an image with a space around": (objects.POD, {f"{MAIN}.image": " a"}, "spec.containers[0].image"),
    "no containers": (objects.POD, {"spec.containers": []}, "spec.containers"),
    "an environment variable may have any printable name but '='": (
        objects.POD,
        {f"{MAIN}.env": [{"name": "1 a/b!", "value": ""}]},
        None,
    ),
    "an environment variable with '='": (
        objects.POD,
        {f"{MAIN}.env": [{"name": "a=b"}]},
        "spec.containers[0].env[0].name",
    ),
    "a value and a source of one": (
        objects.POD,
        {f"{MAIN}.env": [{"name": "A", "value": "b", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]},
        "spec.containers[0].env[0].valueFrom",
    ),
    "a field that the downward API does not have": (
        objects.POD,
        {f"{MAIN}.env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.foo"}}}]},
        "spec.containers[0].env[0].valueFrom.fieldRef.fieldPath",
    ),
    "a label is a field of the downward API": (
        objects.POD,
        {f"{MAIN}.env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['a/b']"}}}]},
        None,
    ),
    "a host's network gives its ports": (
        objects.POD,
        {"spec.hostNetwork": True, f"{MAIN}.ports": [{"containerPort": 29500}]},
        None,
    ),
    "host ports that differ from their containers' on the host's network": (
        objects.POD,
        {"spec.hostNetwork": True, f"{MAIN}.ports": [{"containerPort": 29500, "hostPort": 29501}]},
        "spec.containers[0].ports[0].hostPort",
    ),
    "a toleration of everything": (objects.POD, {"spec.tolerations": [{"operator": "Exists"}]}, None),
    "a toleration of a value that exists": (
        objects.POD,
        {"spec.tolerations": [{"key": "a", "operator": "Exists", "value": "b"}]},
        "spec.tolerations[0].operator",
    ),
    "seconds on a taint that does not evict": (
        objects.POD,
        {"spec.tolerations": [{"key": "a", "operator": "Exists", "effect": "NoSchedule", "tolerationSeconds": 5}]},
        "spec.tolerations[0].effect",
    ),
    "privileged without escalation": (
        objects.POD,
        {f"{MAIN}.securityContext": {"privileged": True, "allowPrivilegeEscalation": False}},
        "spec.containers[0].securityContext",
    ),
    "a liveness probe that wants two successes": (
        objects.POD,
        {f"{MAIN}.livenessProbe": {"exec": {"command": ["a"]}, "successThreshold": 2}},
        "spec.containers[0].livenessProbe.successThreshold",
    ),
    "a probe by two means": (
        objects.POD,
        {f"{MAIN}.livenessProbe": {"exec": {"command": ["a"]}, "tcpSocket": {"port": 1}}},
        "spec.containers[0].livenessProbe.tcpSocket",
    ),
    "a spread constraint of a skew of 0": (
        objects.POD,
        {
            "spec.topologySpreadConstraints": [
                {"maxSkew": 0, "topologyKey": "rack", "whenUnsatisfiable": "DoNotSchedule"}
            ]
        },
        "spec.topologySpreadConstraints[0].maxSkew",
    ),
    "a gate set twice": (
        objects.POD,
        {"spec.schedulingGates": [{"name": "a"}, {"name": "a"}]},
        "spec.schedulingGates[1].name",
    ),
    "a node already chosen beside a gate": (
        objects.POD,
        {"spec.schedulingGates": [{"name": "a"}], "spec.nodeName": "n"},
        "spec.nodeName",
    ),
    "a claim by device that no pod claim has": (
        objects.POD,
        {f"{MAIN}.resources.claims": [{"name": "gpu"}]},
        "spec.containers[0].resources.claims[0]",
    ),
    "a shared memory volume with a limit": (
        objects.POD,
        {"spec.volumes.0.emptyDir": {"medium": "Memory", "sizeLimit": "64Gi"}},
        None,
    ),
    "a size that is no quantity": (
        objects.POD,
        {"spec.volumes.0.emptyDir": {"sizeLimit": "64GB"}},
        "spec.volumes[0].emptyDir.sizeLimit",
    ),
    # Jobs
    "a job restarts never or on failure": (
        objects.JOB,
        {f"{JOB_POD}.restartPolicy": "Always"},
        "spec.template.spec.restartPolicy",
    ),
    "a job that says nothing of restarts would restart always": (
        objects.JOB,
        {f"{JOB_POD}.restartPolicy": GONE},
        "spec.template.spec.restartPolicy",
    ),
    "an indexed job of several pods says how many indexes": (
        objects.JOB,
        {"spec.completions": GONE, "spec.parallelism": 2},
        "spec.completions",
    ),
    "an indexed job of one need not": (objects.JOB, {"spec.completions": GONE}, None),
    "more pods than completions": (objects.JOB, {"spec.parallelism": 8}, None),
    "a hundred thousand indexes and more, many at once": (
        objects.JOB,
        {
            "spec.completions": 100_001,
            "spec.parallelism": 10_001,
            "spec.backoffLimitPerIndex": 1,
            "spec.maxFailedIndexes": 1,
        },
        "spec.parallelism",
    ),
    "as many without a limit by index": (objects.JOB, {"spec.completions": 100_001, "spec.parallelism": 10_001}, None),
    "a deadline of 0": (objects.JOB, {"spec.activeDeadlineSeconds": 0}, None),
    "a negative backoff limit": (objects.JOB, {"spec.backoffLimit": -1}, "spec.backoffLimit"),
    "limits by index with pods restarted in place": (
        objects.JOB,
        {"spec.backoffLimitPerIndex": 1, f"{JOB_POD}.restartPolicy": "OnFailure"},
        None,
    ),
    "a failure policy with pods restarted in place": (
        objects.JOB,
        {"spec.podFailurePolicy": {"rules": []}, f"{JOB_POD}.restartPolicy": "OnFailure"},
        "spec.template.spec.restartPolicy",
    ),
    "a failure policy without rules": (objects.JOB, {"spec.podFailurePolicy": {"rules": []}}, None),
    "a failure rule on exit codes of a container that is not there": (
        objects.JOB,
        {
            "spec.podFailurePolicy": {
                "rules": [{"action": "FailJob", "onExitCodes": {"containerName": "x", "operator": "In", "values": [1]}}]
            }
        },
        "spec.podFailurePolicy.rules[0].onExitCodes.containerName",
    ),
    "a failure rule on exit code 0": (
        objects.JOB,
        {"spec.podFailurePolicy": {"rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [0]}}]}},
        "spec.podFailurePolicy.rules[0].onExitCodes.values[0]",
    ),
    "exit codes out of order": (
        objects.JOB,
        {
            "spec.podFailurePolicy": {
                "rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [2, 1]}}]
            }
        },
        "spec.podFailurePolicy.rules[0].onExitCodes.values",
    ),
    "a success policy counts no indexes at 0": (
        objects.JOB,
        {"spec.successPolicy": {"rules": [{"succeededIndexes": "01", "succeededCount": 0}]}},
        None,
    ),
    "an index that the job does not have": (
        objects.JOB,
        {"spec.successPolicy": {"rules": [{"succeededIndexes": "0-4"}]}},
        "spec.successPolicy.rules[0].succeededIndexes",
    ),
    "a name too long for the names of an indexed job's pods": (
        objects.JOB,
        {"metadata.name": "a" * 63},
        "metadata.name",
    ),
    "a job managed by something that is no path": (objects.JOB, {"spec.managedBy": "kueue"}, "spec.managedBy"),
    # CronJobs
    "a schedule by name": (objects.CRON_JOB, {"spec.schedule": "@every 5m"}, None),
    "a schedule of four fields": (objects.CRON_JOB, {"spec.schedule": "0 3 * *"}, "spec.schedule"),
    "a day that no month has": (objects.CRON_JOB, {"spec.schedule": "0 0 31 2 *"}, None),
    "a schedule with a time zone of its own": (
        objects.CRON_JOB,
        {"spec.schedule": "TZ=UTC 0 3 * * *"},
        "spec.schedule",
    ),
    "a time zone that is a place": (objects.CRON_JOB, {"spec.timeZone": "Europe/Berlin"}, None),
    "a time zone that is none": (objects.CRON_JOB, {"spec.timeZone": "Mars/Phobos"}, "spec.timeZone"),
    "a cron job's name leaves room for the time": (objects.CRON_JOB, {"metadata.name": "a" * 53}, "metadata.name"),
    # Services
    "a headless service needs no ports": (objects.SERVICE, {"spec": {"clusterIP": "None"}}, None),
    "any other needs some": (objects.SERVICE, {"spec.ports": []}, "spec.ports"),
    "several ports have names": (
        objects.SERVICE,
        {"spec.ports.1": {"port": 81, "name": "b"}},
        "spec.ports[0].name",
    ),
    "a port of a node that is no node port": (
        objects.SERVICE,
        {"spec.ports.0.nodePort": 30000},
        "spec.ports[0].nodePort",
    ),
    "an external name that is an address": (
        objects.SERVICE,
        {"spec": {"type": "ExternalName", "externalName": "10.0.0.1"}},
        None,
    ),
    "an external name with an address of its own": (
        objects.SERVICE,
        {"spec": {"type": "ExternalName", "externalName": "a", "clusterIP": "10.0.0.1"}},
        "spec.clusterIP",
    ),
    "a name that starts with a digit": (objects.SERVICE, {"metadata.name": "1a"}, "metadata.name"),
    # Storage
    "a claim of nothing": (
        objects.CLAIM,
        {"spec.resources.requests.storage": "0"},
        "spec.resources.requests.storage",
    ),
    "a claim of a tenth of a byte": (objects.CLAIM, {"spec.resources.requests.storage": "100m"}, None),
    "a claim of a size in no known unit": (
        objects.CLAIM,
        {"spec.resources.requests.storage": "10GB"},
        "spec.resources.requests.storage",
    ),
    "a claim of one pod beside others": (
        objects.CLAIM,
        {"spec.accessModes": ["ReadWriteOncePod", "ReadOnlyMany"]},
        "spec.accessModes",
    ),
    "a claim without an access mode": (objects.CLAIM, {"spec.accessModes": GONE}, "spec.accessModes"),
    "a volume of two sources": (objects.VOLUME, {"spec.hostPath": {"path": "/a"}}, "spec.nfs"),
    "a volume recycled from the root of a host": (
        objects.VOLUME,
        {"spec.nfs": GONE, "spec.hostPath": {"path": "/"}, "spec.persistentVolumeReclaimPolicy": "Recycle"},
        "spec.persistentVolumeReclaimPolicy",
    ),
    "a storage class with a parameter of an empty name": (
        objects.STORAGE_CLASS,
        {"parameters": {"": "a"}},
        "parameters.",
    ),
    # ConfigMaps and Secrets
    "a key with a path": (objects.CONFIG_MAP, {"data": {"a/b": ""}}, "data.a/b"),
    "a key in both": (objects.CONFIG_MAP, {"binaryData": {"a": "aGk="}}, "data.a"),
    "a secret's key as text and as bytes": (objects.SECRET, {"data": {"a": "aGk="}}, None),
    "bytes that are no base64": (objects.SECRET, {"data": {"b": "!"}}, "data.b"),
    "a TLS secret without a key": (
        objects.SECRET,
        {"type": "kubernetes.io/tls", "stringData": {"tls.crt": "a"}},
        "data.tls.key",
    ),
    "a registry's secret that is no JSON": (
        objects.SECRET,
        {"type": "kubernetes.io/dockerconfigjson", "stringData": {".dockerconfigjson": "a"}},
        "data..dockerconfigjson",
    ),
    # RBAC
    "a rule without verbs": (objects.ROLE, {"rules.0.verbs": []}, "rules[0].verbs"),
    "a namespaced role for paths": (
        objects.ROLE,
        {"rules.0": {"nonResourceURLs": ["/metrics"], "verbs": ["get"]}},
        "rules[0].nonResourceURLs",
    ),
    "a role for everything": (objects.ROLE, {"rules.0": ANY}, None),
    "a role's name may have a colon": (objects.ROLE, {"metadata.name": "system:A"}, None),
    "a service account of the binding's own namespace": (objects.BINDING, {"subjects.0.namespace": GONE}, None),
    "a service account of a namespace for the whole cluster": (
        objects.CLUSTER_BINDING,
        {"subjects.0.namespace": GONE},
        "subjects[0].namespace",
    ),
    "a binding of a kind that is no role": (objects.BINDING, {"roleRef.kind": "Group"}, "roleRef.kind"),
    # NetworkPolicies
    "a range with holes outside of it": (
        objects.POLICY,
        {"spec.ingress": [{"from": [{"ipBlock": {"cidr": "10.0.0.0/8", "except": ["11.0.0.0/16"]}}]}]},
        "spec.ingress[0].from[0].ipBlock.except[0]",
    ),
    "a range beside a selector": (
        objects.POLICY,
        {"spec.ingress": [{"from": [{"ipBlock": {"cidr": "10.0.0.0/8"}, "podSelector": {}}]}]},
        "spec.ingress[0].from[0]",
    ),
    "a range of ports by name": (
        objects.POLICY,
        {"spec.ingress": [{"ports": [{"port": "http", "endPort": 90}]}]},
        "spec.ingress[0].ports[0].endPort",
    ),
    # Budgets, priorities, quotas
    "a budget of nothing": (objects.BUDGET, {"spec": {}}, None),
    "a budget's name in upper case": (objects.BUDGET, {"metadata.name": "A"}, None),
    "a budget with both sides": (objects.BUDGET, {"spec.maxUnavailable": 1}, "spec"),
    "a budget above 100 %": (objects.BUDGET, {"spec.minAvailable": "101%"}, "spec.minAvailable"),
    "a priority of users is at most a billion": (objects.PRIORITY, {"value": 1_000_000_001}, "value"),
    "a priority that does not preempt": (objects.PRIORITY, {"preemptionPolicy": "Never"}, None),
    "a name of Kubernetes' own": (objects.PRIORITY, {"metadata.name": "system-a"}, "metadata.name"),
    "a quota of GPUs by their limits counts nothing but is allowed": (
        objects.QUOTA,
        {"spec.hard": {"limits.nvidia.com/gpu": 8}},
        None,
    ),
    "a quota of a name that is none": (objects.QUOTA, {"spec.hard": {"gpus": 8}}, "spec.hard.gpus"),
    "a quota of half a pod": (objects.QUOTA, {"spec.hard": {"pods": "0.5"}}, "spec.hard.pods"),
    "a range whose default is above its maximum": (
        objects.LIMITS,
        {"spec.limits.0.default": {"cpu": 9}, "spec.limits.0.defaultRequest": {"cpu": 1}},
        "spec.limits[0].default.cpu",
    ),
    "a range of pods has no default": (
        objects.LIMITS,
        {"spec.limits.0": {"type": "Pod", "default": {"cpu": 1}}},
        "spec.limits[0].default",
    ),
    # Controllers
    "a selector that does not match its template": (
        objects.DEPLOYMENT,
        {"spec.selector.matchLabels": {"app": "b"}},
        "spec.template.metadata.labels",
    ),
    "a selector of everything": (objects.DEPLOYMENT, {"spec.selector": {}}, "spec.selector"),
    "a deployment of pods that end": (
        objects.DEPLOYMENT,
        {f"{JOB_POD}.restartPolicy": "Never"},
        "spec.template.spec.restartPolicy",
    ),
    "a rolling update that may do nothing": (
        objects.DEPLOYMENT,
        {"spec.strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 0}}},
        "spec.strategy.rollingUpdate.maxUnavailable",
    ),
    "recreation with an update that rolls": (
        objects.DEPLOYMENT,
        {"spec.strategy": {"type": "Recreate", "rollingUpdate": {}}},
        "spec.strategy.rollingUpdate",
    ),
    "a stateful set's own claims are volumes of its pods": (
        objects.STATEFUL_SET,
        {
            f"{JOB_POD}.volumes": [],
            "spec.volumeClaimTemplates": [{**objects.CLAIM, "metadata": {"name": "data"}}],
        },
        None,
    ),
    "a claim template with a status that no claim has": (
        objects.STATEFUL_SET,
        {
            "spec.volumeClaimTemplates": [
                {**objects.CLAIM, "metadata": {"name": "data"}, "status": {"phase": "x", "conditions": []}}
            ],
        },
        None,
    ),
    # Devices
    "a selector that is no condition": (
        objects.DEVICE_CLASS,
        {"spec.selectors.0.cel.expression": "1"},
        "spec.selectors[0].cel.expression",
    ),
    "a selector that reads an attribute": (
        objects.DEVICE_CLASS,
        {"spec.selectors.0.cel.expression": "device.attributes['gpu.nvidia.com'].isMig"},
        None,
    ),
    "a count with all devices": (
        objects.DEVICE_CLAIM,
        {"spec.devices.requests.0.exactly.allocationMode": "All", "spec.devices.requests.0.exactly.count": 2},
        "spec.devices.requests[0].exactly.count",
    ),
    "a request of no class": (
        objects.DEVICE_CLAIM,
        {"spec.devices.requests.0.exactly.deviceClassName": ""},
        "spec.devices.requests[0].exactly.deviceClassName",
    ),
    # Admission
    "a webhook's name has three parts": (objects.WEBHOOK, {"webhooks.0.name": "example.com"}, "webhooks[0].name"),
    "a webhook at a plain address": (
        objects.WEBHOOK,
        {"webhooks.0.clientConfig": {"url": "http://example.com"}},
        "webhooks[0].clientConfig.url",
    ),
    "a webhook with side effects": (objects.WEBHOOK, {"webhooks.0.sideEffects": "Some"}, "webhooks[0].sideEffects"),
    "a condition that does not compile": (
        objects.WEBHOOK,
        {"webhooks.0.matchConditions": [{"name": "a", "expression": "request.foo == 'a'"}]},
        "webhooks[0].matchConditions[0].expression",
    ),
    "a condition on the request": (
        objects.WEBHOOK,
        {"webhooks.0.matchConditions": [{"name": "a", "expression": "request.dryRun == false"}]},
        None,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_rule(case: str) -> None:
    """An object is refused at the field that is wrong, and only there; what only looks wrong is not."""
    base, changes, field = CASES[case]
    problems = judged(altered(base, changes))
    assert {spelled(problem.path) for problem in problems} == ({field} if field else set()), problems


@pytest.mark.parametrize("name", [name for name in vars(objects) if name.isupper() and name not in {"GONE"}])
def test_plain_objects_pass(name: str) -> None:
    """The objects that the cases start from are valid in every release."""
    value = vars(objects)[name]
    if "kind" in value:
        for kubernetes in ("1.34", "1.35", "1.36"):
            assert judged(value, kubernetes=kubernetes) == []


def test_what_is_no_core_kind_is_passed_over() -> None:
    """Kinds without rules here, and objects of no kind, give nothing."""
    for value in ({}, {"apiVersion": "v1", "kind": "Binding"}, {"apiVersion": 1, "kind": []}, {"apiVersion": "x/v1"}):
        assert judged(dict(value)) == [] or "metadata" in spelled(judged(dict(value))[0].path)
