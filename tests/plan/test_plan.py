from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from repo import Repo
from small_site import Site
from trainyard.base.documents import dump
from trainyard.base.documents.differences import differences
from trainyard.base.errors import SpecError, ToolError
from trainyard.base.memory import Memory, World
from trainyard.base.system.cache import Cache
from trainyard.change import plan
from trainyard.change.plan.compare.renames import renamed
from trainyard.change.plan.compare.runs import amount_of, ends
from trainyard.change.plan.decide.queues import Quota
from trainyard.change.plan.decide.rebuild import all_asked, rebuild
from trainyard.change.plan.effects import Rebuild
from trainyard.change.plan.read import lost_work
from trainyard.change.plan.read.shape import Shape, shape
from trainyard.change.plan.read.two_sides import Run, Sides
from trainyard.change.plan.words.headline import headline
from trainyard.render.tree import ledger
from trainyard.render.tree.snapshot import Snapshot


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """Make a live repository with three jobs on main, and go to a branch."""
    site = Site(Repo(tmp_path_factory.mktemp("first") / "repo"))
    for name in ("nlp/llm", "nlp/other", "vision/net"):
        site.job(name)
    site.clusters["eu"] = ["research"]
    site.commit()
    site.repo.git("switch", "-qc", "work")
    return site


@pytest.fixture
def site(first: Site, tmp_path: Path) -> Site:
    """Return a copy of it."""
    return first.copied(tmp_path / "repo")


def said(site: Site) -> plan.Plan:
    """Synthesise and return the plan."""
    site.synth()
    return plan.read_plan(site.repo.root)


def words(site: Site) -> list[str]:
    """Return the lines of a plan but for the base, the headline with warnings, and the last, on what is there."""
    found = said(site)
    lines = [line.strip() for line in plan.render(found).splitlines() if line.strip()]
    others = ("compared with ", "if these clusters were rebuilt", "! ")
    return [line for line in lines if line != headline(found) and not line.startswith(others)]


def test_a_plan_says_what_an_empty_cluster_would_start(site: Site) -> None:
    """Every active run, finished or not, and none that was retired; what was counted once is remembered."""
    site.job("nlp/llm", retired=True)
    ends = "would start again, also finished ones; retire those with `trainyard retire --finished`"
    assert plan.render(said(site)).splitlines()[-1] == f"if these clusters were rebuilt, 2 runs {ends}"
    for name in ("nlp/other", "vision/net"):
        site.job(name, retired=True)
    assert plan.render(said(site)).splitlines()[-1].startswith("runs: 3 stopped")


TWO_NODES: dict[str, Any] = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"name": "a-1"},
    "spec": {
        "completions": 2,
        "parallelism": 2,
        "template": {"spec": {"containers": [{"resources": {"limits": {"nvidia.com/gpu": "8"}}}]}},
    },
}


def test_the_gpus_of_all_runs_are_counted_once(tmp_path: Path) -> None:
    """A run that was seen before is not read again."""
    text, asked = dump(TWO_NODES).encode(), []

    def read(oids: Sequence[str]) -> Iterator[bytes]:
        asked.extend(oids)
        yield from (text for _ in oids)

    active = ledger.Entry("a-1", "s", "f", "1")
    files = {"test/runs/nlp/a-1/job.a-1.yaml": "id-1", "test/runs/nlp/b-1/job.b-1.yaml": "id-2"}
    ledgers = {("test", "nlp", "a"): (active,), ("test", "nlp", "b"): (replace(active, name="b-1", state="replaced"),)}
    tree, store = Snapshot(files, ledgers, read=read), Cache(tmp_path / "cache")
    for _ in range(2):
        sides = Sides(Snapshot(), tree, lambda _: (None, None))
        _, found = all_asked(sides, Memory(store, World()))
        assert rebuild(found, ()) == Rebuild(1, 16)
        assert rebuild(found, {"test"}) == Rebuild(1, 0)
    assert asked == ["id-1"]


CLUSTER_FILES = {
    "fake": "simulated: {}",
    "again": "base: fake",
    "real": "base: again\nsimulated: null",
    "loop": "base: loop",
}


