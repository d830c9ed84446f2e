"""A repository that uses all that may be written into one, and every way to change one of its files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from make import CLUSTER, JOB, REPOSITORY, TEAM, write_repository
from plan.own_policies import FEW

POLICY = '''\
"""Jobs say their purpose.

Why: people ask.
Fix: add it.
Source: ours
"""

from trainyard.checks import Problem, Severity

SEVERITY = Severity.WARNING


def check(world):
    for job in world.training_jobs():
        yield Problem(job.place("metadata"), "no purpose (1)")
'''

CLAIM = """\
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: scratch, namespace: nlp}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
"""

NOTE = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: note, namespace: default}\ndata: {a: b}\n"

VOLUME = {"name": "own", "persistentVolumeClaim": {"claimName": "checkpoints"}}

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"

CHANGES: dict[str, Callable[[Path], None]] = {}
"""By what changes, what changes it."""

Change = Callable[[Path], None]


def fleet(root: Path) -> Path:
    """Write the repository: two clusters, two teams, six jobs, small files, objects and policies of its own."""
    queue = CLUSTER["queues"]["research"]
    cidrs = {"pods": "10.0.0.0/14", "services": "10.4.0.0/16"}
    cluster = {**CLUSTER, "cidrs": cidrs, "queues": {"research": {**queue, "teams": ["nlp", "vision"]}}}
    other = {**cluster, "argocd": {**CLUSTER["argocd"], "destination": {"name": "eu"}}}
    small = {"files": [{"source": "config/a.yaml", "mountPath": "/etc/a"}]}
    jobs = {
        "nlp/plain": {**JOB, "nodes": 1},
        "nlp/asks": {**JOB, "nodes": 1, "env": {"SERVER": "http://db.ml-vision.svc:80"}},
        "nlp/small": {**JOB, "nodes": 1, **small},
        "nlp/claims": {**JOB, "nodes": 1, "volumes": [VOLUME]},
        "nlp/away": {**JOB, "nodes": 1, "cluster": "eu", "waive": {"own-vap": "it is so"}},
        "vision/plain": {**JOB, "nodes": 2, "env": {"A": "b"}},
    }
    write_repository(
        root,
        jobs=jobs,
        clusters={"test": cluster, "eu": other},
        teams={"nlp": TEAM, "vision": {**TEAM, "group": "vision-people"}},
        repository={**REPOSITORY, "live": False},
    )
    put(root, "jobs/nlp/config/a.yaml", "a: 1\n")
    put(root, "platform/extra/test/platform/note.yaml", NOTE)
    put(root, "platform/extra/test/teams/nlp/claim.yaml", CLAIM)
    put(root, "platform/extra/test/platform/vap.yaml", FEW.format(most=9).replace("own-few", "own-vap"))
    put(root, "policies/own_purpose.py", POLICY)
    put(root, "policies/own-few.yaml", FEW.format(most=30))
    return root


def put(root: Path, path: str, text: str) -> None:
    """Write a file."""
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)


def edit(path: str, before: str, after: str) -> Change:
    """Return a change that replaces a text in a file."""

    def edited(root: Path) -> None:
        text = (root / path).read_text()
        assert before in text, (path, before)
        (root / path).write_text(text.replace(before, after))

    return edited


def write(path: str, text: str) -> Change:
    """Return a change that writes a file."""
    return lambda root: put(root, path, text)


def remove(path: str) -> Change:
    """Return a change that removes a file."""
    return lambda root: (root / path).unlink()


CHANGES |= {
    "a job's nodes": edit("jobs/nlp/plain.yaml", "nodes: 1", "nodes: 2"),
    "a job's cluster": edit("jobs/nlp/plain.yaml", "cluster: test", "cluster: eu"),
    "a job of another team": edit("jobs/vision/plain.yaml", "A: b", "A: c"),
    "a job that is removed": remove("jobs/nlp/away.yaml"),
    "a job that is new": lambda root: put(root, "jobs/vision/new.yaml", (root / "jobs/nlp/plain.yaml").read_text()),
    "a small file": write("jobs/nlp/config/a.yaml", "a: 2\n"),
    "a small file that is removed": remove("jobs/nlp/config/a.yaml"),
    "a small file that nobody names": write("jobs/nlp/config/b.yaml", "b: 1\n"),
    "a job that another one takes for a small file": edit("jobs/nlp/small.yaml", "config/a.yaml", "plain.yaml"),
    "a job with the folder of another": lambda root: put(
        root,
        "jobs/nlp/saves.yaml",
        (root / "jobs/nlp/plain.yaml").read_text()
        + "checkpoint: {volume: checkpoints, size: 1Gi, everyMinutes: 20, folder: plain}\n",
    ),
    "a job that was another": lambda root: put(
        root, "jobs/nlp/moved.yaml", (root / "jobs/nlp/plain.yaml").read_text() + "renamedFrom: plain\n"
    ),
    "priorities of a cluster": edit("platform/clusters/test.yaml", "high: 1000", "high: 1001"),
    "nodes of a cluster's pool": edit(
        "platform/clusters/test.yaml", "nodes: 4\n    racks: 2", "nodes: 2\n    racks: 2"
    ),
    "operators of a cluster": edit("platform/clusters/test.yaml", "0.12.0", "0.11.1"),
    "a cluster that jobs of others run on": edit("platform/clusters/eu.yaml", "low: 0", "low: 1"),
    "an Argo CD whose settings another cluster then owns": edit(
        "platform/clusters/eu.yaml", "name: eu", "server: https://kubernetes.default.svc"
    ),
    "a cluster that is broken": edit("platform/clusters/eu.yaml", "kubernetes:", "kubernete:"),
    "a cluster that is removed": remove("platform/clusters/eu.yaml"),
    "a team's group": edit("platform/teams/nlp.yaml", "nlp-people", "others"),
    "a team's volumes": edit("platform/teams/nlp.yaml", "size: 1Ti", "size: 2Ti"),
    "a team's volume that a job names": edit("platform/teams/nlp.yaml", "checkpoints:", "scratch:"),
    "the namespace of another team": edit("platform/teams/vision.yaml", "group:", "namespace: ml-vision\ngroup:"),
    "a team that is broken": edit("platform/teams/vision.yaml", "group:", "grup:"),
    "a team that is removed": remove("platform/teams/vision.yaml"),
    "a team that is new": write("platform/teams/new.yaml", "group: new\n"),
    "registries": edit("platform/repository.yaml", "registry.example.com", "other.example.com"),
    "a policy that is switched off": lambda root: put(
        root,
        "platform/repository.yaml",
        (root / "platform/repository.yaml").read_text() + "policies: {own-purpose: {off: not wanted}}\n",
    ),
    "an object that is removed": remove("platform/extra/test/teams/nlp/claim.yaml"),
    "an object of a namespace": edit("platform/extra/test/teams/nlp/claim.yaml", "name: scratch", "name: other"),
    "an object of the platform": edit("platform/extra/test/platform/note.yaml", "a: b", "a: c"),
    "an object that is new": write("platform/extra/eu/platform/note.yaml", NOTE),
    "an object that is there twice": write("platform/extra/test/teams/nlp/note.yaml", NOTE),
    "a policy in Python": edit("policies/own_purpose.py", "(1)", "(2)"),
    "a policy in CEL": edit("policies/own-few.yaml", "< 30", "< 31"),
    "a policy that is removed": remove("policies/own_purpose.py"),
    "a policy that is broken": write("policies/own_purpose.py", "what?\n"),
    "a credential in a comment and in another file": lambda root: (
        edit("jobs/nlp/plain.yaml", "cluster: test", f"# {TOKEN}\ncluster: test")(root),
        edit("jobs/vision/plain.yaml", "A: b", f"A: {TOKEN}")(root),
        None,
    )[-1],
    "an object that a waiver of a job on another cluster names": remove("platform/extra/test/platform/vap.yaml"),
}
