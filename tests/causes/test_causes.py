"""One mistake in the platform's files is one finding at its line, and what follows from it is folded below it."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from conftest import ROOT
from make import CLUSTER, write_repository
from repo import Repo
from trainyard.base.findings import Finding, arrange
from trainyard.faces.cli._findings import reader
from trainyard.faces.report.text import render
from trainyard.faces.report.view import View
from trainyard.judge import causes, preflight
from trainyard.judge.causes.words import lines_below
from trainyard.judge.checks.result import Result

ATLAS = "platform/clusters/atlas.yaml"
BOREALIS = "platform/clusters/borealis.yaml"
NLP = "platform/teams/nlp.yaml"
VISION = "platform/teams/vision.yaml"
SETTINGS = "platform/repository.yaml"
JOB = "jobs/nlp/code-13b.yaml"

SHOWN = {
    "a pool is renamed": (ATLAS, "  h100:\n    shape", "  h100x:\n    shape"),
    "CPUs are reserved that no machine has": (ATLAS, "restricted\n", 'restricted\n      reservedSystemCPUs: "0-500"\n'),
    "a scheduler lacks its operator": (ATLAS, "operators:\n  kueue", "gang: coscheduling\noperators:\n  kueue"),
    "a queue admits a team that does not exist": (ATLAS, "teams: [nlp, vision]", "teams: [nlp, vison]"),
    "a fabric has a pool that does not exist": (ATLAS, "  pools: [h100]", "  pools: [h200]"),
    "a driver is misspelt": (ATLAS, "drivers: {csi.weka.io:", "drivers: {csi.wekaio:"),
}
"""Mistakes of which the report is read: file, what is written there, and what somebody makes of it."""

Place = tuple[str, int, int]

MORE: dict[str, tuple[str, str, str, str, str, int, int]] = {
    "a queue is renamed": (ATLAS, "  research:", "  reserch:", "64:3", "spec/misnamed", 23, 0),
    "a shape is misspelt": (ATLAS, "shape: dgx-h100\n", "shape: dgx-h1000\n", "8:12", "spec/unknown-shape", 0, 19),
    "a storage class is renamed": (ATLAS, "  shared:\n", "  sharedd:\n", "34:3", "spec/misnamed", 28, 0),
    "a priority is renamed": (ATLAS, "normal: 100", "norml: 100", "62:22", "spec/misnamed", 14, 0),
    "a level is misspelt": (ATLAS, "{rack: ex", "{rak: ex", "5:41", "spec/misnamed", 10, 0),
    "an operator is removed that others need": (
        ATLAS,
        '  jobset: {version: "0.12.0"}\n',
        "",
        "44:3",
        "pairing/needs",
        2,
        0,
    ),
    "a registry is misspelt": (SETTINGS, "[registry.exam", "[registry.exm", "7:14", "spec/misnamed", 169, 0),
    "a volume is renamed": (NLP, "  checkpoints:", "  checkpoint:", "5:3", "spec/misnamed", 41, 0),
    "a secret is renamed": (NLP, "[hugging-face,", "[huggingface,", "8:11", "spec/misnamed", 8, 0),
    "a team's field has a wrong value": (NLP, "restricted", "restricd", "3:14", "spec/choice", 1, 45),
    "a cluster's field does not exist": (
        ATLAS,
        "    racks: 2\n    b",
        "    rack: 2\n    b",
        "10:5",
        "spec/unknown-field",
        0,
        26,
    ),
    "a cluster's file is no YAML": (ATLAS, "kubeadm}", "kubeadm", "21:9", "decode/syntax", 0, 26),
    "a fabric has a type that does not exist": (ATLAS, "type: roce", "type: rce", "24:9", "spec/choice", 0, 26),
}
"""More of them: the place and the rule of the one error, how many findings follow, and how many jobs it blocks."""

CHANGED = {
    "a quota is lowered": (
        ATLAS,
        "{h100: {gpus: 96}",
        "{h100: {gpus: 0}",
        "67:27",
        "changed from 96 to 0 here, which breaks 3 jobs",
    ),
    "nodes are taken away": (ATLAS, "nodes: 16", "nodes: 2", "9:5", "changed from 16 to 2 here, which breaks 9 jobs"),
    "an operator is removed": (
        ATLAS,
        '  jobset: {version: "0.12.0"}\n',
        "",
        "40:1",
        "operator 'jobset' was removed here, but 2 jobs use it",
    ),
    "a namespace collides with a team's": (
        ATLAS,
        '5.1", dest',
        '5.1", namespace: nlp, dest',
        "4:28",
        "argocd.namespace was added here, which breaks 1 place",
    ),
    "a cluster is made a mere base": (
        "platform/clusters/cumulus.yaml",
        'kubernetes: "1.35"',
        'abstract: true\nkubernetes: "1.35"',
        "3:1",
        "cluster 'cumulus' was made abstract here, but 7 jobs use it",
    ),
    "a level is renamed": (
        ATLAS,
        "{rack: ex",
        "{rak: ex",
        "5:41",
        "level 'rack' was renamed to 'rak' here, but 8 jobs use it",
    ),
    "a secret is renamed": (
        NLP,
        "[hugging-face,",
        "[huggingface,",
        "8:11",
        "secret 'hugging-face' was renamed to 'huggingface' here, but 8 jobs use it",
    ),
}
"""What a change breaks in files that it does not touch: the changed line, and what is said there."""


def copy(root: Path) -> Path:
    """Copy the specs of this repository."""
    for folder in ("platform/clusters", "platform/teams", "platform/extra", "jobs"):
        shutil.copytree(ROOT / folder, root / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / SETTINGS, root / SETTINGS)
    return root


def edit(root: Path, file: str, old: str, new: str) -> None:
    """Make one mistake in a file."""
    path = root / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def explained(root: Path) -> list[Finding]:
    """Return the findings on specs with their causes, judged by the policies of this repository."""
    return causes.explain(preflight.check_repository(root, home=ROOT), ROOT)


def report(root: Path) -> str:
    """Return the report as people read it."""
    return render(Result(findings=explained(root)), View(lines=reader(root)))


@pytest.fixture(scope="module")
def committed(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """Return a copy of this repository's specs in Git."""
    repo = Repo(copy(tmp_path_factory.mktemp("causes") / "repository"))
    repo.commit()
    return repo


