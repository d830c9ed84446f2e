"""Programs that make jobs are frozen as other job files are: an unchanged one keeps its runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from make import JOB, TEAM, write_repository
from repo import Repo
from trainyard import __version__
from trainyard.base.findings import Finding
from trainyard.change.synth import session
from trainyard.render.tree import index, layout, ledger
from trainyard.render.tree.programs import active_runs
from trainyard.render.tree.snapshot import Snapshot

pytestmark = pytest.mark.node

TEAMS = {"nlp": {**TEAM, "python": True}}
FILES = [{"source": "config/a.txt", "mountPath": "/etc/a"}]


def sweep(*, before: str = "", args: str = "str(nodes)", name: str = "nodes") -> str:
    """Return a program that makes two jobs, which name a small file."""
    return f"""from trainyard.specs import Job
{before}

def jobs():
    print("two jobs")
    for nodes in (1, 2):
        yield f"sweep-{{{name}}}", Job.model_validate(
            {{**{JOB!r}, "nodes": nodes, "args": [{args}], "files": {FILES!r}}}
        )
"""


BY_CHANCE = sweep(before="import random", args="str(random.random())")
BY_CLOCK = sweep(before="import time", name="int(time.time()) % 997 + nodes")


def synth(repo: Repo) -> tuple[Finding, ...]:
    """Synthesise as the command does, and return what was found."""
    outcome = session.run(repo.root, __version__)
    if outcome.work is not None and not outcome.refused:
        list(outcome.work.write())
        outcome.save()
    return outcome.findings


def runs(repo: Repo) -> set[str]:
    """Return the names of the runs."""
    return {path.name for path in (repo.root / "generated/test/runs/nlp").glob("sweep-*")}


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """Make a live repository with a job and a program on main."""
    repo = Repo(tmp_path_factory.mktemp("first") / "repo")
    write_repository(repo.root, jobs={"nlp/train": JOB}, teams=TEAMS)
    repo.put("jobs/nlp/config/a.txt", "one")
    repo.put("jobs/nlp/sweep.py", sweep())
    assert synth(repo) == ()
    repo.commit()
    return repo


def merged(repo: Repo, text: str) -> None:
    """Have the program on main say something that an earlier release took, beside the runs that it made then."""
    repo.put("jobs/nlp/sweep.py", text)
    repo.commit()
    repo.git("switch", "-qc", "work")


def describe(repo: Repo) -> None:
    """Change another job of the team, in what starts no new run."""
    write_repository(repo.root, jobs={"nlp/train": {**JOB, "description": "longer"}}, teams=TEAMS)


@pytest.mark.parametrize("text", [BY_CHANCE, BY_CLOCK], ids=["other values", "other names"])
def test_another_job_s_change_leaves_an_unsteady_program_alone(repo: Repo, text: str) -> None:
    """Its runs are those of the base, and that it makes others is a warning until somebody touches it."""
    before = runs(repo)
    merged(repo, text)
    describe(repo)
    (found,) = synth(repo)
    assert (found.rule, found.frozen, found.is_error) == ("spec/python-same", True, False)
    assert runs(repo) == before


def test_another_program_s_change_leaves_it_alone_too(repo: Repo) -> None:
    """A program beside it is no small file of its jobs."""
    before = runs(repo)
    merged(repo, BY_CHANCE)
    repo.put("jobs/nlp/other.py", sweep().replace("sweep-", "other-"))
    assert [(item.rule, item.frozen) for item in synth(repo)] == [("spec/python-same", True)]
    assert runs(repo) == before


def test_a_program_that_changes_has_to_be_the_same_twice(repo: Repo) -> None:
    """A comment is enough, and nothing is written."""
    merged(repo, BY_CHANCE)
    repo.put("jobs/nlp/sweep.py", BY_CHANCE + "# again\n")
    (found,) = synth(repo)
    assert (found.rule, found.frozen, found.is_error) == ("spec/python-same", False, True)


def test_an_edit_and_a_small_file_make_new_runs(repo: Repo) -> None:
    """What a program says now counts where it, or what its jobs name, is not as at the base."""
    before = runs(repo)
    repo.git("switch", "-qc", "work")
    repo.put("jobs/nlp/sweep.py", sweep(args="'--more', str(nodes)"))
    assert synth(repo) == ()
    edited = runs(repo)
    repo.put("jobs/nlp/sweep.py", sweep())
    repo.put("jobs/nlp/config/a.txt", "two")
    assert synth(repo) == ()
    assert len(before) == len(edited) == len(runs(repo)) == 2
    assert not before & edited
    assert not before & runs(repo)


def test_a_job_that_a_program_makes_no_more_is_missed(repo: Repo) -> None:
    """Dropping a value is as deleting a file: the job has to be retired first."""
    repo.git("switch", "-qc", "work")
    repo.put("jobs/nlp/sweep.py", sweep().replace("(1, 2)", "(1,)"))
    (found,) = synth(repo)
    assert found.rule == "run/job-gone"
    assert "but jobs/nlp/sweep.py no longer yields it; yield it with retired=True" in found.message


def test_what_a_program_prints_is_kept(repo: Repo) -> None:
    """It is told where the program is run, and where what it makes is remembered."""
    describe(repo)
    for _ in range(2):
        outcome = session.run(repo.root, __version__)
        outcome.save()
        assert [(item.file, item.text) for item in outcome.printed] == [("jobs/nlp/sweep.py", "two jobs\n")]


def test_the_indexes_of_all_runs_are_read_at_once() -> None:
    """However many runs programs have, Git is asked for their contents a single time."""
    asked: list[list[str]] = []
    folders = {name: f"runs/nlp/{name}-0" for name in ("sweep-a", "sweep-b", "other-a", "train")}
    entries = {name: index.Entry("v1", "Pod", "nlp", name, f"jobs/nlp/{name.partition('-')[0]}.py") for name in folders}
    texts = {name: index.dump(folder, {"pod.yaml": entries[name]}).encode() for name, folder in folders.items()}

    def read(oids: Sequence[str]) -> Iterator[bytes]:
        asked.append(list(oids))
        return (texts[oid] for oid in oids)

    active = {
        ("test", "nlp", name): (ledger.Entry(f"{name}-0", "", "", "1.0.0"),) for name in (*folders, "sweep-unread")
    }
    base = Snapshot({f"test/{layout.index_file(folder)}": name for name, folder in folders.items()}, active, read=read)
    found = active_runs(["jobs/nlp/sweep.py", "jobs/nlp/other.py"], base)
    assert {program: [run.job for run in runs] for program, runs in found.items()} == {
        "jobs/nlp/sweep.py": ["sweep-a", "sweep-b"],
        "jobs/nlp/other.py": ["other-a"],
    }
    assert [sorted(item) for item in asked] == [["other-a", "sweep-a", "sweep-b"]]


def test_files_are_parted_by_cluster_once() -> None:
    """A snapshot never changes, so that asking for a cluster again costs nothing; a file of no cluster is in none."""
    files = {"a/x.yaml": "1", "ab/y.yaml": "2", "a/teams/z.yaml": "3", "a": "4"}
    base = Snapshot(files)
    assert dict(base.of_cluster("a")) == {"a/x.yaml": "1", "a/teams/z.yaml": "3"}
    assert base.of_cluster("a") is base.of_cluster("a")
    assert not base.of_cluster("b")
