"""`explain` says what pods ask for and why, in text and JSON."""

from __future__ import annotations

import json

import pytest

from conftest import ROOT
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


def test_unknown_job_is_one_sentence(capsys):
    """A job that is not there ends with 2 and the near miss."""
    code, _, err = call(capsys, "nlp/lama3-8b")
    assert code == 2
    assert err.endswith("did you mean 'nlp/llama3-8b'?\n")