@pytest.mark.parametrize(("name", "change"), SHOWN.items(), ids=SHOWN)
def test_one_mistake_is_one_error_first_and_alone(name, change, tmp_path, golden):
    """The report of each mistake has one error, at the line that somebody wrote, before anything else."""
    root = copy(tmp_path)
    edit(root, *change)
    text = report(root)
    golden(f"golden/causes/{name.replace(' ', '-')}.report", text)
    assert text.count(": error: ") == 1
    assert text.startswith(f"{change[0]}:")


@pytest.mark.parametrize(("name", "change"), SHOWN.items(), ids=SHOWN)
def test_a_change_has_its_mistake_at_the_changed_line(name, change, committed, tmp_path, golden):
    """With a base in Git the error is at the line that the change touched."""
    root = committed.copied(tmp_path / "repository").root
    edit(root, *change)
    text = report(root)
    golden(f"golden/causes/{name.replace(' ', '-')}-since-the-base.report", text)
    assert text.count(": error: ") == 1


@pytest.mark.parametrize(("file", "old", "new", "at", "rule", "below", "blocks"), MORE.values(), ids=MORE)
def test_every_mistake_of_the_platform_is_one_error(file, old, new, at, rule, below, blocks, tmp_path):
    """Whatever is misspelt or gone, there is one error at its place, and everything else is below it."""
    root = copy(tmp_path)
    edit(root, file, old, new)
    ((finding, followers),) = arrange(explained(root))
    assert (str(finding.location), finding.rule) == (f"{file}:{at}", rule)
    assert (len(followers), len(finding.blocks)) == (below, blocks)


@pytest.mark.parametrize(("file", "old", "new", "at", "says"), CHANGED.values(), ids=CHANGED)
def test_what_a_change_breaks_elsewhere_is_said_where_it_changed(file, old, new, at, says, committed, tmp_path):
    """A change that is right by itself and breaks untouched files has the one error at its line."""
    root = committed.copied(tmp_path / "repository").root
    edit(root, file, old, new)
    ((finding, followers),) = arrange(explained(root))
    assert str(finding.location) == f"{file}:{at}"
    assert says in finding.message
    assert followers


