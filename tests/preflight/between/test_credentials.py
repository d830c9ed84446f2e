"""Credentials in specs are errors that show nothing of them, wherever they stand and whatever else is wrong."""

from __future__ import annotations

import random
import string
from pathlib import Path
from typing import Any

import pytest

from command import call
from conftest import ROOT
from make import CLUSTER, IMAGE, JOB, TEAM, write_repository
from trainyard.base.findings import Finding
from trainyard.judge import preflight

_dice = random.Random(11)  # the same on every run


def made(count: int) -> str:
    """Return so many random characters, which stand for a key."""
    return "".join(_dice.choice(string.ascii_letters + string.digits) for _ in range(count - 2)) + "a7"


HF, GITHUB, RANDOM, PASSWORD = "hf_" + made(34), "ghp_" + made(36), made(40), "hunter2"
AWS = "AKIA" + "".join(_dice.choice("ABCDEFGHIJ234567") for _ in range(16))
KEY = "-----BEGIN RSA PRIVATE KEY-----\n" + "\n".join(made(64) for _ in range(4)) + "\n-----END RSA PRIVATE KEY-----\n"
SIDE = {"name": "side", "image": IMAGE}

CASES: dict[str, tuple[dict[str, Any], str, str]] = {
    "a token of Hugging Face": (
        {"env": {"HF_TOKEN": HF}},
        HF,
        "env.HF_TOKEN holds a token of Hugging Face; use secrets: {HF_TOKEN: hugging-face/token} instead",
    ),
    "a key by its name": (
        {"env": {"WANDB_API_KEY": RANDOM}},
        RANDOM,
        "env.WANDB_API_KEY holds a key; use secrets: {WANDB_API_KEY: wandb/api-key} instead",
    ),
    "a secret key": (
        {"env": {"AWS_SECRET_ACCESS_KEY": RANDOM}},
        RANDOM,
        "env.AWS_SECRET_ACCESS_KEY holds a key; use secrets: {AWS_SECRET_ACCESS_KEY: aws/secret-access-key} instead",
    ),
    "an access key in any variable": (
        {"env": {"WHO": AWS}},
        AWS,
        "env.WHO holds an access key of AWS; use secrets: {AWS_ACCESS_KEY_ID: aws/access-key-id} instead",
    ),
    "an access key of documents": (
        {"env": {"WHO": "AKIA" + "IOSFODNN7EXAMPLE"}},
        "IOSFODNN7",
        "env.WHO holds an access key of AWS; use secrets: {AWS_ACCESS_KEY_ID: aws/access-key-id} instead",
    ),
    "a short password": (
        {"env": {"DB_PASSWORD": PASSWORD}},
        PASSWORD,
        "env.DB_PASSWORD holds a password; use secrets: {DB_PASSWORD: db/password} instead",
    ),
    "a password that begins as a switch does": (
        {"env": {"DB_PASSWORD": "trustno1x"}},
        "trustno1x",
        "env.DB_PASSWORD holds a password; use secrets: {DB_PASSWORD: db/password} instead",
    ),
    "a password that everybody knows": (
        {"env": {"DB_PASSWORD": "changeme"}},
        "changeme",
        "env.DB_PASSWORD holds a password; use secrets: {DB_PASSWORD: db/password} instead",
    ),
    "a password in a URL": (
        {"env": {"DATABASE_URL": "postgres://me:" + PASSWORD + "@db/runs"}},
        PASSWORD,
        "env.DATABASE_URL holds a password in a URL; use secrets: {DATABASE_URL: database/url} instead",
    ),
    "the value behind a flag": (
        {"args": ["--token", GITHUB]},
        GITHUB,
        "args[1] holds a token of GitHub; use secrets: {GITHUB_TOKEN: github/token}, and $(GITHUB_TOKEN) here",
    ),
    "the value in a flag": (
        {"args": [f"--hf-token={HF}"]},
        HF,
        "args[0] holds a token of Hugging Face; use secrets: {HF_TOKEN: hugging-face/token}, and $(HF_TOKEN) here",
    ),
    "a script": (
        {"launcher": "exec", "program": None, "command": ["sh", "-c", f"export DB_PASSWORD={PASSWORD}; train"]},
        PASSWORD,
        "command[2] holds a password; use secrets: {DB_PASSWORD: db/password}, and $(DB_PASSWORD) here",
    ),
    "a sidecar": (
        {"containers": [{**SIDE, "env": [{"name": "API_TOKEN", "value": "abc123def"}]}]},
        "abc123def",
        "containers[0].env[0].value holds a token; use valueFrom.secretKeyRef",
    ),
    "an annotation": (
        {"annotations": {"example.com/note": GITHUB}},
        GITHUB,
        ('annotations["example.com/note"] holds a token of GitHub; use secrets: {GITHUB_TOKEN: github/token} instead'),
    ),
    "a patch": (
        {"patches": [{"object": "JobSet", "merge": {"metadata": {"labels": {"a": HF}}}, "reason": "why not"}]},
        HF,
        "patches[0].merge.metadata.labels.a holds a token of Hugging Face; use valueFrom.secretKeyRef",
    ),
    "a description": (
        {"description": f"run it with {HF}"},
        HF,
        "description holds a token of Hugging Face; use secrets: {HF_TOKEN: hugging-face/token} instead",
    ),
    "a field that does not exist": (
        {"tokn": HF},
        HF,
        "tokn holds a token of Hugging Face; use secrets: {HF_TOKEN: hugging-face/token} instead",
    ),
    "a field of another form": (
        {"priority": HF},
        HF,
        "priority holds a token of Hugging Face; use secrets: {HF_TOKEN: hugging-face/token} instead",
    ),
    "a Secret's place": (
        {"secrets": {"HF_TOKEN": HF}},
        HF,
        "a token of Hugging Face is in this file; remove it, and create a new one",
    ),
}


