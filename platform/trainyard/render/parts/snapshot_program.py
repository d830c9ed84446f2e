"""Take a snapshot of each claim, and delete those that are older than the newest good ones.

A CronJob runs this file alone, with Python 3.9 or later (docs/snapshots.md). It asks the API server by the pod's
service account. A snapshot has the hour in its name, so a second try in the same hour makes no second one. Only
snapshots of its own are deleted, and only while enough newer ones are ready: where the driver fails, the old ones stay.
"""

from __future__ import annotations

import json
import os
import ssl
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

ACCOUNT = Path(os.environ.get("SNAPSHOT_ACCOUNT", "/var/run/secrets/kubernetes.io/serviceaccount"))
HOST = os.environ.get("KUBERNETES_SERVICE_HOST", "kubernetes.default.svc")
PORT = os.environ.get("KUBERNETES_SERVICE_PORT", "443")
SERVER = os.environ.get("SNAPSHOT_SERVER") or f"https://{f'[{HOST}]' if ':' in HOST else HOST}:{PORT}"
API = "snapshot.storage.k8s.io/v1"
LABEL = "trainyard.dev/snapshots-of"
"""Of each snapshot that this program made: its claim."""


def say(text: str) -> None:
    """Print a line at once."""
    print(f"snapshots: {text}", flush=True)  # noqa: T201 - its log is how people see it


def ask(method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the API server's answer; raises HTTPError where it refuses, and OSError where it does not answer."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(SERVER + path, data=data, method=method)  # noqa: S310 - of the API server
    request.add_header("Authorization", f"Bearer {(ACCOUNT / 'token').read_text().strip()}")
    request.add_header("Content-Type", "application/json")
    context = ssl.create_default_context(cafile=str(ACCOUNT / "ca.crt")) if SERVER.startswith("https") else None
    with urllib.request.urlopen(request, timeout=60, context=context) as answer:  # noqa: S310 - of the API server
        found: dict[str, Any] = json.load(answer)
    return found


def take(namespace: str, claim: str, storage: str, stamp: str) -> str | None:
    """Make a snapshot of a claim; returns what is wrong, or None."""
    name = f"{claim}-{stamp}"
    body = {
        "apiVersion": API,
        "kind": "VolumeSnapshot",
        "metadata": {"name": name, "namespace": namespace, "labels": {LABEL: claim}},
        "spec": {"volumeSnapshotClassName": storage, "source": {"persistentVolumeClaimName": claim}},
    }
    try:
        ask("POST", f"/apis/{API}/namespaces/{namespace}/volumesnapshots", body)
    except urllib.error.HTTPError as error:
        if error.code != 409:
            return f"{namespace}/{name}: the API server answers {error.code}"
        say(f"{namespace}/{name} is there")
        return None
    say(f"{namespace}/{name} made")
    return None


def is_ready(snapshot: dict[str, Any]) -> bool:
    """Whether a snapshot can be restored."""
    return (snapshot.get("status") or {}).get("readyToUse") is True


def error_of(snapshot: dict[str, Any]) -> str | None:
    """Return the driver's last error of a snapshot, or None."""
    error = (snapshot.get("status") or {}).get("error") or {}
    return None if is_ready(snapshot) else error.get("message")


def surplus(snapshots: list[dict[str, Any]], keep: int) -> list[str]:
    """Return the names of the snapshots that are older than as many ready ones as are kept."""
    newest = sorted(snapshots, key=lambda item: (item["metadata"]["creationTimestamp"], item["metadata"]["name"]))[::-1]
    found, ready = [], 0
    for snapshot in newest:
        if ready >= keep:
            found.append(str(snapshot["metadata"]["name"]))
        ready += is_ready(snapshot)
    return found


def prune(namespace: str, claim: str, keep: int) -> list[str]:
    """Delete the surplus snapshots of a claim; returns what is wrong with those that stay."""
    place = f"/apis/{API}/namespaces/{namespace}/volumesnapshots"
    listed = ask("GET", f"{place}?labelSelector={LABEL.replace('/', '%2F')}%3D{claim}")["items"]
    old = surplus(listed, keep)
    for name in old:
        ask("DELETE", f"{place}/{name}")
        say(f"{namespace}/{name} deleted")
    kept = [item for item in listed if item["metadata"]["name"] not in old]
    return [f"{namespace}/{item['metadata']['name']}: {error}" for item in kept if (error := error_of(item))]


def claims_of(namespace: str, storage: str) -> list[str]:
    """Return the claims of a storage class in a namespace that are bound, and that are not gone with a pod."""
    found = []
    for claim in ask("GET", f"/api/v1/namespaces/{namespace}/persistentvolumeclaims")["items"]:
        about = claim["metadata"]
        of_pod = any(owner.get("kind") == "Pod" for owner in about.get("ownerReferences") or ())
        stays = (claim.get("status") or {}).get("phase") == "Bound" and not about.get("deletionTimestamp")
        if claim["spec"].get("storageClassName") == storage and stays and not of_pod:
            found.append(str(about["name"]))
    return sorted(found)


def main(storage: str, keep: int, namespaces: list[str], stamp: str) -> int:
    """Take and delete the snapshots of a storage class; returns 1 where anything is wrong, after all were tried."""
    wrong: list[str] = []
    for namespace in namespaces:
        try:
            claims = claims_of(namespace, storage)
        except (OSError, ValueError, KeyError) as error:
            wrong.append(f"{namespace}: {error}")
            continue
        for claim in claims:
            try:
                found = take(namespace, claim, storage, stamp)
                wrong += [found] if found else []
                wrong += prune(namespace, claim, keep)
            except (OSError, ValueError, KeyError) as error:
                wrong.append(f"{namespace}/{claim}: {error}")
    for text in wrong:
        say(f"error: {text}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]), sys.argv[3].split(","), time.strftime("%Y%m%d-%H", time.gmtime())))
