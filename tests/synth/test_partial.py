"""One error hides no verdict: what cannot be rendered is left out and named, and everything else is judged."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from command import call
from make import CLUSTER, JOB, TEAM, write_repository
from memory.mutations import edit, put, remove
from repo import Repo

pytestmark = [pytest.mark.node, pytest.mark.slow]

COMMANDS = {"check": ("check",), "plan": ("plan",), "synth": ("synth",), "validate": ("validate",)}

WRONG = ("generated/test/platform/configmap.wrong.yaml", "schema/unknown-field")
"""What is wrong from the beginning, and has to be said whatever else is."""

UNUSED = ("jobs/nlp/small.yaml", "spec/waive")
"""A waiver that nothing needs: a warning, which a plan and a synth leave to a check."""

OBJECT = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: wrong, namespace: default}\ndta: {}\n"
FOR_BOTH = {"research": {**CLUSTER["queues"]["research"], "teams": ["nlp", "vision"]}}
SMALL = {**JOB, "nodes": 1}


@dataclass(frozen=True)
class Case:
    """A change with an error, the errors that it makes, and what is left out for it."""

    change: Callable[[Path], object]
    errors: frozenset[tuple[str, str]]
    left_out: str
    waiver: bool = True
    """Whether all was judged that the waiver may be for."""


def case(change: Callable[[Path], object], *errors: tuple[str, str], left_out: str, waiver: bool = True) -> Case:
    """Return a case."""
    return Case(change, frozenset(errors), left_out, waiver)


CASES = {
    "a job asks for too much": case(
        edit("jobs/nlp/train.yaml", "nodes: 2", "nodes: 40"),
        ("jobs/nlp/train.yaml", "spec/nodes"),
        ("jobs/nlp/train.yaml", "kq-max-quota"),
        left_out="1 job (nlp/train)",
    ),
    "a job cannot be read": case(
        lambda root: put(root, "jobs/nlp/train.yaml", "cluster: [\n"),
        ("jobs/nlp/train.yaml", "decode/syntax"),
        left_out="1 job (nlp/train)",
    ),
    "a job that is renamed has an error": case(
        lambda root: (
            (root / "jobs/nlp/train.yaml").rename(root / "jobs/nlp/trained.yaml"),
            edit("jobs/nlp/trained.yaml", "nodes: 2", "nodes: 2\nrenamedFrom: train\nnods: 2")(root),
        ),
        ("jobs/nlp/trained.yaml", "spec/unknown-field"),
        left_out="1 job (nlp/trained)",
    ),
    "the job with the waiver has an error": case(
        edit("jobs/nlp/small.yaml", "launcher: torchrun", "launcher: torchrn"),
        ("jobs/nlp/small.yaml", "run/launcher"),
        left_out="1 job (nlp/small)",
        waiver=False,
    ),
    "another cluster cannot be read": case(
        edit("platform/clusters/eu.yaml", "kubernetes:", "kubernete:"),
        ("platform/clusters/eu.yaml", "spec/missing-field"),
        ("platform/clusters/eu.yaml", "spec/unknown-field"),
        left_out="cluster 'eu' and 1 job (nlp/away)",
    ),
    "another cluster lets a queue borrow of nobody": case(
        edit("platform/clusters/eu.yaml", "nominalQuota:", "borrowingLimit: {gpu: {gpus: 8}}\n    nominalQuota:"),
        ("platform/clusters/eu.yaml", "spec/no-cohort"),
        left_out="the platform of cluster 'eu'",
    ),
    "a team cannot be read": case(
        lambda root: put(root, "platform/teams/vision.yaml", "group: {\n"),
        ("platform/teams/vision.yaml", "decode/syntax"),
        left_out="team 'vision' and 1 job (vision/train)",
    ),
    "an object of one's own is none": case(
        lambda root: put(root, "platform/extra/test/platform/none.yaml", "kind: ConfigMap\n"),
        ("platform/extra/test/platform/none.yaml", "spec/extra-object"),
        left_out="platform/extra/test/platform/none.yaml",
    ),
    "an object that a frozen run mounts is none any more": case(
        edit("platform/extra/test/teams/nlp/words.yaml", "apiVersion: v1", "# no version"),
        ("platform/extra/test/teams/nlp/words.yaml", "spec/extra-object"),
        left_out="platform/extra/test/teams/nlp/words.yaml",
    ),
    "a running job's file is gone": case(
        remove("jobs/nlp/train.yaml"), ("jobs/nlp/train.yaml", "run/job-gone"), left_out="1 job (nlp/train)"
    ),
    "a waiver names a rule that is none": case(
        lambda root: put(root, "platform/teams/vision.yaml", "group: vision-people\nwaive: {no-such: it is so}\n"),
        ("platform/teams/vision.yaml", "spec/waive"),
        left_out="",
    ),
}


@pytest.fixture(scope="module")
def merged(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """Return a live repository with an object that the API server refuses, rendered and committed."""
    repo = Repo(tmp_path_factory.mktemp("partial") / "repo")
    cluster = {**CLUSTER, "queues": FOR_BOTH}
    words = {"name": "words", "configMap": {"name": "words"}}
    write_repository(
        repo.root,
        jobs={
            "nlp/train": JOB,
            "nlp/small": {**SMALL, "volumes": [words], "waive": {"gpu-limits": "it is so"}},
            "nlp/away": {**SMALL, "cluster": "eu"},
            "vision/train": SMALL,
        },
        clusters={"test": cluster, "eu": {**cluster, "argocd": {**CLUSTER["argocd"], "destination": {"name": "eu"}}}},
        teams={"nlp": {**TEAM, "configMaps": ["words"]}, "vision": {"group": "vision-people"}},
    )
    put(repo.root, "platform/extra/test/platform/wrong.yaml", OBJECT)
    words_text = OBJECT.replace("dta", "data").replace("wrong, namespace: default", "words, namespace: nlp")
    put(repo.root, "platform/extra/test/teams/nlp/words.yaml", words_text)
    done = call(repo.root, "synth")
    assert done.returncode == 0, done.stdout + done.stderr
    repo.commit()
    repo.git("switch", "--quiet", "--create", "change")
    return repo


def said(root: Path, command: str, cache: Path) -> tuple[int, set[tuple[str, str]], str]:
    """Return exit code, file and rule of each finding, and what is said to be left out."""
    done = call(root, *COMMANDS[command], "--format", "json", XDG_CACHE_HOME=str(cache))
    report = json.loads(done.stdout)
    found = {(finding["file"], finding["rule"]) for finding in report["findings"]}
    why = " ".join(skipped["why"] for skipped in report["skipped"] if skipped["rule"] == "objects")
    return done.returncode, found, why


@pytest.mark.parametrize("one", CASES.values(), ids=CASES)
def test_one_error_hides_no_other(merged: Repo, tmp_path: Path, one: Case) -> None:
    """Every command says the error and what the API server refuses elsewhere, names what it left out, and no more.

    With memory it says the same.
    """
    root = merged.copied(tmp_path / "repo").root
    before = said(root, "check", tmp_path / "cache")
    assert before == (1, {WRONG, UNUSED}, "")
    one.change(root)
    for command in COMMANDS:
        code, found, left_out = said(root, command, tmp_path / "cache")
        if command == "validate" and any(rule == "run/job-gone" for _, rule in one.errors):
            continue  # that is said of the change, of which a validation of what is there knows nothing
        assert one.errors | {WRONG} == found - {UNUSED}, command
        assert (UNUSED in found) == (one.waiver and command != "plan"), command
        assert code == 1
        assert left_out == (
            f"manifests of {one.left_out} were not checked; fix the errors above and run again" if one.left_out else ""
        )
        assert (code, found, left_out) == said(root, command, tmp_path / command), command


def test_nothing_is_written(merged: Repo, tmp_path: Path) -> None:
    """A synth that is refused leaves `generated/` as it is, also where other jobs could be rendered."""
    repo = merged.copied(tmp_path / "repo")
    edit("jobs/nlp/train.yaml", "nodes: 2", "nodes: 40")(repo.root)
    put(repo.root, "jobs/vision/new.yaml", (repo.root / "jobs/vision/train.yaml").read_text())
    done = call(repo.root, "synth")
    assert (done.returncode, "nothing was written" in done.stderr) == (1, True)
    assert repo.git("status", "--porcelain", "generated") == ""


def test_what_is_new_is_judged_beside_an_error(merged: Repo, tmp_path: Path) -> None:
    """A run and an object that were never rendered are, in memory, although another job has an error."""
    repo = merged.copied(tmp_path / "repo")
    edit("jobs/nlp/train.yaml", "nodes: 2", "nodes: 40")(repo.root)
    put(repo.root, "platform/extra/eu/platform/new.yaml", OBJECT.replace("wrong", "new"))
    _, found, _ = said(repo.root, "check", tmp_path / "cache")
    assert ("generated/eu/platform/configmap.new.yaml", "schema/unknown-field") in found