@pytest.mark.parametrize(("cluster", "gpus"), [("fake", 0), ("again", 0), ("real", 16), ("loop", 16), ("gone", 16)])
def test_runs_of_a_rehearsal_hold_no_gpus(cluster: str, gpus: int):
    """Its nodes do not exist, so they cost nothing, and no work of theirs is lost."""

    def spec(file: str) -> tuple[bytes | None, bytes | None]:
        text = CLUSTER_FILES.get(Path(file).stem)
        return (text.encode(), text.encode()) if text else (None, None)

    run = dump(TWO_NODES).encode()
    tree = Snapshot({f"{cluster}/runs/nlp/a-1/job.a-1.yaml": "id"}, {}, read=lambda oids: [run for _ in oids])
    sides = Sides(tree, tree, spec)
    key = (cluster, "nlp", "a")
    (found,) = sides.runs({key: ledger.Entry("a-1", "s", "f", "1")}, old=False).values()
    assert amount_of(sides, found).gpus == gpus
    assert (ends(sides, found, "stops").lost == "nothing") == (not gpus)


def test_nothing_changes(site: Site) -> None:
    """A branch without changes leaves every run alone."""
    assert words(site) == ["runs: 3 unchanged; other objects: none changed"]


def test_a_new_job_starts(site: Site) -> None:
    """The others stay."""
    run = site.job("nlp/new")
    assert words(site) == [
        "cluster test",
        f"starts nlp/{run}",
        "Job of 2 pods, queue research",
        "runs: 1 new, 3 unchanged; other objects: none changed",
    ]


def test_an_edited_job_is_replaced(site: Site) -> None:
    """The plan says by what, why, and what it begins with."""
    old = site.run_of("nlp/llm")
    new = site.job("nlp/llm", nodes=5, restarts=1, description="words restart nothing")
    reason, state = (
        "changed: nodes (5 added), restarts (1 added)",
        "it has no checkpoints and starts from nothing",
    )
    assert words(site) == [
        "cluster test",
        f"replaces nlp/{old} with {new}",
        reason,
        "Job of 2 pods, queue research",
        state,
        "runs: 1 replaced, 2 unchanged; other objects: none changed",
    ]


def test_a_run_resumes_from_its_checkpoints(site: Site) -> None:
    """The plan says in which volume they are; another volume begins without any."""
    site.volume = "checkpoints"
    old = site.job("nlp/llm", nodes=4)
    site.commit()
    site.repo.git("switch", "-q", "main")
    site.repo.git("merge", "-q", "work")
    site.repo.git("switch", "-q", "work")
    new = site.job("nlp/llm", nodes=5)
    lines = words(site)
    assert any(f"replaces nlp/{old} with {new}" in line for line in lines)
    assert any("resumes from the checkpoints of llm in volume checkpoints" in line for line in lines)
    site.volume = "other"
    assert any("saves its checkpoints in volume other from now on" in line for line in words(site))
    site.job("nlp/llm", retired=True)
    assert any("its checkpoints stay in volume checkpoints" in line for line in words(site))


def test_a_job_that_looks_like_another_under_a_new_name_is_told_so(site: Site) -> None:
    """All fields are the same, and the job of the other name ends: with what its checkpoints would be kept."""
    site.volume = "checkpoints"
    old = site.job("nlp/llm", nodes=4)
    site.commit()
    site.repo.git("branch", "-f", "main", "work")
    site.job("nlp/llm", retired=True)
    new = site.job("nlp/big", nodes=4)
    lines = words(site)
    fields = "write renamedFrom: llm and checkpoint.folder: llm (`trainyard rename` writes both)"
    looks = f"it looks like llm under another name, but starts from nothing; to keep its checkpoints, {fields}"
    assert looks in lines[lines.index(f"starts nlp/{new}") :]
    assert any(line.startswith(f"stops nlp/{old}") for line in lines)
    site.job("nlp/big", nodes=5)
    assert not any("looks like" in line for line in words(site))


