"""`new job` writes a job file that passes, or nothing."""

from __future__ import annotations

import os
import pty
import shutil
import sys

import pytest

from conftest import ROOT
from trainyard.base.system import files
from trainyard.faces.cli import main
from trainyard.judge.preflight import check_repository

IMAGE = "registry.example.com/ads/x@sha256:6b1f0c2e9d8a47530f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a6978"
GIVEN = ["--cluster", "kind", "--image", IMAGE, "--program", "train.py"]


def copied(root):
    """Return a folder with our platform, a job and a program."""
    shutil.copytree(ROOT / "platform", root / "platform", ignore=shutil.ignore_patterns("trainyard", "__pycache__"))
    for name in ("ads/recommender.yaml", "nlp/adapter-sweep.py"):
        (root / "jobs" / name).parent.mkdir(parents=True)
        shutil.copyfile(ROOT / "jobs" / name, root / "jobs" / name)
    return root


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """A copy of what people wrote here, as the working folder."""
    monkeypatch.chdir(copied(tmp_path))
    return tmp_path


@pytest.fixture(scope="module", autouse=True)
def repository(tmp_path_factory):
    """One copy for tests that change nothing; it is judged once, so that no test has to wait for what is loaded."""
    root = copied(tmp_path_factory.mktemp("repository"))
    assert not check_repository(root).findings
    return root


@pytest.fixture
def shared(repository, monkeypatch):
    """That copy as the working folder."""
    monkeypatch.chdir(repository)
    return repository


def typed(capsys, monkeypatch, answers, *arguments):
    """Run `new job` at a terminal of its own, at which somebody types these lines and then leaves."""
    ours, theirs = pty.openpty()
    os.write(ours, "".join(f"{line}\n" for line in answers).encode() + b"\x04")
    with os.fdopen(ours, "wb"), os.fdopen(theirs, encoding="utf-8") as terminal:
        monkeypatch.setattr(sys, "stdin", terminal)
        return call(capsys, *arguments)


def call(capsys, *arguments):
    """Run `new job`; exit code, standard output and standard error."""
    with pytest.raises(SystemExit) as stopped:
        main(["new", "job", *arguments])
    return stopped.value.code, *capsys.readouterr()


def test_new_job_passes(copy, capsys):
    """Queue and pool follow where there is one choice, and the repository with the new file has no findings."""
    code, out, _ = call(capsys, "ads/hello", *GIVEN, "--nodes", "2")
    assert (code, out) == (0, "wrote jobs/ads/hello.yaml; next: trainyard synth\n")
    checked = check_repository(copy)
    job = next(one_job.job for one_job in checked.specs.jobs if one_job.name == "hello")
    assert not checked.findings
    assert (job.queue, job.pool, job.nodes, job.gpus_per_node) == ("laptop", "cpu", 2, 0)


def test_new_job_asks_for_whole_nodes(copy, capsys):
    """On GPU nodes a job gets all GPUs of a node unless it says how many."""
    call(capsys, "nlp/big", "--cluster", "atlas", "--pool", "h100", "--image", IMAGE, "--program", "t.py")
    assert "gpusPerNode: 8\n" in (copy / "jobs/nlp/big.yaml").read_text()


@pytest.mark.parametrize(("nodes", "fabric"), [("2", "rdma"), ("1", None)])
def test_new_job_of_several_nodes_trains_over_their_fabric(copy, capsys, nodes, fabric):
    """What the pool has for traffic between nodes is used from the start; one node needs none of it."""
    some = ["--cluster", "atlas", "--pool", "h100", "--queue", "research", "--nodes", nodes]
    assert call(capsys, "nlp/big", *some, "--image", IMAGE.replace("/ads/", "/nlp/"), "--program", "t.py")[0] == 0
    job = next(one_job.job for one_job in check_repository(copy).specs.jobs if one_job.name == "big")
    assert (job.fabric if "fabric" in job.model_fields_set else None) == fabric


def test_new_job_of_any_executable(copy, capsys):
    """A command is written word by word, quotes as in a shell, and needs no launcher to be said."""
    given = ["--cluster", "kind", "--image", IMAGE, "--command", "bash -c './train --steps 5'"]
    code, _, _ = call(capsys, "ads/hello", *given)
    job = next(one_job.job for one_job in check_repository(copy).specs.jobs if one_job.name == "hello")
    assert (code, job.launcher, job.command) == (0, "exec", ("bash", "-c", "./train --steps 5"))


