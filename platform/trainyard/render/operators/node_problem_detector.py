"""Node Problem Detector: conditions and events of nodes from the kernel's log. The objects are made here."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

from trainyard.base.labels import OURS
from trainyard.base.pools import node_terms
from trainyard.render.operators.base import Operator, Site
from trainyard.render.parts.objects import Resource
from trainyard.render.sizing.health import DETECTOR, conditions, watched_faults, watched_pools

MONITOR = "kernel.json"

CONTENTS = f"{OURS}/monitor"
"""Annotation of the pods: the SHA-256 of their monitor."""

ROLE = "system:node-problem-detector"
"""ClusterRole that every API server makes: get nodes, patch their status, write events.

kubernetes v1.35.4 plugin/pkg/auth/authorizer/rbac/bootstrappolicy/policy.go.
"""

LOOKBACK = "87600h"
"""Ten years: a detector that starts again reads the log since the node's start, so that no condition is forgotten.

A node's start bounds it (node-problem-detector v1.36.0 pkg/util/helpers.go GetStartTime).
"""

PORT = 20257
"""Where pods offer metrics: `problem_gauge` of conditions, `problem_counter` of events."""


class NodeProblemDetector(Operator):
    """The detector as a DaemonSet on the nodes that are watched, with the faults of their hardware."""

    name = DETECTOR

    def own(self, site: Site) -> Iterator[Resource]:
        """Yield the detector, its account and its monitor; nothing where no node is watched."""
        if not watched_pools(site.cluster):
            return
        namespace = site.facts.namespace
        group = "rbac.authorization.k8s.io"
        subject = {"kind": "ServiceAccount", "name": DETECTOR, "namespace": namespace}
        binding = {"roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": ROLE}, "subjects": [subject]}
        yield Resource("v1", "ServiceAccount", DETECTOR, site.at, namespace)
        yield Resource(f"{group}/v1", "ClusterRoleBinding", DETECTOR, site.at, fields=binding)
        text = json.dumps(monitor(site), indent=2) + "\n"
        yield Resource("v1", "ConfigMap", DETECTOR, ("health",), namespace, fields={"data": {MONITOR: text}})
        yield Resource("apps/v1", "DaemonSet", DETECTOR, site.at, namespace, fields={"spec": daemon_set(site, text)})


def monitor(site: Site) -> dict[str, Any]:
    """Return the configuration of the monitor of the kernel's log; a pattern must match to the end of a line.

    Source: node-problem-detector v1.36.0 pkg/systemlogmonitor/config.go, types/types.go, log_buffer.go.
    """
    rules = []
    for fault in watched_faults(site.cluster):
        kind = {"type": "permanent", "condition": fault.condition} if fault.condition else {"type": "temporary"}
        suffix = {"patternGeneratedMessageSuffix": fault.what} if fault.what else {}
        rules.append({**kind, "reason": fault.reason, "pattern": fault.pattern, **suffix})
    return {
        "plugin": "kmsg",
        "logPath": "/dev/kmsg",
        "lookback": LOOKBACK,
        "bufferSize": 1,
        "source": "kernel-monitor",
        "metricsReporting": True,
        "conditions": [
            {"type": name, "reason": f"No{name}", "message": text} for name, text in conditions(site.cluster).items()
        ],
        "rules": rules,
    }


def daemon_set(site: Site, text: str) -> dict[str, Any]:
    """Return the DaemonSet; it tolerates every taint, so that it sees a tainted node get well.

    Its pods are replaced when their monitor changes, since the detector reads it at the start.
    """
    labels = {"app.kubernetes.io/name": DETECTOR}
    digest = hashlib.sha256(text.encode()).hexdigest()
    ((asked,),) = ([item.resources.model_dump() for item in daemon.containers] for daemon in site.facts.daemons)
    terms = node_terms(map(site.cluster.selector_of, watched_pools(site.cluster)))
    container = {
        "name": DETECTOR,
        "image": site.components["detector"]["image"],
        "command": [
            "/node-problem-detector",
            "--logtostderr",
            f"--config.system-log-monitor=/config/{MONITOR}",
            "--port=0",
            "--prometheus-address=0.0.0.0",
            f"--prometheus-port={PORT}",
        ],
        "env": [{"name": "NODE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}],
        "ports": [{"name": "metrics", "containerPort": PORT}],
        "resources": {kind: amounts for kind, amounts in asked.items() if amounts},
        "securityContext": {"privileged": True},
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": [
            {"name": "kmsg", "mountPath": "/dev/kmsg", "readOnly": True},
            {"name": "config", "mountPath": "/config", "readOnly": True},
        ],
    }
    pod = {
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}},
        "containers": [container],
        "priorityClassName": "system-node-critical",
        "serviceAccountName": DETECTOR,
        "tolerations": [{"operator": "Exists"}],
        "volumes": [
            {"name": "kmsg", "hostPath": {"path": "/dev/kmsg"}},
            {"name": "config", "configMap": {"name": DETECTOR}},
        ],
    }
    return {
        "selector": {"matchLabels": labels},
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "10%"}},
        "template": {"metadata": {"labels": labels, "annotations": {CONTENTS: digest}}, "spec": pod},
    }


OPERATOR = NodeProblemDetector()