def test_jobs_that_a_program_renames_are_told_by_their_ledgers() -> None:
    """Without its program nobody knows what a job says: who ends without being retired goes on as somebody else."""

    def run(name: str, digest: str, folder: str = "") -> Run:
        mounts = [{"name": "c", "mountPath": "/c", "subPath": folder}]
        pod = {
            "containers": [{"env": [{"name": "CHECKPOINT_DIR", "value": "/c"}], "volumeMounts": mounts}],
            "volumes": [{"name": "c", "persistentVolumeClaim": {"claimName": "checkpoints"}}],
        }
        value = {"apiVersion": "batch/v1", "kind": "Job", "spec": {"template": {"spec": pod}}}
        entry = ledger.Entry(f"{name}-1", digest, "f", "1")
        return Run(("test", "nlp", name), entry, (value,), "jobs/nlp/sweep.py")

    def found(*news: Run, state: ledger.State = "replaced") -> list[str]:
        old = run("old", "s", "old")
        now = Snapshot({}, {old.key: (replace(old.entry, state=state),)})
        known = renamed(Sides(Snapshot({}), now, lambda _: (None, None)), news, {old.key: old})
        assert set(known.values()) <= {old.key}
        return [key[2] for key in known]

    assert found(run("same", "s", "same"), run("new", "t", "old")) == ["same"]
    assert found(run("new", "t", "old"), run("other", "u", "other")) == ["new"]
    assert found(run("new", "t", "new")) == ["new"]
    assert found(run("new", "t", "new"), run("other", "u", "other")) == []
    assert found(run("same", "s", "same"), state="retired") == []


def test_a_retired_job_stops(site: Site) -> None:
    """Its files go."""
    run = site.run_of("nlp/llm")
    site.job("nlp/llm", retired=True)
    shape, loss = "Job of 2 pods, queue research", "it has no checkpoints, so all its work is lost"
    assert words(site) == [
        "cluster test",
        f"stops nlp/{run}",
        shape,
        loss,
        "runs: 1 stopped, 2 unchanged; other objects: none changed",
    ]


def test_what_ends_is_said_first(site: Site) -> None:
    """A reviewer looks for what stops, and only then for what begins."""
    site.job("nlp/llm", retired=True)
    site.job("nlp/aaa")
    assert [line.split()[0] for line in words(site) if line.startswith("st")] == ["stops", "starts"]


def test_an_edited_frozen_file_is_said(site: Site) -> None:
    """In a live repository nobody renders a run differently: somebody edited it."""
    run = site.run_of("nlp/llm")
    path = site.generated / f"test/runs/nlp/{run}/job.{run}.yaml"
    path.write_text(path.read_text() + "# edited\n")
    assert f"edits files of nlp/{run}, which is refused: the run is frozen" in plan.render(
        plan.read_plan(site.repo.root)
    )


def test_a_ledger_that_cannot_be_read_is_said(site: Site) -> None:
    """Its runs would else look stopped."""
    (site.generated / "test/ledger/nlp/llm.json").write_text("{")
    (found,) = plan.read_plan(site.repo.root).findings
    assert found.is_error
    assert found.message.startswith("this ledger cannot be read")


LOSSES = {
    "no file": (None, 64, "it resumes from the checkpoints of llm in volume v"),
    "GPUs and minutes": (
        {"checkpoint": {"everyMinutes": 20}},
        64,
        "it resumes from the checkpoints of llm in volume v; at most 20 minutes of work (21 GPU-hours) are repeated",
    ),
    "CPUs, and the default": (
        {"checkpoint": {}},
        0,
        "it resumes from the checkpoints of llm in volume v; at most 30 minutes of work are repeated",
    ),
    "a damaged file": ({"checkpoint": {"everyMinutes": "x"}}, 8, "it resumes from the checkpoints of llm in volume v"),
}


@pytest.mark.parametrize(("job", "gpus", "words"), LOSSES.values(), ids=LOSSES)
def test_what_a_run_does_again(job, gpus: int, words: str) -> None:
    """At most the work since the last checkpoint, by the job's own interval."""
    assert lost_work.when_resumed(Shape("", "v", gpus), job, "llm").words == words


def test_a_job_on_another_cluster_starts_from_nothing(site: Site) -> None:
    """Checkpoints do not follow from one cluster to another, and the plan says so."""
    old = site.run_of("nlp/llm")
    new = site.job("nlp/llm", cluster="eu")
    state = "it starts from nothing: its checkpoints stay on cluster test"
    loss = "it has no checkpoints, so all its work is lost"
    assert words(site) == [
        "cluster eu",
        f"starts nlp/{new}, which replaces {old} on test",
        "Job of 2 pods, queue research",
        state,
        "cluster test",
        f"stops nlp/{old}: its job moves to eu",
        "Job of 2 pods, queue research",
        loss,
        "runs: 1 replaced, 2 unchanged; other objects: none changed",
    ]


