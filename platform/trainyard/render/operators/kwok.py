"""KWOK: nodes without machines, on which pods run and end by rules of ours, so that queues can be rehearsed.

Facts: kwok v0.8.0 pkg/kwok/controllers, pkg/apis/v1alpha1/stage_types.go, kustomize/stage.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.base.labels import JOB, OURS, SYNC_WAVE
from trainyard.render.operators.base import Operator, Site
from trainyard.render.parts.objects import Resource
from trainyard.render.sizing.machines import machine, quantities
from trainyard.render.sizing.places import nodes_of
from trainyard.specs import Cluster
from trainyard.specs.models.simulated import FAKE, FAKE_NODE, Simulation
from trainyard.upstream.kubelet.kubelet import WELL_KNOWN

API = "kwok.x-k8s.io/v1alpha1"

ENDS_AFTER = f"{OURS}/ends-after"
"""Annotation of a pod: how long it runs here, such as `10m`."""

ENDS = f"{OURS}/ends"
"""Annotation of a pod: with `failed` it fails at once."""

MACHINE = f"{OURS}/machine"
"""Annotation of a node: digest of what it offers, so that KWOK looks at it again when that changes."""

WAVE = {SYNC_WAVE: "1"}
"""Nodes come after the stages that make them ready."""

FIRST = "{{ $now := Now }}\n"


class Kwok(Operator):
    """KWOK from its chart, with a node for each machine that the cluster declares."""

    name = "kwok"

    def values(self, site: Site) -> dict[str, Any]:
        """Name the image of the release, as the chart at its tag names that of an older one, and drop rights."""
        least = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
        return {
            "image": {"tag": f"v{site.version}"},
            "podSecurityContext": {"seccompProfile": {"type": "RuntimeDefault"}},
            "securityContext": least,
        }

    def own(self, site: Site) -> Iterator[Resource]:
        """Yield the stages through which nodes and pods go, and the nodes; nothing beside machines."""
        said = site.cluster.simulated
        if said is None:
            return
        for pool in site.cluster.pools:
            yield from nodes(site.cluster, pool)
        yield stage("pod-starts", "Pod", [STAYS, expression(".status.phase", "In", "Pending")], STARTS)
        yield ends(said)
        failing = [STAYS, RUNS, expression(f'.metadata.annotations["{ENDS}"]', "In", "failed")]
        yield stage("pod-fails", "Pod", failing, ended("Failed", 1, "Error"))
        yield stage("pod-goes", "Pod", [expression(".metadata.deletionTimestamp", "Exists")], None)


def expression(key: str, operator: str, *values: str) -> dict[str, Any]:
    """Return the expression of a selector: what a stage looks for in an object."""
    return {"key": key, "operator": operator, **({"values": list(values)} if values else {})}


STAYS = expression(".metadata.deletionTimestamp", "DoesNotExist")
RUNS = expression(".status.phase", "In", "Running")


def stage(
    name: str, kind: str, selector: list[dict[str, Any]], status: str | None, *, at: tuple[str, ...] = (), **more: Any
) -> Resource:
    """Return a stage: what it looks for, and the status that it writes; without one it deletes."""
    reaches = {"statusTemplate": status} if status is not None else {"delete": True}
    spec = {
        "resourceRef": {"apiGroup": "v1", "kind": kind},
        "selector": {"matchExpressions": selector},
        "next": reaches,
        **more,
    }
    return Resource(API, "Stage", name, at or ("simulated",), fields={"spec": spec})


def ends(said: Simulation) -> Resource:
    """Return the stage in which pods of runs end well, after the cluster's time or that of their annotation."""
    delay = {
        "durationMilliseconds": said.end_after_seconds * 1000,
        "durationFrom": {"expressionFrom": f'.metadata.annotations["{ENDS_AFTER}"]'},
    }
    of_run = expression(f'.metadata.labels["{JOB}"]', "Exists")
    healthy = expression(f'.metadata.annotations["{ENDS}"]', "NotIn", "failed")
    well = ended("Succeeded", 0, "Completed")
    return stage("pod-ends", "Pod", [STAYS, RUNS, of_run, healthy], well, delay=delay)


def nodes(cluster: Cluster, pool: str) -> Iterator[Resource]:
    """Yield the stage of a pool, which writes what its nodes offer, and the nodes.

    Their status is KWOK's to write: an API server takes none that comes with an applied node once the node is there
    (kubernetes v1.35 pkg/registry/core/node/strategy.go PrepareForUpdate).
    """
    of_pool = machine(cluster, pool)
    offered = quantities(of_pool.allocatable)
    digest = hashlib.sha256(json.dumps(offered, sort_keys=True).encode()).hexdigest()[:16]
    here = [expression(f'.metadata.labels["{key}"]', "In", value) for key, value in cluster.selector_of(pool).items()]
    selector = [*here, expression(STATE, "NotIn", "true True")]
    at = ("pools", pool)
    yield stage(f"node-{pool}", "Node", selector, node_status(offered, digest), at=at, delay=PAUSE)
    taints = [{"key": taint.key, "value": taint.value or None, "effect": taint.effect} for taint in of_pool.taints]
    for name, labels in nodes_of(cluster, pool):
        notes = {**WAVE, FAKE_NODE: FAKE, MACHINE: digest}
        fields = {"spec": {"taints": [{key: item for key, item in taint.items() if item} for taint in taints]}}
        yield Resource("v1", "Node", name, at, labels={**WELL_KNOWN, **labels}, annotations=notes, fields=fields)


