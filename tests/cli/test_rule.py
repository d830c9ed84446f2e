"""`trainyard rule`: why a rule is there, what helps, and whether its findings can be waived."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command import call
from conftest import ROOT
from make import write_repository
from plan.own_policies import FEW
from trainyard.base import catalogue
from trainyard.faces.cli.rule import fields


def test_one_rule_is_told_whole() -> None:
    """Everything that a reader of a finding asks next."""
    done = call(ROOT, "rule", "numa-policy-fit")
    lines = done.stdout.splitlines()
    assert done.returncode == 0
    assert lines[0] == (
        "numa-policy-fit: A pod fits the NUMA nodes that the kubelet allows it: those of its GPUs, or a single one."
    )
    assert [line.split(":")[0].strip() for line in lines[1:-1]] == ["why", "fix", "source", "declared in"]
    assert lines[-2:] == ["  declared in: trainyard.judge.preflight.job.limits", "  error; it cannot be waived"]


WAIVING = {
    "a warning": (
        "pairing/unlisted-release",
        "  warning; to accept it, add waive: {pairing/unlisted-release: <reason>} to",
    ),
    "a policy's error": ("gpu-limits", "  error; to accept it, add waive: {gpu-limits: <reason>}"),
    "a policy's that is about tenants": ("sec-digest", "  error; it cannot be waived"),
    "an error that sometimes warns": ("pairing/kubernetes", "  error, in some cases a warning; to accept a warning,"),
    "an error": ("spec/unknown-queue", "  error; it cannot be waived"),
}


@pytest.mark.parametrize(("rule", "line"), WAIVING.values(), ids=WAIVING)
def test_it_says_whether_it_can_be_waived(rule: str, line: str) -> None:
    """And how."""
    assert call(ROOT, "rule", rule).stdout.splitlines()[-1].startswith(line)


def test_part_of_an_id_lists_what_has_it() -> None:
    """Whoever knows half of the id finds the rest."""
    lines = call(ROOT, "rule", "gpu-").stdout.splitlines()
    assert {line.split()[0] for line in lines} >= {"gpu-limits", "gpu-shm-mem", "numa-gpu-vf-ratio"}


def test_a_near_miss_is_named() -> None:
    """A rule that does not exist is answered with the nearest that does."""
    done = call(ROOT, "rule", "numa-polcy-fit")
    assert done.returncode == 2
    assert done.stderr == "trainyard: rule 'numa-polcy-fit' does not exist; did you mean 'numa-policy-fit'?\n"


def test_machines_read_it_too() -> None:
    """All rules with all that is said of them."""
    found = json.loads(call(ROOT, "rule", "--format", "json").stdout)
    assert len(found) > 400
    assert {"id", "title", "why", "fix", "sources", "declared", "layer", "severity", "waivable"} == set(found[0])


def test_an_unknown_format_is_refused() -> None:
    """Before anything is printed."""
    done = call(ROOT, "rule", "--format", "xml")
    assert (done.returncode, done.stdout) == (2, "")


def test_rules_are_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them, as they are; another text of a policy is read again."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    write_repository(tmp_path / "repository", jobs={})
    every = [fields(entry) for entry in catalogue.entries().values()]
    assert [fields(entry) for entry in catalogue.kept_entries().values()] == every
    monkeypatch.setattr(catalogue, "declared_rules", {}.copy)
    assert [fields(entry) for entry in catalogue.kept_entries().values()] == every
    policy = tmp_path / "repository/policies/own-few.yaml"
    policy.parent.mkdir(exist_ok=True)
    for title in ("One title.", "Another title."):
        policy.write_text(FEW.format(most=3).replace("Gangs are small", title))
        found = catalogue.kept_entries(tmp_path / "repository")
        assert found["own-few"].rule == catalogue.policy(policy)