def test_changed_objects_are_listed_with_their_fields(site: Site) -> None:
    """Platform objects that come, go and change, by folder."""
    site.clusters["test"] = ["research", "batch"]
    site.fields = {"ClusterQueue": {"spec": {"stopPolicy": "Hold"}}}
    assert words(site) == [
        "cluster eu",
        "1 object updated in place",
        "platform",
        "changes ClusterQueue research: spec.stopPolicy: None → Hold",
        "cluster test",
        "4 objects: 3 created, 1 updated in place",
        "platform",
        "adds ClusterQueue batch",
        "changes ClusterQueue research: spec.stopPolicy: None → Hold",
        "teams/nlp, teams/vision",
        "adds LocalQueue batch",
        "runs: 3 unchanged; other objects: 5 changed",
    ]


def test_a_removed_object_is_listed(site: Site) -> None:
    """So is everything of a cluster that goes."""
    del site.clusters["eu"]
    lines = words(site)
    assert "removes ClusterQueue research" in lines
    assert lines[lines.index("runs/nlp, runs/vision") + 1] == "removes ConfigMap runs"


def test_a_repository_that_is_not_live_starts_nothing(tmp_path: Path) -> None:
    """The plan says so first, and that runs are rendered again under their names."""
    site = Site(Repo(tmp_path / "repo"), live=False)
    run = site.job("nlp/llm")
    site.commit()
    site.template = "2"
    assert words(site) == [
        "live is false: no cluster syncs this repository, so nothing below happens yet",
        "cluster test",
        f"renders nlp/{run} differently",
        "runs: 1 rendered differently; other objects: none changed",
    ]


def test_the_first_commit_is_compared_with_nothing(tmp_path: Path) -> None:
    """All of it is new."""
    site = Site(Repo(tmp_path / "repo"))
    site.job("nlp/llm")
    site.synth()
    text = plan.render(plan.read_plan(site.repo.root))
    assert "\ncompared with nothing, because everything is new\n" in text
    assert "starts nlp/llm-" in text


def test_the_base_is_named(site: Site) -> None:
    """The plan says which commit it is compared with, and which branch led to it."""
    site.synth()
    commit = site.repo.git("rev-parse", "main")
    lines = plan.render(plan.read_plan(site.repo.root)).splitlines()
    assert f"compared with refs/heads/main at commit {commit[:12]}" in lines
    assert plan.read_plan(site.repo.root, ref="main").base == commit


def test_hardware_and_runs_in_one_change_are_a_finding(site: Site) -> None:
    """What drains nodes is merged and synced alone, never beside runs of the cluster."""
    site.hardware = ["rail-0"]
    assert [finding.rule for finding in said(site).findings] == []
    run = site.job("nlp/new")
    (found,) = said(site).findings
    assert found.rule == "run/hardware-with-runs"
    message = f"this pull request drains nodes of 'test' and changes runs there ({run}); split it in two"
    assert found.message == message
    assert "hardware (synced by hand; drains or reboots nodes)" in words(site)


def test_hardware_and_runs_of_different_clusters_are_none(site: Site) -> None:
    """Each cluster is for itself, and a new one has no runs to disturb."""
    site.hardware = ["rail-0"]
    site.job("nlp/new", cluster="eu")
    assert said(site).findings == ()
    site.clusters["new"] = ["research"]
    site.hardware_on = "new"
    site.job("nlp/second", cluster="new")
    assert said(site).findings == ()


def test_hardware_and_runs_before_anything_is_live_are_none(tmp_path: Path) -> None:
    """Nobody syncs it."""
    site = Site(Repo(tmp_path / "repo"), live=False)
    site.job("nlp/llm")
    site.commit()
    site.hardware = ["rail-0"]
    site.job("nlp/new")
    assert said(site).findings == ()


def test_without_git_there_is_no_plan(tmp_path: Path) -> None:
    """Two trees are needed."""
    with pytest.raises(SpecError, match=r"has no platform/repository\.yaml"):
        plan.read_plan(tmp_path)
    (tmp_path / "platform").mkdir()
    (tmp_path / "platform/repository.yaml").write_text("live: true\n")
    with pytest.raises(ToolError, match="no Git repository"):
        plan.read_plan(tmp_path)


