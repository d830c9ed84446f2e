"""Credentials in anybody's manifests: what is found, how much it weighs, and that nothing shows them."""

from __future__ import annotations

import base64
import json
import os
import random
import string
from pathlib import Path
from typing import Any

import pytest

from command import call
from conftest import ROOT
from make import JOB, write_repository
from trainyard.base.documents import dump, load
from trainyard.base.documents.differences import differences
from trainyard.base.exposed import exposed_credentials
from trainyard.base.manifests import Manifest
from trainyard.base.system.data import schemas_dir
from trainyard.faces.report import render
from trainyard.judge.checks import parallel, validate
from trainyard.judge.checks.result import Result

_dice = random.Random(13)  # the same on every run


def made(count: int) -> str:
    """Return so many random characters, which stand for a key."""
    return "".join(_dice.choice(string.ascii_letters + string.digits) for _ in range(count - 2)) + "a7"


HF, RANDOM, PASSWORD = "hf_" + made(34), made(40), "hunter2-zz"


def pod(**container: Any) -> dict[str, Any]:
    """Return a pod with one container."""
    main = {"name": "main", "image": "registry.example.com/a:1", **container}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"containers": [main]}}


def config_map(**data: str) -> dict[str, Any]:
    """Return a ConfigMap."""
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": data}


def secret(**parts: Any) -> dict[str, Any]:
    """Return a Secret."""
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}, **parts}


def test_a_secret_is_reported_once():
    """A Secret with several values in Git has one finding, which names the keys and hides every value."""
    value = secret(stringData={"password": PASSWORD, "token": HF})
    manifest = Manifest(load(json.dumps(value).encode(), file="a.json")[0][0], value)
    ((finding, values),) = exposed_credentials(manifest)
    assert "in Git: password, token;" in finding.message
    assert set(values) == {PASSWORD, HF}


APPLIED = json.dumps(pod(env=[{"name": "HF_TOKEN", "value": HF}]))
BEFORE = json.dumps(secret(stringData={"password": PASSWORD}))
VALUES = {"helm": {"values": f"grafana:\n  adminPassword: {PASSWORD}\n"}}
PLAIN, KEPT = "sec-env-secret", "sec-secret-manifest"

FOUND: dict[str, tuple[dict[str, Any], tuple[str, str], str]] = {
    "a variable": (pod(env=[{"name": "HF_TOKEN", "value": HF}]), (PLAIN, "error"), HF),
    "a variable by its name": (pod(env=[{"name": "DB_PASSWORD", "value": PASSWORD}]), (PLAIN, "error"), PASSWORD),
    "a weak password": (pod(env=[{"name": "DB_PASSWORD", "value": "changeme"}]), (PLAIN, "warning"), "changeme"),
    "an argument": (pod(args=["--api-key", RANDOM]), (PLAIN, "error"), RANDOM),
    "an argument with its value": (pod(args=[f"--password={PASSWORD}"]), (PLAIN, "error"), PASSWORD),
    "a script": (pod(command=["sh", "-c", f"curl -u me:{PASSWORD} x"]), (PLAIN, "error"), PASSWORD),
    "a URL": (pod(env=[{"name": "DB", "value": f"mysql://me:{PASSWORD}@db/x"}]), (PLAIN, "error"), PASSWORD),
    "settings": (config_map(**{"app.properties": f"a=b\ndb.password={PASSWORD}\n"}), (PLAIN, "error"), PASSWORD),
    "settings in JSON": (config_map(**{"a.json": json.dumps({"apiKey": RANDOM})}), (PLAIN, "error"), RANDOM),
    "settings as entries": (config_map(HF_TOKEN=HF), (PLAIN, "error"), HF),
    "an annotation": (
        {**pod(), "metadata": {"name": "a", "annotations": {"example.com/webhook-token": RANDOM}}},
        (PLAIN, "error"),
        RANDOM,
    ),
    "what kubectl applied": (
        {
            **pod(),
            "metadata": {"name": "a", "annotations": {"kubectl.kubernetes.io/last-applied-configuration": APPLIED}},
        },
        (PLAIN, "error"),
        HF,
    ),
    "a Secret that kubectl applied": (
        {
            **pod(),
            "metadata": {"name": "a", "annotations": {"kubectl.kubernetes.io/last-applied-configuration": BEFORE}},
        },
        (PLAIN, "error"),
        PASSWORD,
    ),
    "values of a chart": (
        {
            "apiVersion": "argoproj.io/v1alpha1",
            "kind": "Application",
            "metadata": {"name": "a"},
            "spec": {
                "project": "default",
                "destination": {"name": "x", "namespace": "y"},
                "source": {"repoURL": "https://charts.example.com", "chart": "g", "targetRevision": "1.0.0", **VALUES},
            },
        },
        (PLAIN, "error"),
        PASSWORD,
    ),
    "a Secret": (secret(stringData={"password": PASSWORD}), (KEPT, "error"), PASSWORD),
    "a Secret in base64": (
        secret(data={"password": base64.b64encode(PASSWORD.encode()).decode()}),
        (KEPT, "error"),
        base64.b64encode(PASSWORD.encode()).decode(),
    ),
    "a Secret of an example": (secret(stringData={"password": "changeme"}), (KEPT, "warning"), "changeme"),
}