REFUSED = {
    "a program and a command": (
        ["ads/x", *GIVEN, "--command", "./train"],
        "--program and --command cannot be combined",
    ),
    "a quote that is not closed": (
        ["ads/x", "--cluster", "kind", "--image", IMAGE, "--command", "bash -c 'x"],
        "has an unclosed quote",
    ),
    "a team that does not exist": (
        ["adz/x", *GIVEN],
        "did you mean 'ads'? there are: ads, nlp, speech, templates, vision",
    ),
    "a team unlike any other": (
        ["zzz/x", *GIVEN],
        "team 'zzz' does not exist; there are: ads, nlp, speech, templates, vision",
    ),
    "a name without a team": (["hello", *GIVEN], "must be <team>/<job>"),
    "a team without a job": (["ads", *GIVEN], "name 'ads' must be <team>/<job>; write ads/<job>"),
    "a name of three parts": (["ads/../nlp/x", *GIVEN], "job name"),
    "a name in capitals": (["ads/Hello", *GIVEN], "only lower-case letters"),
    "no name": (GIVEN, "missing argument 'name': name, as <team>/<job>"),
    "a job that is there": (["ads/recommender", *GIVEN], "exists already, in jobs/ads/recommender.yaml"),
    "a job that a program makes": (
        ["nlp/adapter-sweep-1e4-r8", *GIVEN],
        "exists already, in jobs/nlp/adapter-sweep.py",
    ),
    "a cluster that does not exist": (["ads/x", "--cluster", "kund"], "did you mean 'kind'?"),
    "a cluster that does not admit the team": (["ads/x", "--cluster", "zephyr"], "there are: atlas, kind, nimbus"),
    "a choice that nobody can answer": (["ads/x", "--cluster", "atlas"], "--pool is missing; there are: cpu, h100"),
    "an image without a digest": (["ads/x", *GIVEN[:3], "registry.example.com/a:latest", *GIVEN[4:]], "image"),
    "a launcher that does not exist": (["ads/x", *GIVEN, "--launcher", "torchrn"], "did you mean 'torchrun'?"),
    "nodes in words": (["ads/x", *GIVEN, "--nodes", "two"], "nodes is 'two', but must be a whole number, 1 or more"),
    "no nodes": (["ads/x", *GIVEN, "--nodes", "0"], "nodes is '0', but must be a whole number, 1 or more"),
    "half a node": (["ads/x", *GIVEN, "--nodes", "1.5"], "nodes is '1.5', but must be a whole number"),
    "digits of another script": (["ads/x", *GIVEN, "--nodes", "\u0662"], "but must be a whole number"),
    "GPUs where there are none": (
        ["ads/x", *GIVEN, "--gpus", "8"],
        "has no GPUs; choose another pool, or request none",
    ),
    "more GPUs than a node has": (
        ["nlp/x", "--cluster", "atlas", "--pool", "h100", "--gpus", "16"],
        "gpus is 16, but pool 'h100' has nodes of 8; use at most 8",
    ),
    "a fabric where there is none": (["ads/x", *GIVEN, "--fabric", "rdma"], "fabric 'rdma' does not exist"),
    "minutes of no checkpoint": (["ads/x", *GIVEN, "--every-minutes", "5"], "--every-minutes has no effect here"),
    "a volume that one node alone can write to": (
        ["ads/x", *GIVEN, "--nodes", "2", "--checkpoint", "scratch"],
        "checkpoint 'scratch' does not exist; there are: none",
    ),
    "a size without a unit": (
        ["ads/x", *GIVEN, "--checkpoint", "scratch", "--checkpoint-size", "5"],
        "write a unit such as 5Gi",
    ),
    "a secret's value": (["nlp/x", *GIVEN, "--secrets", "HF_TOKEN=hf_abcdef"], "never the value"),
    "a secret of somebody else": (["nlp/x", *GIVEN, "--secrets", "T=wandbb/key"], "did you mean 'wandb'?"),
    "hours in words": (
        ["ads/x", *GIVEN, "--max-hours", "long"],
        "max-hours is 'long', but must be a number of hours",
    ),
}


@pytest.mark.parametrize(("arguments", "message"), REFUSED.values(), ids=REFUSED)
def test_new_job_that_would_not_pass_is_not_written(shared, capsys, arguments, message):
    """Whatever is wrong is said in a sentence, and no file is written."""
    before = {path: path.read_bytes() for path in shared.rglob("*") if path.is_file()}
    found, _, err = call(capsys, *arguments)
    assert (found, err.count("\n")) == (2, 1)
    assert message in err
    assert {path: path.read_bytes() for path in shared.rglob("*") if path.is_file()} == before


def test_what_only_the_whole_repository_refuses_is_told_as_a_finding(shared, capsys):
    """What follows from answers that are right one by one is judged as in a check."""
    code, out, err = call(capsys, "ads/x", *GIVEN, "--nodes", "9")
    assert (code, out) == (1, "")
    assert "nodes is 9" in err
    assert err.endswith("nothing was written\n")
    assert not (shared / "jobs/ads/x.yaml").exists()


