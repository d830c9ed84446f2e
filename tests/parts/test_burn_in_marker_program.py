"""The program that marks nodes is run against a server that answers as the API server does."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from trainyard.render.parts import burn_in_marker_program as program

PROGRAM = Path(program.__file__)
EARLY, MARKED, LATE = "2026-12-01T01:20:00Z", "2026-12-01T01:30:00Z", "2026-12-02T01:20:00Z"
LINE = "check: 8 GPUs on 1 nodes sum 1 GB: the run starts\nburn-in: {}: GPU 3 computes wrongly: 3 products differ"


class Handler(BaseHTTPRequestHandler):
    """Answers like the API server, a page of one object at a time."""

    def answer(self, code: int, body: Any) -> None:
        """Send a JSON body."""
        data = json.dumps(body).encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self) -> None:
        """List pods of the test, or nodes."""
        there = self.server.pods if "pods" in self.path else self.server.nodes  # type: ignore[attr-defined]
        start = int(self.path.partition("continue=")[2] or 0)
        more = {"continue": str(start + 1)} if start + 1 < len(there) else {}
        self.answer(200, {"items": there[start : start + 1], "metadata": more})

    def do_PATCH(self) -> None:
        """Write down a condition, unless the node is refused."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        name = self.path.split("/")[4]
        if name == "refused":
            return self.answer(403, {})
        (condition,) = body["status"]["conditions"]
        self.server.written[name] = condition  # type: ignore[attr-defined]
        return self.answer(200, body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


def pod(node: str, phase: str = "Failed", at: str = EARLY, message: str = LINE, **meta: Any) -> dict[str, Any]:
    """Return an ended pod of the test."""
    state = {"terminated": {"exitCode": 1, "finishedAt": at, "message": message.format(node)}}
    status = {"phase": phase, "containerStatuses": [{"state": state}]}
    return {"metadata": {"name": f"h100-{node}", **meta}, "spec": {"nodeName": node}, "status": status}


def node(name: str, mark: str = "", *, boot: str = "a", status: str = "True") -> dict[str, Any]:
    """Return a node, marked in the boot `mark`."""
    condition = {"type": "BurnInFailed", "status": status, "lastTransitionTime": MARKED, "message": program.BOOT + mark}
    found = {"conditions": [condition] if mark else [], "nodeInfo": {"bootID": boot}}
    return {"metadata": {"name": name}, "status": found}


@pytest.fixture
def server() -> Iterator[ThreadingHTTPServer]:
    """Return a server without objects."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as found:
        found.written = {}  # type: ignore[attr-defined]
        threading.Thread(target=found.serve_forever, daemon=True).start()
        yield found
        found.shutdown()


def run(server: Any, folder: Path, *, nodes: list[Any], pods: list[Any], most: int = 1) -> tuple[int, str]:
    """Run the program, and return its exit code and what it prints."""
    server.nodes, server.pods = nodes, pods
    (folder / "token").write_text("secret")
    env = {"MARKER_ACCOUNT": str(folder), "MARKER_SERVER": f"http://127.0.0.1:{server.server_address[1]}"}
    words = ["--namespace=burn-in", "--condition=BurnInFailed", f"--most={most}"]
    ended = subprocess.run([sys.executable, str(PROGRAM), *words], env=env, capture_output=True, text=True, check=False)
    return ended.returncode, ended.stdout + ended.stderr


def test_marks_come_and_go(server: Any, tmp_path: Path) -> None:
    """A failed node is marked; one that has restarted and passed is not any more; both pages of nodes are read."""
    nodes = [node("good"), node("bad"), node("repaired", "a", boot="b")]
    pods = [pod("good", "Succeeded", message=""), pod("bad"), pod("repaired"), pod("repaired", "Succeeded", LATE)]
    code, said = run(server, tmp_path, nodes=nodes, pods=pods)
    assert (code, {name: one["status"] for name, one in server.written.items()}) == (
        0,
        {"bad": "True", "repaired": "False"},
    ), said
    assert server.written["bad"]["message"].startswith("GPU 3 computes wrongly: 3 products differ; test again")


def test_too_many_failures_are_the_tests_fault(server: Any, tmp_path: Path) -> None:
    """Where more nodes fail than may be marked, with those that are, none is; marks that may go still go."""
    nodes = [node("one"), node("two", "a"), node("refused", "a", boot="b")]
    pods = [pod("one"), pod("refused", "Succeeded", LATE)]
    code, said = run(server, tmp_path, nodes=nodes, pods=pods)
    assert (code, server.written) == (1, {})
    assert "1 nodes failed beside 1 marked, more than 1; none is marked: one" in said
    assert "refused: the API server answers 403" in said


STAYS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "no restart since": (node("n", "a"), pod("n", "Succeeded", LATE)),
    "no test since the restart": (node("n", "a", boot="b"), pod("n", "Succeeded", EARLY)),
    "failed again": (node("n", "a", boot="b"), pod("n", "Failed", LATE)),
    "a person took the mark away after the test": (node("n", "a", status="False"), pod("n")),
    "an image without torch": (node("n"), pod("n", message="check: {}: the image has no torch that works")),
    "a fault of another node's name": (node("n"), pod("n", message="burn-in: m: GPU 3 is slow")),
    "preempted": (node("n"), pod("n", deletionTimestamp=LATE)),
    "still running": (node("n"), {**pod("n"), "status": {"phase": "Running"}}),
}


@pytest.mark.parametrize(("there", "tested"), STAYS.values(), ids=STAYS)
def test_nothing_changes(there: dict[str, Any], tested: dict[str, Any]) -> None:
    """A result that says nothing new of a node changes nothing."""
    new, good, _ = program.changes([there], program.newest([tested]), "BurnInFailed")
    assert (new, good) == ({}, [])
