"""Probes and hooks of containers: whom the kubelet asks on their behalf, and how long an end may take."""

from __future__ import annotations

from trainyard.render.tenancy.shapes import ANY, AtMost, Fields, only

NEAR = only("")
"""Whom the kubelet may ask on behalf of a pod: the pod itself; its own 127.0.0.1 is the node's.

Source: kubernetes/pod-security-admission v0.35 policy/check_hostProbesAndhostLifecycle.go.
"""

HTTP = Fields("a probe", {"host": NEAR, "httpHeaders": ANY, "path": ANY, "port": ANY, "scheme": ANY})
TCP = Fields("a probe", {"host": NEAR, "port": ANY})
PROBE = Fields(
    "a probe",
    {
        **dict.fromkeys(("exec", "failureThreshold", "initialDelaySeconds", "periodSeconds"), ANY),
        **dict.fromkeys(("successThreshold", "timeoutSeconds"), ANY),
        "grpc": Fields("a probe", {"port": ANY, "service": ANY}),
        "httpGet": HTTP,
        "tcpSocket": TCP,
        "terminationGracePeriodSeconds": AtMost("grace"),
    },
    {"grpc": "host", "httpGet": "host", "tcpSocket": "host", "terminationGracePeriodSeconds": "grace"},
)
HANDLER = Fields(
    "a hook",
    {
        "exec": ANY,
        "httpGet": HTTP,
        "tcpSocket": TCP,
        "sleep": Fields("a hook", {"seconds": AtMost("grace")}, {"seconds": "grace"}),
    },
    {"httpGet": "host", "tcpSocket": "host", "sleep": "grace"},
)
HOOKS = Fields("the hooks of a container", {"postStart": HANDLER, "preStop": HANDLER, "stopSignal": ANY})