def test_a_person_is_asked_again(copy, capsys, monkeypatch):
    """At a terminal a wrong answer is told and asked for again, also one that only the whole file shows to be wrong."""
    answers = ["kund", "kind", "two", "9", "train.py --lr 1", "train.py", "", "bert", IMAGE, "", "12", "1"]
    code, out, err = typed(capsys, monkeypatch, answers, "ads/hello")
    assert (code, out) == (0, "wrote jobs/ads/hello.yaml; next: trainyard synth\n"), err
    told = [line.strip() for line in err.splitlines()]
    assert "cluster (atlas, kind, nimbus): " in err
    assert "nodes [1]: " in err
    for sentence in (
        "cluster 'kund' does not exist; did you mean 'kind'? there are: atlas, kind, nimbus",
        "nodes is 'two', but must be a whole number, 1 or more",
        "program must be a path without spaces; put arguments into args",
    ):
        assert any(sentence in line for line in told), sentence
    assert "image has no digest; write @sha256:" in err
    assert "but pool 'cpu' has" in err
    job = next(one_job.job for one_job in check_repository(copy).specs.jobs if one_job.name == "hello")
    assert (job.nodes, job.max_hours) == (1, 12)


def test_a_person_is_asked_for_what_the_wrong_follows_from(copy, capsys, monkeypatch):
    """A queue that nobody chose is too small: what was answered is offered once more, to be changed."""
    path = copy / "platform/clusters/kind.yaml"
    path.write_text(path.read_text().replace("nominalQuota: {cpu: {nodes: 3}}", "nominalQuota: {cpu: {nodes: 1}}"))
    answers = ["kind", "2", "train.py", "", IMAGE, "", "", "", "1", "", "", "", "", "", ""]
    code, _, err = typed(capsys, monkeypatch, answers, "ads/hello")
    assert code == 0, err
    assert "but queue 'laptop' can have at most" in err
    assert "nodes [2]: " in err
    assert f"image, by digest [{IMAGE}]: " in err
    assert "nodes: 1\n" in (copy / "jobs/ads/hello.yaml").read_text()


def test_a_person_is_asked_what_beginners_forget(copy, capsys, monkeypatch):
    """Where the cluster has it: GPUs, fabric, checkpoints, secrets, a deadline; defaults follow from it."""
    image = IMAGE.replace("/ads/", "/nlp/")
    answers = [
        "nlp/big",
        "atlas",
        "",
        "",
        "2",
        "train.py",
        "",
        image,
        "",
        "",
        "20",
        "",
        "HF_TOKEN=hugging-face/token",
        "",
    ]
    code, _, err = typed(capsys, monkeypatch, answers)
    assert code == 0, err
    assert "node pool (a100-parts, cpu, h100) [h100]: " in err
    assert "network (rdma, tcp) [rdma]: " in err
    assert "volume for checkpoints (checkpoints, corpus, none) [checkpoints]: " in err
    text = (copy / "jobs/nlp/big.yaml").read_text().partition("\n")[2]
    assert (
        text
        == f"""cluster: atlas
launcher: torchrun
image: {image}
program: train.py
pool: h100
nodes: 2
gpusPerNode: 8
queue: research
fabric: rdma
checkpoint:
  volume: checkpoints
  everyMinutes: 20
  size: 10Gi
secrets:
  HF_TOKEN: hugging-face/token
maxHours: 24
"""
    )


def test_a_new_job_on_gpus_saves_and_ends(copy, capsys):
    """Without a word of it, a job on GPUs has a checkpoint and a deadline; `none` leaves them out."""
    given = ["--cluster", "atlas", "--pool", "h100", "--image", IMAGE, "--program", "t.py"]
    assert call(capsys, "nlp/big", *given)[0] == 0
    text = (copy / "jobs/nlp/big.yaml").read_text()
    assert "checkpoint:\n  volume: checkpoints\n  everyMinutes: 30\n  size: 10Gi\n" in text
    assert "maxHours: 24\n" in text
    assert call(capsys, "nlp/bare", *given, "--checkpoint", "none", "--max-hours", "none")[0] == 0
    text = (copy / "jobs/nlp/bare.yaml").read_text()
    assert "checkpoint" not in text
    assert "maxHours" not in text


def test_nobody_who_has_left_is_waited_for(copy, capsys, monkeypatch):
    """The end of the input ends the questions, and nothing is written."""
    code, _, err = typed(capsys, monkeypatch, ["kind"], "ads/hello")
    assert (code, err.splitlines()[-1]) == (2, "trainyard: interrupted")
    assert not (copy / "jobs/ads/hello.yaml").exists()


def test_a_file_that_has_come_meanwhile_stays(tmp_path):
    """A new file takes nobody's place, and half of one is never there."""
    files.create(path := tmp_path / "jobs/nlp/a.yaml", "one\n")
    with pytest.raises(FileExistsError):
        files.create(path, "two\n")
    (tmp_path / "jobs/nlp/b.yaml").symlink_to("nowhere")
    with pytest.raises(FileExistsError):
        files.create(tmp_path / "jobs/nlp/b.yaml", "two\n")
    assert path.read_text() == "one\n"
    assert sorted(one_path.name for one_path in path.parent.iterdir()) == ["a.yaml", "b.yaml"]