def test_warnings_that_a_change_causes_are_below_the_changed_line(committed, tmp_path):
    """With a base the changed field is told, with the jobs below it; without one each job has its warning."""
    change = ("platform/clusters/strato.yaml", "max: 16}", "max: 160}")
    root = committed.copied(tmp_path / "repository").root
    edit(root, *change)
    ((finding, below),) = arrange(explained(root))
    assert finding.message == "pools.h100-spot.nodes.max changed from 16 to 160 here, which causes warnings in 2 jobs"
    assert (str(finding.location), finding.severity.value) == ("platform/clusters/strato.yaml:10:21", "warning")
    assert [item.rule for item in below] == ["ft-spot-elastic"] * 2
    assert next(iter(lines_below(finding, below))).startswith("2 jobs have warnings for this reason: nlp/")
    alone = copy(tmp_path / "alone")
    edit(alone, *change)
    assert [item.rule for item, _ in arrange(explained(alone))] == ["ft-spot-elastic"] * 2


def test_a_warning_in_a_file_that_the_change_touched_is_its_own(committed, tmp_path):
    """Whoever edits a job sees its warnings there, whatever else the change touches."""
    root = committed.copied(tmp_path / "repository").root
    edit(root, "platform/clusters/strato.yaml", "max: 16}", "max: 160}")
    edit(root, "jobs/nlp/spot-tune.yaml", "keep: 2", "keep: 3")
    rules = {finding.location.file: finding.rule for finding, _ in arrange(explained(root))}
    assert rules == {
        "platform/clusters/strato.yaml": "spec/breaks-others",
        "jobs/nlp/spot-tune.yaml": "ft-spot-elastic",
    }


def test_a_file_of_a_team_that_is_gone_is_one_error(committed, tmp_path):
    """Without a base it is said where the team is named first; with one, at the file that is gone."""
    alone = copy(tmp_path / "alone")
    (alone / VISION).unlink()
    ((named, below),) = arrange(explained(alone))
    assert (named.location.file, named.rule, len(below)) == (ATLAS, "spec/unknown-team", 13)
    root = committed.copied(tmp_path / "repository").root
    (root / VISION).unlink()
    ((gone, _),) = arrange(explained(root))
    assert (gone.location.file, gone.rule) == (VISION, "spec/breaks-others")


SHARED = {
    "a quota is raised": (
        ATLAS,
        "{h100: {gpus: 96}",
        "{h100: {gpus: 112}",
        "kq-overcommit",
        "queues.research.nominalQuota.h100",
        "queues.production.nominalQuota.h100",
    ),
    "a range is moved": (
        ATLAS,
        "services: 10.4.0.0/16",
        "services: 10.8.0.0/16",
        "spec/cidr-overlap",
        "cidrs.services",
        "cidrs.nodes",
    ),
    "a job's checkpoints are moved onto its data": (
        JOB,
        "checkpoints, mountPath: /checkpoints",
        "checkpoints, mountPath: /corpus",
        "spec/mount-path",
        "checkpoint.mountPath",
        "data[0].mountPath",
    ),
}
"""What does not go together at several fields: its rule, and where it stands with a base and without."""


@pytest.mark.parametrize(("file", "old", "new", "rule", "since", "alone"), SHARED.values(), ids=SHARED)
def test_a_conflict_stands_at_the_field_that_changed(file, old, new, rule, since, alone, committed, tmp_path):
    """Each of several fields may be wrong; the changed one is, and without a base it is the last of them."""
    for root, path in ((committed.copied(tmp_path / "since").root, since), (copy(tmp_path / "alone"), alone)):
        edit(root, file, old, new)
        ((finding, _),) = arrange(explained(root))
        assert (finding.rule, finding.path) == (rule, path)


def test_a_conflict_stays_at_the_field_of_a_job_that_changed(committed, tmp_path):
    """Where the change touched the field at which a conflict is told anyway, nothing moves."""
    root = committed.copied(tmp_path / "repository").root
    edit(root, JOB, "corpus, mountPath: /corpus", "corpus, mountPath: /checkpoints")
    paths = [finding.path for finding in explained(root) if finding.rule == "spec/mount-path"]
    assert paths == ["data[0].mountPath"]