def job(**pod: Any) -> dict[str, Any]:
    """Return a Job of four pods with eight GPUs each."""
    container = {
        "name": "trainer",
        "env": [{"name": "CHECKPOINT_DIR", "value": "/ckpt"}],
        "resources": {"limits": {"cpu": "8", "memory": "1Gi", "nvidia.com/gpu": "8", "example.com/rail": "2"}},
        "volumeMounts": [{"name": "data", "mountPath": "/data"}, {"name": "state", "mountPath": "/ckpt"}],
    }
    spec = {
        "nodeSelector": {"trainyard.dev/pool": "h100"},
        "containers": [container],
        "volumes": [
            {"name": "data", "persistentVolumeClaim": {"claimName": "web"}},
            {"name": "state", "persistentVolumeClaim": {"claimName": "checkpoints"}},
        ],
        **pod,
    }
    labels = {"kueue.x-k8s.io/queue-name": "research", "kueue.x-k8s.io/priority-class": "high"}
    template = {"spec": spec}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "x", "labels": labels},
        "spec": {"parallelism": 4, "completions": 4, "template": template},
    }


def test_a_run_is_told_from_its_manifests() -> None:
    """Pods, devices of all pods together, pool, queue, priority, and the claim of the checkpoints."""
    found = shape([{"apiVersion": "v1", "kind": "Service"}, job()], {})
    assert (
        found.words
        == "Job of 4 pods with 32 nvidia.com/gpu and 8 example.com/rail, pool h100, queue research, priority high"
    )
    assert found.claim == "checkpoints"


MALFORMED = {
    "nothing": [],
    "no map": [3, None, "x"],
    "no workload": [{"apiVersion": "v1", "kind": "Service"}],
    "no spec": [{"apiVersion": "batch/v1", "kind": "Job"}],
    "a kind that is a list": [{"apiVersion": "batch/v1", "kind": []}],
    "odd containers": [
        job(containers=[3, None, {"resources": {"limits": 7}, "env": 3, "volumeMounts": "x"}], volumes=3)
    ],
}


@pytest.mark.parametrize("objects", MALFORMED.values(), ids=MALFORMED)
def test_malformed_manifests_have_no_shape_and_no_traceback(objects: list[Any]) -> None:
    """A plan of a damaged tree is still a plan."""
    assert shape(objects, {}).claim is None


DIFFERENCES = {
    "equal": ({"a": 1}, {"a": 1}, []),
    "a value": ({"a": {"b": 1}}, {"a": {"b": 2}}, ["a.b: 1 → 2"]),
    "a type": ({"a": 1}, {"a": True}, ["a: 1 → true"]),
    "a new field": ({}, {"a": {"b": 1}}, ["a: {1 field} added"]),
    "a field less": ({"a": "x"}, {}, ["a: x removed"]),
    "a list": ({"a": [1, 2]}, {"a": [1, 3, 4]}, ["a[1]: 2 → 3", "a[2]: 4 added"]),
    "a shorter list": ({"a": [1, 2]}, {"a": []}, ["a[0]: 1 removed", "a[1]: 2 removed"]),
    "a long text": ({"a": "x" * 99}, {"a": None}, ["a: " + "x" * 39 + "… → null"]),
    "a list for a map": ({"a": {}}, {"a": [1]}, ["a: {} → [1 item]"]),
    "one more in a list": ({"a": ["x", "z"]}, {"a": ["x", "y", "z"]}, ["a[1]: y added"]),
    "an entry with a name": (
        {"a": [{"name": "x", "v": 1}, {"name": "z", "v": 1}]},
        {"a": [{"name": "y", "v": 9}, {"name": "x", "v": 1}, {"name": "z", "v": 2}]},
        ["a[0]: {name: y, …} added", "a[2].v: 1 → 2"],
    ),
    "JSON in a text": ({"a": '{"mtu": 9000, "b": 1}'}, {"a": '{"mtu": 1500, "b": 1}'}, ["a.mtu: 9000 → 1500"]),
    "a line of a text": ({"a": "x: 1\ny: 2\n"}, {"a": "x: 1\ny: 3\n"}, ["a line 2: y: 2 → y: 3"]),
    "long texts that part late": (
        {"a": "x" * 50 + "1"},
        {"a": "x" * 50 + "2"},
        ["a: …" + "x" * 12 + "1 → …" + "x" * 12 + "2"],
    ),
    "a digest": (
        {"a": "b@sha256:" + "1" * 64},
        {"a": "b@sha256:" + "2" * 64},
        [f"a: b@sha256:{'1' * 12}… → b@sha256:{'2' * 12}…"],
    ),
}