def findings(root: Path) -> list[Finding]:
    """Return what is found in a repository."""
    return preflight.check_repository(root, home=ROOT).findings


def said(root: Path) -> list[str]:
    """Return what the rule on credentials says of a repository."""
    return [finding.message for finding in findings(root) if finding.rule == "sec-env-secret"]


@pytest.mark.parametrize(("changes", "value", "message"), CASES.values(), ids=CASES)
def test_a_credential_in_a_job_is_an_error_that_shows_nothing_of_it(tmp_path, changes, value, message):
    """At its place, with what to write instead; nor does any other finding quote it, whole or cut off."""
    job = {name: item for name, item in {**JOB, **changes}.items() if item is not None}
    root = write_repository(tmp_path, jobs={"nlp/train": job})
    found = findings(root)
    (own,) = [item for item in found if item.rule == "sec-env-secret"]
    assert own.message == message
    assert own.is_error
    assert own.hide
    assert len(message.split()) <= 20
    lines = (root / "jobs/nlp/train.yaml").read_text("utf-8").splitlines()
    assert value in lines[(own.location.line or 0) - 1][(own.location.column or 0) - 1 :]
    for item in found:
        assert value[:9] not in repr(item), item
    done = call(root, "explain", "nlp/train")
    assert done.returncode == 1
    assert value[:9] not in done.stdout + done.stderr


def test_a_secret_of_the_team_is_proposed(tmp_path):
    """Where one is called as the owner of the variable."""
    teams = {"nlp": {**TEAM, "secrets": ["hugging-face", "wandb-team"]}}
    root = write_repository(tmp_path, jobs={"nlp/train": {**JOB, "env": {"WANDB_API_KEY": RANDOM}}}, teams=teams)
    assert said(root)[0].endswith("use secrets: {WANDB_API_KEY: wandb-team/api-key} instead")


def test_what_a_job_brings_along_is_looked_through(tmp_path):
    """A small file becomes a ConfigMap: the job is told the line, also where the job itself is broken."""
    root = write_repository(tmp_path, jobs={"nlp/train": {**JOB, "files": [{"source": "id", "mountPath": "/ssh"}]}})
    (root / "jobs/nlp/id").write_text(f"# ssh\n{KEY}", "utf-8")
    message = "file 'id' holds a private key in line 3; move it to a Secret, and mount that"
    assert said(root) == [message]
    broken = {**JOB, "files": [{"source": "id", "mountPath": "/ssh"}], "nodes": "two"}
    assert said(write_repository(root, jobs={"nlp/train": broken})) == [message]


SWEEP = """
from trainyard.specs import Job

def jobs():
    for rate in (1, 2):
        yield f"train-{{rate}}", Job(cluster="test", launcher="torchrun", image="{image}", program="train.py",
            pool="gpu", gpusPerNode=1, queue="research", env={env}{more})
"""


def sweep(root: Path, env: str, more: str = "") -> Path:
    """Write a repository with a program that makes two jobs."""
    write_repository(root, jobs={}, teams={"nlp": {**TEAM, "python": True}})
    (root / "jobs/nlp").mkdir(parents=True)
    text = SWEEP.format(image=IMAGE, env=env, more=more)
    (root / "jobs/nlp/train.py").write_text(text, "utf-8")
    return root


def test_programs_that_make_jobs_are_looked_through(tmp_path):
    """The finding stands where the program spells the value, or else at the job that has it."""
    root = sweep(tmp_path / "a", f'{{"HF_TOKEN": "{HF}"}}')
    found = [finding for finding in findings(root) if finding.rule == "sec-env-secret"]
    assert [item.message.split(", ")[0] for item in found] == ["in job 'train-1'", "in job 'train-2'"]
    assert {(item.location.line, HF in repr(item)) for item in found} == {(7, False)}
    put_together = sweep(tmp_path / "b", f'{{"HF_TOKEN": "{HF[:20]}" + "{HF[20:]}"}}')
    assert {finding.location.line for finding in findings(put_together) if finding.rule == "sec-env-secret"} == {6}