@pytest.mark.parametrize("name", ["kind.yml", "old/kind.yaml"])
def test_a_file_in_a_wrong_place_is_one_error(name, committed, tmp_path):
    """A cluster whose file has a wrong ending or folder is told there alone, with the jobs that wait for it."""
    for root in (copy(tmp_path / "alone"), committed.copied(tmp_path / "since").root):
        path = root / "platform/clusters" / name
        path.parent.mkdir(exist_ok=True)
        (root / "platform/clusters/kind.yaml").rename(path)
        ((finding, below),) = arrange(explained(root))
        assert (finding.location.file, below) == (f"platform/clusters/{name}", [])
        assert "nlp/hello" in finding.blocks


@pytest.mark.parametrize("folder", ["clusters/atlas", "teams/vision"])
def test_a_file_with_another_name_is_one_error(folder, committed, tmp_path):
    """A cluster or a team whose file is renamed is told at the file, with a base and without."""
    for root in (copy(tmp_path / "alone"), committed.copied(tmp_path / "repository").root):
        path = root / f"platform/{folder}.yaml"
        path.rename(path.with_name(f"{path.stem}s.yaml"))
        ((finding, _),) = arrange(explained(root))
        assert finding.location.file == f"platform/{folder}s.yaml"


def test_an_error_of_a_jobs_own_stays(tmp_path):
    """What does not go away with the repair is told by itself, in the same job too."""
    root = copy(tmp_path)
    edit(root, *SHOWN["a pool is renamed"])
    edit(root, "jobs/ads/click-ranker.yaml", "image: registry.example.com", "image: elsewhere.example.com")
    told = {finding.rule: finding for finding, _ in arrange(explained(root))}
    assert told.keys() == {"spec/misnamed", "spec/image-registry"}
    assert told["spec/image-registry"].location.file == "jobs/ads/click-ranker.yaml"


def test_two_mistakes_are_two_errors(tmp_path):
    """Each has its own followers, and what follows from both together is below the first."""
    root = copy(tmp_path)
    edit(root, *SHOWN["a fabric has a pool that does not exist"])
    edit(root, *SHOWN["a queue admits a team that does not exist"])
    told = [(finding.rule, len(below)) for finding, below in arrange(explained(root))]
    assert told == [("spec/unknown-pool", 12), ("spec/unknown-team", 8)]


def test_a_misspelt_job_is_no_mistake_of_the_platform(tmp_path):
    """A name that one job misspells is told at the job, though nobody else uses the declared one."""
    root = copy(tmp_path)
    edit(root, "jobs/nlp/hello.yaml", "queue: ", "queue: x")
    ((finding, below),) = arrange(explained(root))
    assert (finding.location.file, below) == ("jobs/nlp/hello.yaml", [])


def test_a_name_that_others_use_is_not_taken_for_misspelt(tmp_path):
    """A declared name that a job uses stays as it is, however many use one much like it."""
    root = copy(tmp_path)
    edit(root, *SHOWN["a pool is renamed"])
    edit(root, "jobs/ads/click-ranker.yaml", "pool: h100", "pool: h100x")
    assert "spec/misnamed" not in {finding.rule for finding in explained(root)}


def test_a_broken_name_is_never_proposed(tmp_path):
    """No finding proposes a name at which an error stands."""
    root = copy(tmp_path)
    edit(root, *SHOWN["a queue admits a team that does not exist"])
    assert not any("did you mean 'vison'" in finding.message for finding in explained(root))


def test_without_errors_nothing_is_tried(tmp_path):
    """The findings of specs that are right are as they were."""
    checked = preflight.check_repository(copy(tmp_path), home=ROOT)
    warned = replace(checked, findings=[])
    assert causes.explain(warned, ROOT) is warned.findings


def test_two_errors_of_one_field_stay_two(tmp_path):
    """Two sentences of one rule on one field are both said: of a server that lacks two things."""
    mlflow = {**CLUSTER["operators"], "mlflow": {"version": "3.17.2"}}
    cluster = {**CLUSTER, "operators": mlflow, "tracking": {"mlflow": {"url": "https://a.example.com"}}}
    found = explained(write_repository(tmp_path, jobs={}, clusters={"test": cluster}))
    assert len([item for item in found if item.rule == "spec/tracking-server"]) == 2