STATE = (
    f'[(.status.nodeInfo.machineID == .metadata.annotations["{MACHINE}"] | tostring), '
    '((.status.conditions // []) | map(select(.type == "Ready"))[0].status // "")] | join(" ")'
)
"""Whether a node offers what its annotation stands for, and whether it is ready."""

PAUSE = {"durationMilliseconds": 2000}
"""Between two attempts, while KWOK has not seen the stage of a changed pool yet.

Longer than a second, the step of times in a status: a write that changes nothing makes no event, and no next attempt.
"""


def node_status(offered: Mapping[str, str], digest: str) -> str:
    """Return the template of a node's status: what it offers, and nothing that it offered before."""
    names = " ".join(json.dumps(name) for name in offered)
    lists = "".join(
        f"{field}:\n"
        f"{{{{ range $name, $_ := .status.{field} }}}}{{{{ if not (eq $name {names}) }}}}\n"
        "  {{ $name | Quote }}: null\n{{ end }}{{ end }}\n"
        + "".join(f"  {json.dumps(name)}: {json.dumps(amount)}\n" for name, amount in sorted(offered.items()))
        for field in ("allocatable", "capacity")
    )
    return f"{NODE_HEAD}{lists}{NODE_INFO}  machineID: {json.dumps(digest)}\nphase: Running\n"


NODE_HEAD = (
    FIRST
    + """conditions:
{{ range NodeConditions }}
- lastHeartbeatTime: {{ $now | Quote }}
  lastTransitionTime: {{ $now | Quote }}
  message: {{ .message | Quote }}
  reason: {{ .reason | Quote }}
  status: {{ .status | Quote }}
  type: {{ .type | Quote }}
{{ end }}
addresses:
- address: {{ NodeIP | Quote }}
  type: InternalIP
- address: {{ NodeName | Quote }}
  type: Hostname
"""
)

NODE_INFO = """nodeInfo:
  architecture: {{ index .metadata.labels "kubernetes.io/arch" | Quote }}
  bootID: ""
  containerRuntimeVersion: {{ printf "kwok-%s" Version | Quote }}
  kernelVersion: {{ printf "kwok-%s" Version | Quote }}
  kubeProxyVersion: {{ printf "kwok-%s" Version | Quote }}
  kubeletVersion: {{ printf "kwok-%s" Version | Quote }}
  operatingSystem: linux
  osImage: simulated
  systemUUID: ""
"""

STARTS = (
    FIRST
    + """conditions:
{{ range $type := list "PodReadyToStartContainers" "Initialized" "ContainersReady" "Ready" }}
- type: {{ $type }}
  status: "True"
  lastTransitionTime: {{ $now | Quote }}
{{ end }}
{{ range .spec.readinessGates }}
- type: {{ .conditionType | Quote }}
  status: "True"
  lastTransitionTime: {{ $now | Quote }}
{{ end }}
containerStatuses:
{{ range .spec.containers }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  ready: true
  started: true
  restartCount: 0
  state: {running: {startedAt: {{ $now | Quote }}}}
{{ end }}
{{ with .spec.initContainers }}
initContainerStatuses:
{{ range . }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  ready: true
  restartCount: 0
{{ if eq (default "" .restartPolicy) "Always" }}
  started: true
  state: {running: {startedAt: {{ $now | Quote }}}}
{{ else }}
  state: {terminated: {exitCode: 0, reason: Completed, startedAt: {{ $now | Quote }}, finishedAt: {{ $now | Quote }}}}
{{ end }}
{{ end }}
{{ end }}
{{ with NodeIPWith .spec.nodeName }}
hostIP: {{ . | Quote }}
{{ end }}
{{ with PodIPWith .spec.nodeName (or .spec.hostNetwork false) .metadata.uid .metadata.name .metadata.namespace }}
podIP: {{ . | Quote }}
podIPs:
- ip: {{ . | Quote }}
{{ end }}
phase: Running
startTime: {{ $now | Quote }}
"""
)


def ended(phase: str, code: int, reason: str) -> str:
    """Return the template of the status of a pod whose containers have all ended."""
    return f"""{FIRST}{{{{ $pod := . }}}}containerStatuses:
{{{{ range .spec.containers }}}}
- image: {{{{ .image | Quote }}}}
  name: {{{{ .name | Quote }}}}
  ready: false
  restartCount: 0
  started: false
  state:
    terminated:
      exitCode: {code}
      finishedAt: {{{{ $now | Quote }}}}
      reason: {reason}
      startedAt: {{{{ $pod.status.startTime | Quote }}}}
{{{{ end }}}}
phase: {phase}
"""


OPERATOR = Kwok()