@pytest.mark.parametrize(("before", "after", "expected"), DIFFERENCES.values(), ids=DIFFERENCES)
def test_differences_in_words(before, after, expected) -> None:
    """Each field that differs is one phrase."""
    assert list(differences(before, after)) == expected


def test_a_key_among_lines_is_not_shown() -> None:
    """A text with a credential in it is compared as a whole, and nothing of it is told."""
    key = "-----BEGIN RSA PRIVATE KEY-----\n" + "\n".join(["MIIEow" + "ab9+" * 14] * 8)
    one, two = (f"x: 1\n{key}{item}\n-----END RSA PRIVATE KEY-----\n" for item in "xy")
    assert list(differences({"a": one}, {"a": two})) == ["a changed"]
    found = list(differences({"a": '{"password": "hunter2", "b": 1}'}, {"a": '{"password": "hunter3", "b": 2}'}))
    assert found == ["a changed"]


def test_a_new_waiver_is_told_of_a_run_that_stays(site: Site) -> None:
    """It restarts nothing, and a reviewer reads it with its reason."""
    run = site.run_of("nlp/llm")
    site.job("nlp/llm", waive={"ckp-interval": "it is short"})
    lines = words(site)
    assert lines[1:3] == [f"keeps nlp/{run} as it is", "waives: ckp-interval (reason: it is short)"]


def test_runs_with_one_cause_are_one_line(site: Site) -> None:
    """Four and more, with what they lose; a line for each is left where they differ."""
    for number in range(5):
        site.job(f"nlp/many-{number}")
    site.commit()
    site.repo.git("branch", "-f", "main", "work")
    for number in range(5):
        site.job(f"nlp/many-{number}", nodes=7)
    _, line, *details, _ = words(site)
    assert line.startswith("replaces 5 runs: nlp/many-0-")
    assert line.endswith("and 1 more")
    assert details == [
        "changed: nodes (7 added)",
        "each Job of 2 pods, queue research",
        "all work of the old runs is lost",
    ]
    site.job("nlp/many-0", nodes=8)
    assert sum(line.startswith("replaces") for line in words(site)) == 2


def test_a_plan_of_many_runs_is_one_page(site: Site) -> None:
    """Those that only begin are told together; with all asked, each is there."""
    for number in range(60):
        site.job(f"nlp/new-{number}")
    found = said(site)
    assert len(plan.render(found).splitlines()) < 12
    assert "starts 60 runs: nlp/new-0-" in plan.render(found)
    assert plan.render(found, everything=True).count("starts nlp/new-") == 60


def test_several_pools_have_the_quota_of_all() -> None:
    """A run that takes one of several pools is compared with what the queue has of them together."""
    queue = Quota({("a", "nvidia.com/gpu"): 16, ("b", "nvidia.com/gpu"): 8, ("b", "cpu"): 4})
    assert queue.quota(("a or b", "nvidia.com/gpu")) == 24
    assert queue.quota(("b", "nvidia.com/gpu")) == 8


PRICES = {
    "one pool": ({"a": {"nvidia.com/gpu": 8.0}}, 16.0),
    "two, each by its own": ({"a": {"nvidia.com/gpu": 8.0}, "b": {"nvidia.com/gpu": 2.0, "cpu": 4.0}}, 22.0),
    "one without GPUs": ({"a": {"nvidia.com/gpu": 8.0}, "cpu": {"cpu": 4.0}}, 16.0),
    "one that states none": ({"a": {"nvidia.com/gpu": 8.0}, "free": {"nvidia.com/gpu": 1.0}}, None),
    "the dearest of several": ({"a or b": {"nvidia.com/gpu": 8.0}}, 24.0),
    "several of which one states none": ({"a or free": {"nvidia.com/gpu": 8.0}}, None),
    "no pool": ({"": {"nvidia.com/gpu": 8.0}}, None),
    "no GPUs": ({"cpu": {"cpu": 4.0}}, None),
}


@pytest.mark.parametrize(("asks", "expected"), PRICES.values(), ids=PRICES)
def test_what_gpus_cost_in_an_hour(asks: dict[str, dict[str, float]], expected: float | None) -> None:
    """Those of each pool by its own price, nothing where one of them is not known."""
    text = dump({"pools": {"a": {"pricePerGpuHour": 2}, "b": {"pricePerGpuHour": 3}, "cpu": {}, "free": {}}}).encode()
    sides = Sides(Snapshot(), Snapshot(), lambda _: (None, text))
    assert sides.price("test", asks) == expected
