"""`explain` says what pods ask for and why, in text and JSON."""

from __future__ import annotations

import json

import pytest

import command
from conftest import ROOT
from make import JOB, write_repository
from trainyard.cli import main


def call(capsys, *arguments):
    """Run `explain` here; exit code, standard output and standard error."""
    with pytest.raises(SystemExit) as stopped:
        main(["explain", *arguments, "--root", str(ROOT)])
    return stopped.value.code, *capsys.readouterr()


def test_every_value_has_its_origin(capsys):
    """Every value of the pre-training run is named with what it follows from, and is what the manifest asks for."""
    code, out, _ = call(capsys, "nlp/llama3-8b", "-o", "json")
    report = json.loads(out)
    facts = {each["name"]: each["value"] for each in report["facts"]}
    manifest = next((ROOT / "generated/atlas/runs/nlp" / report["run"]).glob("jobset.*.yaml")).read_text()
    assert code == 0
    assert all(each["origin"] for each in report["facts"])
    assert f'cpu: "{facts["worker.cpus"]}"' in manifest
    assert f"memory: {facts['worker.memory']}" in manifest
    assert f"terminationGracePeriodSeconds: {facts['grace_seconds']}" in manifest


def test_text_is_a_table(capsys):
    """The text names the run and lines the values up."""
    _, out, _ = call(capsys, "nlp/llama3-8b")
    assert out.startswith("JobSet nlp/llama3-8b-")
    assert "worker.nvidia.com/gpu" in out
    assert "required example.com/rack" in out


def test_what_the_launcher_works_out_is_explained_too(tmp_path):
    """One process of plain Python sizes shared memory; ranks meet at an address that the kind makes."""
    job = {**JOB, "launcher": "python", "processesPerNode": 1}
    root = write_repository(tmp_path, jobs={"nlp/train": job})
    report = json.loads(command.call(root, "explain", "nlp/train", "-o", "json").stdout)
    facts = {each["name"]: (each["value"], each["origin"]) for each in report["facts"]}
    assert facts["kind"] == ("JobSet", "the cluster's first kind that gives what the launcher needs")
    assert facts["worker.processes"] == ("1", "launcher python starts one")
    assert facts["worker.shared_memory"][0] == "8Gi"
    assert facts["worker.env.OMP_NUM_THREADS"] == ("208", "208 = floor(208 CPUs / 1 processes)")
    assert facts["world_size"] == ("2", "2 worker pods × 1 processes")
    assert facts["master"][0] == f"{report['run']}-worker-0-0.{report['run']}"
    assert facts["port"][0] == "29500"
    assert "rendezvous_id" not in facts


@pytest.mark.parametrize("job", [{}, {"kind": "Job", "minNodes": 2}], ids=["of fixed size", "elastic"])
def test_a_rendezvous_is_explained(tmp_path, job):
    """Agents of torchrun meet by the run's name, at an address that the kind makes."""
    root = write_repository(tmp_path, jobs={"nlp/train": {**JOB, **job}})
    report = json.loads(command.call(root, "explain", "nlp/train", "-o", "json").stdout)
    facts = {each["name"]: (each["value"], each["origin"]) for each in report["facts"]}
    assert facts["rendezvous_id"] == (report["run"], "name of the run")
    assert facts["master"][0].startswith(report["run"])
    assert facts["port"][0] == "29500"


def test_a_job_that_cannot_run_is_not_explained(tmp_path):
    """Its findings say why, and no value is shown that would never be."""
    root = write_repository(tmp_path, jobs={"nlp/train": {**JOB, "launcher": "torchrn"}})
    done = command.call(root, "explain", "nlp/train")
    assert (done.returncode, done.stdout) == (1, "")
    assert "did you mean 'torchrun'?" in done.stderr
    assert done.stderr.endswith("job 'nlp/train' cannot run; its findings say why\n")


def test_what_a_launcher_does_not_use_is_not_explained(capsys):
    """Tasks of TensorFlow meet at ports of its own, with no rendezvous."""
    code, out, _ = call(capsys, "ads/wide-deep", "-o", "json")
    names = {each["name"] for each in json.loads(out)["facts"]}
    assert code == 0
    assert not {"master", "port", "rendezvous_id"} & names


def test_a_job_is_named_by_its_file_too(capsys):
    """As `retire` and `rerun` take it."""
    assert call(capsys, "jobs/nlp/llama3-8b.yaml")[:2] == call(capsys, "nlp/llama3-8b")[:2]


def test_unknown_job_is_one_sentence(capsys):
    """A job that is not there ends with 2 and the near miss."""
    code, _, err = call(capsys, "nlp/lama3-8b")
    assert code == 2
    assert err.endswith("did you mean 'nlp/llama3-8b'?\n")
