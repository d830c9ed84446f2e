"""What the next runs of jobs come to is judged as they would be rendered now, where runs that are there stay."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from command import call as trainyard
from make import CLUSTER, JOB, REPOSITORY, TEAM, write_repository
from repo import Repo
from trainyard import __version__
from trainyard.base.documents import dump
from trainyard.change import plan
from trainyard.change.plan.decide import next_runs

pytestmark = [pytest.mark.node, pytest.mark.slow]

LIMIT = {
    "apiVersion": "v1",
    "kind": "LimitRange",
    "metadata": {"name": "containers", "namespace": "nlp"},
    "spec": {"limits": [{"type": "Container", "max": {"cpu": "207"}}]},
}
"""Room for whole nodes of which an agent holds eight CPUs, and for none without it."""
SITE: dict[str, Any] = {
    **{name: value for name, value in CLUSTER.items() if name != "topology"},
    "pools": {"gpu": {"shape": "dgx-h100", "nodes": 4}},
    "queues": {"research": {"teams": ["nlp"], "nominalQuota": {"gpu": {"gpus": 32}}}},
}
AGENT = {"daemons": [{"name": "agent", "cpus": 8, "memory": "64Gi"}]}
JOBS = {"nlp/train": JOB, "nlp/said": {**JOB, "cpusPerNode": 100, "memoryPerNode": "1Ti"}}


def pool(**changes: Any) -> dict[str, Any]:
    """Return the cluster with other fields in its pool."""
    return {**SITE, "pools": {"gpu": {**SITE["pools"]["gpu"], **changes}}}


def rendered(repo: Repo, site: dict[str, Any], jobs: dict[str, Any], *, live: bool = True) -> None:
    """Write the specs, and render them."""
    own = {**REPOSITORY, "live": live}
    write_repository(repo.root, jobs=jobs, teams={"nlp": TEAM}, clusters={"test": site}, repository=own)
    repo.put("platform/extra/test/teams/nlp/limit.yaml", dump(LIMIT))
    done = trainyard(repo.root, "synth")
    assert done.returncode == 0, done.stderr


def changed(folder: Path, before: dict[str, Any], after: dict[str, Any], **live: bool) -> Repo:
    """Return a repository whose cluster changes."""
    repo = Repo(folder / "repo")
    rendered(repo, before, JOBS, **live)
    repo.commit()
    repo.git("switch", "-qc", "work")
    rendered(repo, after, JOBS, **live)
    return repo


def test_a_next_run_that_never_fits_is_told(tmp_path: Path) -> None:
    """What asks for a whole node asks for more of a larger one, and of a limit; who says what it needs does not."""
    repo = changed(tmp_path, pool(**AGENT), SITE)
    for _ in range(2):
        found = plan.make_plan(repo.root, __version__, ref="main")
        assert found.decisions == ()
        (told,) = found.next_runs
        assert (told.team, told.job, told.before, told.after, told.rule) == (
            "nlp",
            "train",
            "fits",
            "never fits",
            "kq-never-fits",
        )
        said = plan.render(found)
        assert "the next run of 1 job never fits" in said
        assert "! the next run never fits or may not fit: nlp/train" in said
        assert f"test: the next run of nlp/train never fits: {told.detail} [kq-never-fits]" in said
        assert not found.refused


def test_what_is_remembered_renders_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the same change jobs are rendered once; of one that changes jobs alone none is."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    repo = changed(tmp_path, pool(**AGENT), SITE)
    with mock.patch.object(next_runs, "compare_next", wraps=next_runs.compare_next) as compared:
        plan.make_plan(repo.root, __version__, ref="main")
        assert compared.call_count == len(JOBS)
        plan.make_plan(repo.root, __version__, ref="main")
        assert compared.call_count == len(JOBS)
        repo.git("checkout", "-q", "main", "--", ".")
        rendered(repo, pool(**AGENT), {**JOBS, "nlp/more": {**JOB, "nodes": 1}})
        assert plan.make_plan(repo.root, __version__, ref="main").next_runs == ()
        assert compared.call_count == len(JOBS)


def test_where_nothing_is_frozen_the_runs_themselves_are_judged(tmp_path: Path) -> None:
    """A tree that no cluster syncs has the runs as they are rendered now."""
    repo = changed(tmp_path, pool(**AGENT), SITE, live=False)
    found = plan.make_plan(repo.root, __version__, ref="main")
    assert found.next_runs == ()
    assert [(decision.job, decision.after) for decision in found.decisions] == [("train", "never fits")]
