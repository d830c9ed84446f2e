"""A small repository with API types of its own, and ways to change each sort of input of a plan or a check."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from conftest import ROOT
from make import CLUSTER, JOB, REPOSITORY, TEAM, write_repository
from memory.mutations import CLAIM, NOTE, POLICY, Change, edit, put, write
from plan.own_policies import FEW
from repo import Repo
from trainyard.upstream.apiserver.catalog.served import from_index

TYPES = ("kubernetes/1.35", "argo-cd/3.5.1", "jobset/0.12.0", "kueue/0.19.2", "charts/jobset", "lock.yaml")
"""What the repository has of our API types and chart facts."""

LOOKING = POLICY.replace("Jobs say", "Notes say").replace(
    "def check(world):\n    for job in world.training_jobs():\n",
    "import os\nfrom pathlib import Path\n\n\n"
    "def check(world):\n"
    "    said = (Path(__file__).parent.parent / 'words.txt').read_text(), os.environ.get('TRAINYARD_WORDS')\n"
    "    for job in world.training_jobs() if said != ('a', None) else ():\n",
)
"""A policy that opens a file and reads a variable."""

MAKING = f"""from trainyard.specs import Job


def jobs():
    yield "made-a", Job.model_validate({{**{JOB!r}, "nodes": 1, "args": ["1"]}})
"""
"""A program that makes a job."""

JOBSET = "schemas/jobset/0.12.0/jobset.x-k8s.io/jobset_v1alpha2.json"

VALUES = {"controller": {"replicas": 1}}
"""What the cluster's file says to the chart of JobSet."""


@dataclass(frozen=True)
class Mutation:
    """A change of one input, a variable of the environment among them, and the command that shows it."""

    command: str
    change: Callable[[Repo], None] = lambda _: None
    env: Mapping[str, str] = field(default_factory=dict)
    before: Callable[[Repo], None] | None = None
    """What is there before, and remembered."""
    shows: bool = True
    """Whether the answer is another one then."""


def types(path: str, before: str, after: str) -> Callable[[Repo], None]:
    """Return a change of API types or chart facts, of which this process forgets what it has read."""

    def done(repo: Repo) -> None:
        edit(path, before, after)(repo.root)
        from_index.cache_clear()

    return done


def site(root: Path) -> Repo:
    """Write the repository: a cluster, two teams, a few jobs, and of each other input one."""
    operators = {**CLUSTER["operators"], "jobset": {"version": "0.12.0", "values": VALUES}}
    queue = {**CLUSTER["queues"]["research"], "teams": ["nlp", "made"]}
    small = {"files": [{"source": "config/a.yaml", "mountPath": "/etc/a"}]}
    write_repository(
        root,
        jobs={"nlp/plain": {**JOB, "nodes": 1}, "nlp/small": {**JOB, "nodes": 1, **small}},
        clusters={"test": {**CLUSTER, "operators": operators, "queues": {"research": queue}}},
        teams={"nlp": TEAM, "made": {**TEAM, "group": "makers", "python": True}},
        repository=REPOSITORY,
    )
    put(root, "jobs/nlp/config/a.yaml", "a: 1\n")
    put(root, "jobs/made/made.py", MAKING)
    put(root, "platform/extra/test/platform/note.yaml", NOTE)
    put(root, "platform/extra/test/teams/nlp/claim.yaml", CLAIM)
    put(root, "policies/own_purpose.py", POLICY)
    put(root, "policies/own-few.yaml", FEW.format(most=30))
    for part in TYPES:
        copy = shutil.copytree if (ROOT / "schemas" / part).is_dir() else shutil.copy2
        (root / "schemas" / part).parent.mkdir(parents=True, exist_ok=True)
        copy(ROOT / "schemas" / part, root / "schemas" / part)
    return Repo(root)


def on(change: Change) -> Callable[[Repo], None]:
    """Return a change of a folder as one of a repository."""
    return lambda repo: change(repo.root)


def looking(repo: Repo) -> None:
    """Have a policy that looks at more than objects."""
    put(repo.root, "policies/own_words.py", LOOKING)
    put(repo.root, "words.txt", "a")


def committed(change: Change) -> Callable[[Repo], None]:
    """Return a change that is committed on a branch, so that nobody has accepted it."""

    def done(repo: Repo) -> None:
        change(repo.root)
        repo.git("switch", "--quiet", "--create", "work")
        repo.commit()

    return done


MUTATIONS = {
    "a job's field": Mutation("plan", on(edit("jobs/nlp/plain.yaml", "nodes: 1", "nodes: 2"))),
    "a cluster's field": Mutation("check", on(edit("platform/clusters/test.yaml", "high: 1000", "high: 1001"))),
    "an object of one's own": Mutation("plan", on(edit("platform/extra/test/platform/note.yaml", "a: b", "a: 5"))),
    "chart facts": Mutation("plan", types("schemas/charts/jobset/0.12.0.yaml", "  replicas: 1", "  copies: 1")),
    "a schema of an operator": Mutation("validate", types(JOBSET, '"replicatedJobs"', '"tasks"')),
    "a policy in Python": Mutation("plan", on(edit("policies/own_purpose.py", "(1)", "(2)"))),
    "a policy in CEL": Mutation("validate", on(edit("policies/own-few.yaml", "< 30", "< 1"))),
    "a file that a policy opens": Mutation("plan", on(write("words.txt", "b")), before=looking),
    "a variable that a policy reads": Mutation("check", env={"TRAINYARD_WORDS": "b"}, before=looking),
    "a program that makes jobs": Mutation("check", on(edit("jobs/made/made.py", '"nodes": 1', '"nodes": 2'))),
    "an object that was generated": Mutation(
        "validate", on(edit("generated/test/platform/configmap.note.yaml", "a: b", "a: 5"))
    ),
    "whether programs may run without isolation": Mutation("plan", env={"TRAINYARD_UNSAFE_PYTHON": "1"}, shows=False),
    "whether a branch's policy counts": Mutation(
        "plan",
        env={"TRAINYARD_TRUST_CHECKOUT": "1"},
        before=committed(edit("policies/own_purpose.py", "(1)", "(2)")),
    ),
    "which branch is the default one": Mutation(
        "plan",
        env={"TRAINYARD_DEFAULT_BRANCH": "work"},
        before=committed(edit("policies/own_purpose.py", "(1)", "(2)")),
    ),
}
"""By the input that changes."""
