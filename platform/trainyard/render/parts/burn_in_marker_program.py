"""Mark the nodes whose GPUs failed the test of idle nodes, and take the mark from those that are good again.

A CronJob runs this file alone, with Python 3.9 or later (docs/health.md). It asks the API server by the pod's service
account, reads the ended pods of the test, and writes one condition of their nodes, which another program turns into
a taint. A mark goes when the node has restarted since and its newest test is good. Where more nodes fail than may be
marked, the test itself is probably at fault, and no node gets a new mark.
"""

from __future__ import annotations

import argparse
import json
import os
import ssl
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

ACCOUNT = Path(os.environ.get("MARKER_ACCOUNT", "/var/run/secrets/kubernetes.io/serviceaccount"))
HOST = os.environ.get("KUBERNETES_SERVICE_HOST", "kubernetes.default.svc")
PORT = os.environ.get("KUBERNETES_SERVICE_PORT", "443")
SERVER = os.environ.get("MARKER_SERVER") or f"https://{f'[{HOST}]' if ':' in HOST else HOST}:{PORT}"

PAGE = 200
"""Objects in one answer, so that thousands of nodes need little memory."""

BOOT = "; test again after a restart, boot "
"""Between a mark's fault and the boot of the node in which it was found."""

PROGRAMS = ("burn-in", "check")
"""How lines of the test begin, each followed by the node's name."""


def say(text: str) -> None:
    """Print a line at once."""
    print(f"marker: {text}", flush=True)  # noqa: T201 - its log is how people see it


def ask(method: str, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the API server's answer; raises HTTPError where it refuses, and OSError where it does not answer."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(SERVER + path, data=data, method=method)  # noqa: S310 - of the API server
    request.add_header("Authorization", f"Bearer {(ACCOUNT / 'token').read_text().strip()}")
    request.add_header("Content-Type", "application/strategic-merge-patch+json")
    context = ssl.create_default_context(cafile=str(ACCOUNT / "ca.crt")) if SERVER.startswith("https") else None
    with urllib.request.urlopen(request, timeout=60, context=context) as answer:  # noqa: S310 - of the API server
        found: dict[str, Any] = json.load(answer)
    return found


def read_all(path: str) -> Iterator[dict[str, Any]]:
    """Yield the objects of a collection, a page at a time."""
    further = ""
    while True:
        answer = ask("GET", f"{path}?limit={PAGE}{further}")
        yield from answer["items"]
        more = (answer.get("metadata") or {}).get("continue")
        if not more:
            return
        further = f"&continue={more}"


def ended(pod: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return when the container of a pod ended, and its last words; None for one that has not ended by itself."""
    statuses = (pod.get("status") or {}).get("containerStatuses") or [{}]
    state = (statuses[0].get("state") or {}).get("terminated") or {}
    if pod["metadata"].get("deletionTimestamp") or not state.get("finishedAt"):
        return None
    return str(state["finishedAt"]), str(state.get("message") or "")


def fault(node: str, words: str) -> str | None:
    """Return the fault of a GPU that the test's last words tell of this node; None where they tell of none."""
    for line in words.splitlines():
        for program in PROGRAMS:
            start = f"{program}: {node}: "
            if line.startswith(start) and "GPU" in line:
                return line[len(start) :][:200]
    return None


def newest(pods: Iterable[Mapping[str, Any]]) -> dict[str, tuple[str, str, str | None]]:
    """Return the newest result of each node: when, `Failed` or `Succeeded`, and the fault.

    A pod that failed without a fault of a GPU says nothing of its node, such as one whose image has no torch.
    """
    found: dict[str, tuple[str, str, str | None]] = {}
    for pod in pods:
        node, phase, end = (pod["spec"].get("nodeName"), (pod.get("status") or {}).get("phase"), ended(pod))
        if not node or end is None or phase not in {"Failed", "Succeeded"}:
            continue
        what = fault(node, end[1]) if phase == "Failed" else None
        if phase == "Failed" and what is None:
            continue
        found[node] = max(found.get(node, ("", "", None)), (end[0], phase, what), key=lambda item: item[0])
    return found


def mark_of(node: Mapping[str, Any], condition: str) -> Mapping[str, Any] | None:
    """Return the condition of a node by which it is marked; None where it is not."""
    there = (node.get("status") or {}).get("conditions") or ()
    return next((one for one in there if one["type"] == condition and one["status"] == "True"), None)


def changes(
    nodes: Iterable[Mapping[str, Any]], results: Mapping[str, tuple[str, str, str | None]], condition: str
) -> tuple[dict[str, str], list[str], int]:
    """Return the new marks by node, the nodes whose mark goes, and how many marks stay."""
    new: dict[str, str] = {}
    good: list[str] = []
    stay = 0
    for node in nodes:
        name = node["metadata"]["name"]
        boot = str(((node.get("status") or {}).get("nodeInfo") or {}).get("bootID"))
        at, phase, what = results.get(name, ("", "", None))
        mark = mark_of(node, condition)
        if mark is None:
            if phase == "Failed" and at > last_change(node, condition):
                new[name] = f"{what}{BOOT}{boot}"
        elif phase == "Succeeded" and at > mark["lastTransitionTime"] and not mark["message"].endswith(BOOT + boot):
            good.append(name)
        else:
            stay += 1
    return new, good, stay


def last_change(node: Mapping[str, Any], condition: str) -> str:
    """Return when the condition of a node last changed; a test that ended before is known already."""
    there = (node.get("status") or {}).get("conditions") or ()
    return next((str(one["lastTransitionTime"]) for one in there if one["type"] == condition), "")


def write(node: str, condition: str, status: str, message: str) -> None:
    """Write the condition of a node."""
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    value = {
        "type": condition,
        "status": status,
        "reason": "BurnInFailed" if status == "True" else "BurnInPassed",
        "message": message,
        "lastHeartbeatTime": now,
        "lastTransitionTime": now,
    }
    ask("PATCH", f"/api/v1/nodes/{node}/status", {"status": {"conditions": [value]}})
    say(f"{node}: {message}")


def parse(words: list[str]) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(prog="burn_in_marker.py")
    parser.add_argument("--namespace", required=True, help="of the test's pods")
    parser.add_argument("--condition", required=True, help="that marks a node")
    parser.add_argument("--most", type=int, required=True, help="nodes that may be marked at the same time")
    return parser.parse_args(words)


def main(words: list[str]) -> int:
    """Write the marks; returns 1 where too many nodes failed, or the API server refused one."""
    told = parse(words)
    results = newest(read_all(f"/api/v1/namespaces/{told.namespace}/pods"))
    new, good, stay = changes(read_all("/api/v1/nodes"), results, told.condition)
    wrong = []
    if new and stay + len(new) > told.most:
        names = ", ".join(sorted(new)[:5])
        wrong.append(f"{len(new)} nodes failed beside {stay} marked, more than {told.most}; none is marked: {names}")
        new = {}
    todo = [(name, "True", message) for name, message in new.items()]
    todo += [(name, "False", "the node has restarted and its GPUs are good") for name in good]
    for name, status, message in todo:
        try:
            write(name, told.condition, status, message)
        except urllib.error.HTTPError as error:
            wrong.append(f"{name}: the API server answers {error.code}")
    for text in wrong:
        say(f"error: {text}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
