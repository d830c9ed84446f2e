"""`new job` writes a job file that passes, or nothing."""

from __future__ import annotations

import shutil

import pytest

from conftest import ROOT
from trainyard.cli import main
from trainyard.preflight import check_repository

IMAGE = "registry.example.com/ads/x@sha256:6b1f0c2e9d8a47530f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a6978"
GIVEN = ["--cluster", "kind", "--image", IMAGE, "--program", "train.py"]


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """A copy of what people wrote here, as the working folder."""
    for part in ("jobs", "platform"):
        shutil.copytree(ROOT / part, tmp_path / part, ignore=shutil.ignore_patterns("trainyard", "__pycache__"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def call(capsys, *arguments):
    """Run `new job`; exit code, standard output and standard error."""
    with pytest.raises(SystemExit) as stopped:
        main(["new", "job", *arguments])
    return stopped.value.code, *capsys.readouterr()


def test_new_job_passes(copy, capsys):
    """Queue and pool follow where there is one choice, and the repository with the new file has no findings."""
    code, out, _ = call(capsys, "ads/hello", *GIVEN, "--nodes", "2")
    assert (code, out) == (0, "wrote jobs/ads/hello.yaml; next: make synth\n")
    checked = check_repository(copy)
    job = next(each.job for each in checked.specs.jobs if each.name == "hello")
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
    job = next(each.job for each in check_repository(copy).specs.jobs if each.name == "big")
    assert (job.fabric if "fabric" in job.model_fields_set else None) == fabric


def test_new_job_of_any_executable(copy, capsys):
    """A command is written word by word, quotes as in a shell, and needs no launcher to be said."""
    given = ["--cluster", "kind", "--image", IMAGE, "--command", "bash -c './train --steps 5'"]
    code, _, _ = call(capsys, "ads/hello", *given)
    job = next(each.job for each in check_repository(copy).specs.jobs if each.name == "hello")
    assert (code, job.launcher, job.command) == (0, "exec", ("bash", "-c", "./train --steps 5"))


REFUSED = {
    "a program and a command": (["ads/x", *GIVEN, "--command", "./train"], 2, "exclude each other"),
    "a quote that is not closed": (
        ["ads/x", "--cluster", "kind", "--image", IMAGE, "--command", "bash -c 'x"],
        2,
        "quote that is not closed",
    ),
    "a team that does not exist": (["adz/x", *GIVEN], 2, "did you mean 'ads'?"),
    "a name without a team": (["hello", *GIVEN], 2, "should be <team>/<job>"),
    "a job that is there": (["ads/recommender", *GIVEN], 2, "exists already"),
    "a job that a program makes": (["nlp/adapter-sweep-1e4-r8", *GIVEN], 2, "adapter-sweep.py makes job"),
    "a cluster that does not exist": (["ads/x", "--cluster", "kund"], 2, "did you mean 'kind'?"),
    "a choice that nobody can answer": (["ads/x", "--cluster", "atlas"], 2, "--pool is missing; there are: a100-parts"),
    "an image without a digest": (["ads/x", *GIVEN[:3], "a:latest", *GIVEN[4:]], 1, "image"),
    "more nodes than there are": (["ads/x", *GIVEN, "--nodes", "9"], 1, "nodes is 9"),
    "a launcher that does not exist": (["ads/x", *GIVEN, "--launcher", "torchrn"], 1, "did you mean 'torchrun'?"),
    "a name out of its folder": (["ads/../nlp/x", *GIVEN], 1, "job name"),
}


@pytest.mark.parametrize(("arguments", "code", "message"), REFUSED.values(), ids=REFUSED)
def test_new_job_that_would_not_pass_is_not_written(copy, capsys, arguments, code, message):
    """Whatever is wrong is said in a sentence, and no file is written."""
    before = {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()}
    found, _, err = call(capsys, *arguments)
    assert found == code
    assert message in err
    assert {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()} == before