PASSES: dict[str, dict[str, Any]] = {
    "a reference": pod(env=[{"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {"name": "hf", "key": "token"}}}]),
    "a variable of another": pod(env=[{"name": "DB_URL", "value": "postgres://$(USER):$(PASSWORD)@db/x"}]),
    "the name of a Secret": pod(env=[{"name": "TLS_SECRET", "value": "webhook-server-cert"}]),
    "a name behind a flag": pod(args=["--secret", "webhook-server-cert", "--initial-cluster-token", "etcd-cluster-1"]),
    "a key that documents show": pod(env=[{"name": "AWS_ACCESS_KEY_ID", "value": "AKIA" + "IOSFODNN7EXAMPLE"}]),
    "a Secret without values": secret(data={}),
    "a certificate": secret(data={"ca.crt": base64.b64encode(b"-----BEGIN CERTIFICATE-----\nabc").decode()}),
    "a Secret of a template": secret(stringData={"password": "${DB_PASSWORD}"}),
    "settings that name places": config_map(**{"a.yaml": "tokenFile: /run/token\npasswordSecret: db\nkey: label\n"}),
    "code": config_map(**{"a.py": "token = get_token()\npassword = args.password\nkey = os.environ['API_KEY']\n"}),
}


def judged(*objects: dict[str, Any]) -> Result:
    """Judge objects as anybody's files."""
    files = [(f"{number}.yaml", dump(item).encode()) for number, item in enumerate(objects)]
    return validate.strangers(files, schemas_dir(ROOT))


@pytest.mark.parametrize(("value", "said", "hidden"), FOUND.values(), ids=FOUND)
def test_a_credential_is_found_and_not_shown(value, said, hidden):
    """By rule and weight, at a line, in every report; the API server takes the object all the same."""
    result = judged(value)
    own = [finding for finding in result.findings if finding.rule in {PLAIN, KEPT}]
    assert {(item.rule, str(item.severity)) for item in own} == {said}
    assert all(item.location.line and item.hide for item in own)
    assert [item.verdict for item in result.objects] == ["valid"]
    for format_ in ("text", "json"):
        assert hidden not in render(result, format_)


@pytest.mark.parametrize("value", PASSES.values(), ids=PASSES)
def test_what_is_no_credential_passes(value):
    """References, names, documented keys, certificates, code."""
    assert [finding for finding in judged(value).findings if finding.rule in {PLAIN, KEPT}] == []


def test_what_else_is_wrong_shows_no_credential():
    """A finding of another rule that would quote the value has it hidden."""
    label = {**pod(), "metadata": {"name": "a", "labels": {"token": f"{HF}!"}}}
    result = judged(label)
    assert {"meta/label-value"} & {finding.rule for finding in result.findings} or result.errors > 1
    assert HF not in render(result, "text")


def test_a_line_within_a_text_is_named():
    """Of settings with several lines, the one with the credential."""
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  a.ini: |\n    [db]\n    user=me\n"
    data = f"{text}    password={PASSWORD}\n".encode()
    (found,) = validate.strangers([("a.yaml", data)], schemas_dir(ROOT)).findings
    assert (found.location.line, found.location.column) == (8, 14)


def test_a_change_shows_neither_the_old_value_nor_the_new():
    """What becomes of an object is told without them."""
    before, after = (pod(env=[{"name": "HF_TOKEN", "value": value}]) for value in (RANDOM, HF))
    result = validate.strangers(
        [("a.yaml", dump(after).encode())], schemas_dir(ROOT), before=[("a.yaml", dump(before).encode())]
    )
    text = render(result, "text")
    assert "env[0].value: (hidden) → (hidden)" in text
    assert HF not in text
    assert RANDOM not in text


FLAGGED = {
    "an argument": lambda value: pod(args=["--token", value]),
    "an argument with its value": lambda value: pod(args=[f"--db-password={value}"]),
    "a variable": lambda value: pod(env=[{"name": "DB_PASSWORD", "value": value}]),
    "a line of settings": lambda value: config_map(**{"a.ini": f"a=b\n{'c' * 15}.password={value}\n"}),
    "an annotation": lambda value: {**pod(), "metadata": {"name": "a", "annotations": {"a.b/api-token": value}}},
    "a Secret": lambda value: secret(stringData={"x": value}),
}


@pytest.mark.parametrize("of", FLAGGED.values(), ids=FLAGGED)
@pytest.mark.parametrize(("old", "new"), [("Ab1-cdEf2gh", "Zy9-xwVu8ts"), ("Ab1-cdEf2gh", "")])
def test_neither_side_of_a_change_is_shown(of, old, new):
    """In both reports, and in what a plan says; the name may be a flag in front of the value."""
    result = validate.strangers(
        [("a.yaml", dump(of(new)).encode())], schemas_dir(ROOT), before=[("a.yaml", dump(of(old)).encode())]
    )
    assert result.changes is not None
    assert result.changes[0].fields
    for text in (render(result, "text"), render(result, "json"), *differences(of(old), of(new))):
        assert "Ab1" not in text
        assert "Zy9" not in text


def test_a_key_that_is_a_name_is_not_shown():
    """Neither where objects are listed, nor where they change or are said twice."""
    token = "ghp" + "_" + made(36)
    value = {**config_map(a="b"), "metadata": {"name": token}}
    data = dump(value).encode()
    for before in (None, [("a.yaml", data)], []):
        result = validate.strangers([("a.yaml", data), ("b.yaml", data)], schemas_dir(ROOT), before=before)
        for format_ in ("text", "json", "github", "markdown", "sarif", "junit"):
            assert token not in render(result, format_), format_


def test_a_file_whose_name_is_no_text_is_judged(tmp_path: Path):
    """Two files with one object, of which the sentence about one names the other."""
    for name in (b"\xfe.yaml", b"\xff.yaml"):
        (tmp_path / os.fsdecode(name)).write_text(dump(config_map(a="b")), "utf-8")
    done = call(tmp_path, "validate", ".")
    assert done.returncode == 0, done.stderr
    assert "decode/twice" in done.stdout


def test_many_files_are_looked_through_alike(monkeypatch):
    """With a process for each core, too: what is found and hidden is the same."""
    leaky = [(f"{number}.yaml", dump(pod(args=["--token", HF])).encode()) for number in range(3)]
    few = validate.strangers(leaky, schemas_dir(ROOT))
    monkeypatch.setattr(parallel, "LARGE", 1)
    many = validate.strangers(leaky, schemas_dir(ROOT))
    assert few.findings == many.findings
    assert many.values == {HF}


def test_a_repositorys_own_tree_is_looked_through(tmp_path: Path):
    """What somebody put into generated/ by hand, where no spec has it."""
    root = write_repository(tmp_path, jobs={"nlp/train": JOB})
    folder = root / "generated/test/teams/nlp"
    folder.mkdir(parents=True)
    (folder / "pod.a.yaml").write_text(dump(pod(args=["--token", HF])), "utf-8")
    done = call(root, "validate", str(folder))
    assert done.returncode == 1
    assert "args[1] holds a token of Hugging Face; use a Secret instead [sec-env-secret]" in done.stdout
    assert HF not in done.stdout + done.stderr


def secret_with_key(line: str) -> str:
    """Return the text of a Secret with a private key, of which one line stands wrong."""
    key = "-----BEGIN PRIVATE " + "KEY-----"
    return f"apiVersion: v1\nkind: Secret\nmetadata: {{name: a}}\nstringData:\n  k: |\n    {key}\n    {RANDOM}\n{line}"


BROKEN = {
    "a token behind a second colon": f"apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  token: {HF}: b\n",
    "a password behind a second colon": f"apiVersion: v1\nkind: Pod\npassword: {PASSWORD}: b\n",
    "a token that is a key twice": f"{{apiVersion: v1, kind: Pod, {HF}: 1, {HF}: 2}}\n",
    "no object": f"- {HF}\n",
    "a key that is set in too little": secret_with_key(f"  {HF[3:]}\n"),
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_what_cannot_be_read_shows_no_credential(tmp_path: Path, text):
    """Neither in the sentence nor in the line that is shown."""
    (tmp_path / "a.yaml").write_text(text, "utf-8")
    for format_ in ("text", "json", "github", "markdown", "sarif", "junit"):
        done = call(tmp_path, "validate", "a.yaml", "-o", format_)
        assert done.returncode == int(not text.startswith("- "))
        assert HF[3:] not in done.stdout + done.stderr
        assert PASSWORD not in done.stdout + done.stderr
