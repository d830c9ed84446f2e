"""Asks a running cluster what becomes of runs whose nodes are lost, and writes down what was seen.

Needs a cluster to throw away: tools/oracles/cluster/up --end-pods --nodes none, with Kueue and the operators of the
kinds that are asked about. Two or three kinds at a time keep two cores busy; each takes 14 minutes. VolcanoJob is asked
alone: Kueue's configuration is that of the first cluster that is asked about, and another one's would take its pods.
"""

from __future__ import annotations

import argparse
import gzip
import json
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "platform"), str(ROOT / "tests")]

from lost.asking import Asked, Watched, follow, objects, repair, strike, victims  # noqa: E402 - tests/ is no package
from lost.cases import FAULTS, KINDS, RANKS, Case, cases, repository  # noqa: E402
from make import write_repository  # noqa: E402
from trainyard.base.labels import JOB  # noqa: E402
from trainyard.render.operators.kueue import FORCED_DELETION, derive_configuration  # noqa: E402
from trainyard.specs import Cluster  # noqa: E402

LOOK = 3
"""Seconds between two looks."""

READY = 180
"""Seconds until all runs must have started."""


def main() -> int:
    """Ask, and write."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--kubeconfig", type=Path, required=True, help="of a cluster to throw away")
    parser.add_argument(
        "--configure", required=True, help="command that restarts Kueue, as tools/oracles/cluster/configure"
    )
    parser.add_argument("--fault", action="append", choices=FAULTS, help="only this fault; repeatable")
    parser.add_argument("--seconds", type=int, default=660, help="how long to look after the fault, before the repair")
    parser.add_argument("--after", type=int, default=120, help="how long to look after the repair")
    parser.add_argument("--kind", action="append", choices=KINDS, help="only this kind; repeatable")
    parser.add_argument("--output", type=Path, required=True, help="write all that was seen there, compressed")
    given = parser.parse_args()
    there = {case.name: Watched(case) for case in cases() if is_asked(case, given)}
    written = repository()
    clusters = {name: Cluster.model_validate(value) for name, value in written["clusters"].items()}
    asked_about = dict.fromkeys(watched.case.cluster for watched in there.values())
    configure(given.configure, [clusters[name] for name in asked_about])
    asked = Asked(given.kubeconfig)
    with tempfile.TemporaryDirectory() as folder:
        root = write_repository(Path(folder) / "repository", **written)
        subprocess.run([sys.executable, "-m", "trainyard", "synth", "--quiet"], cwd=root, check=True)
        make(asked, root, clusters, there)
    wait(asked, there)
    lose(asked, there)
    print(len(there), "cases begun", flush=True)
    watch(asked, there, given.seconds)
    for watched in there.values():
        watched.events.append((round(time.monotonic() - watched.begun), "REPAIR"))
        repair(asked, watched, clusters[watched.case.cluster])
    watch(asked, there, given.after)
    write_record(given.output, there)
    return 0


def make(asked: Asked, root: Path, clusters: dict[str, Cluster], there: dict[str, Watched]) -> None:
    """Make the nodes of all cases, and the objects that are rendered for them."""
    for watched in there.values():
        asked.add_node(clusters[watched.case.cluster], watched.case.name)
    for name in clusters:
        for item in objects(root / "generated" / name):
            job = item["metadata"].get("labels", {}).get(JOB)
            if job is None or job in there:
                asked.apply(item)


def wait(asked: Asked, there: dict[str, Watched]) -> None:
    """Wait until all runs have started."""
    end = time.monotonic() + READY
    while not all(map(started, there.values())):
        asked.look(there)
        if time.monotonic() > end:
            late = [name for name, watched in there.items() if not started(watched)]
            raise SystemExit(f"not started in {READY} seconds: {', '.join(late)}")
        time.sleep(2)
    time.sleep(5)
    asked.look(there)


def lose(asked: Asked, there: dict[str, Watched]) -> None:
    """Let each fault happen to nodes of its run."""
    for watched in there.values():
        watched.pods = {pod["metadata"]["uid"]: pod for pod in watched.now}
        watched.lost = victims(watched, watched.now)
        watched.begun = time.monotonic()
        strike(asked, watched)


def is_asked(case: Case, given: argparse.Namespace) -> bool:
    """Whether a case is asked about."""
    return case.kind in (given.kind or KINDS) and case.fault in (given.fault or FAULTS)


def watch(asked: Asked, there: dict[str, Watched], seconds: int) -> None:
    """Look until the time is over."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        begun = time.monotonic()
        asked.look(there)
        for watched in there.values():
            follow(asked, watched)
        time.sleep(max(0.1, LOOK - (time.monotonic() - begun)))


def started(watched: Watched) -> bool:
    """Whether all pods of the run are there and run."""
    pods = watched.now
    return len(pods) >= RANKS and all(pod["status"].get("phase") == "Running" for pod in pods)


def write_record(file: Path, there: dict[str, Watched]) -> None:
    """Write what was seen, beside the other cases that a file has."""
    found = json.loads(gzip.decompress(file.read_bytes())) if file.exists() else {}
    for name, watched in there.items():
        before = sorted(
            f"{pod['metadata']['name']} {uid[:4]} {pod['spec'].get('nodeName')}" for uid, pod in watched.pods.items()
        )
        told = [event for event in watched.events if event[0] >= 0 or event[1].startswith("pod ")]
        found[name] = {"lost": watched.lost, "before": before, "events": told}
    file.write_bytes(gzip.compress(json.dumps(found).encode(), mtime=0))


def configure(command: str, clusters: list[Cluster]) -> None:
    """Have Kueue configured as the first cluster's, with the integrations of all."""
    config = derive_configuration(clusters[0])
    every = {name for one in clusters for name in derive_configuration(one)["integrations"]["frameworks"]}
    config["integrations"]["frameworks"] = sorted(every)
    config["featureGates"] = {FORCED_DELETION: True}  # which the chart's value sets otherwise
    subprocess.run(shlex.split(command), input=json.dumps(config), text=True, check=True)


if __name__ == "__main__":
    sys.exit(main())
