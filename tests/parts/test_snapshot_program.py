"""The program that takes snapshots is run against a server that answers as the API server does."""

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

from trainyard.render.parts import snapshot_program

PROGRAM = Path(snapshot_program.__file__)
LABEL = snapshot_program.LABEL


class Cluster(ThreadingHTTPServer):
    """An API server with claims and snapshots; every snapshot that is made is ready at once, unless told otherwise."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.claims: list[dict[str, Any]] = []
        self.snapshots: list[dict[str, Any]] = []
        self.ready = True
        self.refuses: set[str] = set()
        self.tokens: set[str | None] = set()

    def add(self, name: str, at: str, *, claim: str = "checkpoints", ready: bool = True, ours: bool = True) -> None:
        """Put a snapshot into the namespace `nlp`."""
        about = {"name": name, "namespace": "nlp", "creationTimestamp": at, "labels": {LABEL: claim} if ours else {}}
        status = {"readyToUse": True} if ready else {"readyToUse": False, "error": {"message": "pool is full"}}
        self.snapshots.append({"metadata": about, "status": status})

    def names(self) -> list[str]:
        """Return the names of all snapshots."""
        return sorted(item["metadata"]["name"] for item in self.snapshots)


class Handler(BaseHTTPRequestHandler):
    """Answers like the API server to what the program asks."""

    server: Cluster

    def answer(self, code: int, body: Any) -> None:
        """Send a JSON body."""
        data = json.dumps(body).encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self) -> None:
        """List claims, or the snapshots of one claim."""
        self.server.tokens.add(self.headers.get("Authorization"))
        if "persistentvolumeclaims" in self.path:
            namespace = self.path.split("/")[4]
            if namespace in self.server.refuses:
                return self.answer(403, {})
            return self.answer(200, {"items": self.server.claims if namespace == "nlp" else []})
        label = self.path.partition("labelSelector=")[2].replace("%2F", "/").replace("%3D", "=")
        key, _, value = label.partition("=")
        found = [item for item in self.server.snapshots if item["metadata"]["labels"].get(key) == value]
        return self.answer(200, {"items": found})

    def do_POST(self) -> None:
        """Make a snapshot; a name that is there is refused."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        about = body["metadata"]
        if about["name"] in self.server.names():
            return self.answer(409, {})
        about |= {"creationTimestamp": "2026-12-01T02:00:00Z"}
        self.server.snapshots.append({**body, "status": {"readyToUse": self.server.ready}})
        return self.answer(201, body)

    def do_DELETE(self) -> None:
        """Delete a snapshot."""
        name = self.path.rpartition("/")[2]
        self.server.snapshots = [item for item in self.server.snapshots if item["metadata"]["name"] != name]
        return self.answer(200, {})

    def log_message(self, *_: Any) -> None:
        """Print nothing."""


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """Yield a server with one claim of class `shared` that is bound, and others that are none to be looked at."""
    server = Cluster()
    for name, storage, phase, owners in (
        ("checkpoints", "shared", "Bound", []),
        ("waiting", "shared", "Pending", []),
        ("other", "fast", "Bound", []),
        ("scratch", "shared", "Bound", [{"kind": "Pod"}]),
    ):
        about = {"name": name, "namespace": "nlp", "ownerReferences": owners}
        server.claims.append({"metadata": about, "spec": {"storageClassName": storage}, "status": {"phase": phase}})
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()


def run(cluster: Cluster, folder: Path, keep: int = 2, namespaces: str = "nlp") -> tuple[int, str]:
    """Run the program as its pod does; returns exit code and output."""
    (folder / "token").write_text("a-token\n")
    env = {"SNAPSHOT_ACCOUNT": str(folder), "SNAPSHOT_SERVER": f"http://127.0.0.1:{cluster.server_address[1]}"}
    done = subprocess.run(
        [sys.executable, "-B", str(PROGRAM), "shared", str(keep), namespaces],
        env=env,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def test_each_bound_claim_of_the_class_gets_one(cluster, tmp_path):
    """Bound claims of the class get a snapshot an hour, those of pods, other classes and pending ones none."""
    code, _ = run(cluster, tmp_path)
    (name,) = cluster.names()
    assert (code, name.rpartition("-")[0].rpartition("-")[0]) == (0, "checkpoints")
    assert cluster.snapshots[0]["spec"]["source"] == {"persistentVolumeClaimName": "checkpoints"}
    assert cluster.tokens == {"Bearer a-token"}
    run(cluster, tmp_path)
    assert len(cluster.names()) <= 2  # two runs may lie on both sides of a full hour


def test_only_surplus_snapshots_of_its_own_are_deleted(cluster, tmp_path):
    """As many as are kept stay, with those of people."""
    for day in range(1, 5):
        cluster.add(f"checkpoints-2026110{day}-02", f"2026-11-0{day}T02:00:00Z")
    cluster.add("before-the-upgrade", "2026-10-01T00:00:00Z", ours=False)
    code, _ = run(cluster, tmp_path)
    assert (code, len(cluster.names())) == (0, 3)
    assert {"before-the-upgrade", "checkpoints-20261104-02"} < {*cluster.names()}


def test_nothing_good_is_deleted_while_the_driver_fails(cluster, tmp_path):
    """Snapshots that are not ready count for nothing; what the driver says is an error."""
    cluster.ready = False
    cluster.add("checkpoints-20261101-02", "2026-11-01T02:00:00Z")
    cluster.add("checkpoints-20261102-02", "2026-11-02T02:00:00Z")
    cluster.add("checkpoints-20261103-02", "2026-11-03T02:00:00Z", ready=False)
    code, text = run(cluster, tmp_path)
    assert (code, len(cluster.names())) == (1, 4)
    assert "error: nlp/checkpoints-20261103-02: pool is full" in text


def test_one_namespace_that_fails_stops_no_other(cluster, tmp_path):
    """A namespace that refuses is an error, and all others get their snapshots."""
    cluster.refuses = {"vision"}
    code, text = run(cluster, tmp_path, namespaces="vision,nlp")
    assert (code, len(cluster.names())) == (1, 1)
    assert "error: vision: HTTP Error 403" in text