def test_what_a_program_says_shows_no_key(tmp_path):
    """Neither what it prints nor the exception that stops it."""
    root = sweep(tmp_path / "a", "{}", more=f', description=print("{HF}")')
    done = call(root, "explain", "nlp/train-1", "--python")
    assert "train.py: (hidden)" in done.stderr
    assert HF not in done.stdout + done.stderr
    stopped = sweep(tmp_path / "b", f'{{"A": int("{HF}")}}')
    found = findings(stopped)
    assert {"spec/python-error", "sec-env-secret"} == {item.rule for item in found}
    assert HF[:9] not in repr(found)


def test_a_token_in_a_comment_is_in_git_too(tmp_path):
    """It is found where no field has it."""
    root = write_repository(tmp_path, jobs={"nlp/train": JOB})
    file = root / "jobs/nlp/train.yaml"
    file.write_text(f"{file.read_text('utf-8')}# old: {HF}\n", "utf-8")
    assert said(root) == ["a token of Hugging Face is in this file; remove it, and create a new one"]


def test_a_file_that_cannot_be_read_is_looked_through(tmp_path):
    """What is wrong with its form shows nothing of a key in it."""
    root = write_repository(tmp_path, jobs={"nlp/train": JOB})
    (root / "jobs/nlp/train.yaml").write_text(f"cluster: test\nenv: {{HF_TOKEN: {HF}\nargs: [: {HF}", "utf-8")
    found = findings(root)
    assert {"sec-env-secret"} < {item.rule for item in found}
    assert HF[:9] not in repr(found)


def test_a_cluster_and_a_team_are_looked_through(tmp_path):
    """Values of charts, and whatever else a platform's file says."""
    kueue = {"version": "0.19.2", "values": {"dashboard": {"adminPassword": PASSWORD}}}
    clusters = {"test": {**CLUSTER, "operators": {**CLUSTER["operators"], "kueue": kueue}}}
    root = write_repository(tmp_path, clusters=clusters, teams={"nlp": {**TEAM, "description": f"ask with {GITHUB}"}})
    assert sorted(said(root)) == [
        "description holds a token of GitHub; use a Secret instead",
        "operators.kueue.values.dashboard.adminPassword holds a password; use a Secret instead",
    ]


def test_ones_own_objects_are_looked_through(tmp_path):
    """A Secret among them, and any other object."""
    root = write_repository(tmp_path)
    folder = root / "platform/extra/test/platform"
    folder.mkdir(parents=True)
    secret = f"apiVersion: v1\nkind: Secret\nmetadata: {{name: a, namespace: b}}\nstringData:\n  password: {PASSWORD}\n"
    (folder / "secret.yaml").write_text(secret, "utf-8")
    found = [finding for finding in findings(root) if finding.rule == "sec-secret-manifest"]
    assert [(item.location.line, item.is_error) for item in found] == [(5, True)]
    assert PASSWORD not in repr(found)


def test_a_waiver_with_a_reason_accepts_one_job(tmp_path):
    """The other job's stays; and a waiver that nothing needs is told of when the tree is judged."""
    waive = {"sec-env-secret": "a user of the test database, which is thrown away"}
    leaky = {**JOB, "env": {"DB_PASSWORD": PASSWORD}}
    root = write_repository(tmp_path, jobs={"nlp/one": {**leaky, "waive": waive}, "nlp/two": leaky})
    found = [finding for finding in findings(root) if finding.rule == "sec-env-secret"]
    assert [item.location.file for item in found] == ["jobs/nlp/two.yaml"]
    runs = preflight.check_repository(root, home=ROOT).runs
    assert [run.run.job_name for run in runs] == ["one"]


def test_a_program_waives_for_its_jobs(tmp_path):
    """Each job of it has the waiver."""
    root = sweep(tmp_path, f'{{"DB_PASSWORD": "{PASSWORD}"}}', ', waive={"sec-env-secret": "thrown away"}')
    assert findings(root) == []


def test_a_waived_token_in_a_small_file_is_left_alone(tmp_path):
    """The job that brings it along says why."""
    job = {**JOB, "files": [{"source": "id", "mountPath": "/ssh"}], "waive": {"sec-env-secret": "a key for nothing"}}
    root = write_repository(tmp_path, jobs={"nlp/train": job})
    (root / "jobs/nlp/id").write_text(KEY, "utf-8")
    assert findings(root) == []


def test_our_own_tree_has_none():
    """Nor does anything in it look like one."""
    assert said(ROOT) == []
