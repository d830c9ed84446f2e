"""Nothing that others wrote steers a terminal, forges a line or commands a log's reader, whatever prints it."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from random import Random
from xml.etree import ElementTree as ET

import pytest

from command import call
from conftest import ROOT
from make import CLUSTER, JOB, REPOSITORY, TEAM
from repo import Repo
from trainyard.base.documents import dump
from trainyard.base.findings import Finding, Location, ObjectRef
from trainyard.faces.report import FORMATS, render
from trainyard.faces.report.legible import escaped, in_json
from trainyard.judge.checks.result import Judged, Result, Skipped

STEERS = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff\U000e0000-\U000e007f]"
)
"""What no report may print, beside its own line feeds."""

FORGED = re.compile(r"(?m)^[^\S\n]*(?:::(?!error |warning |notice )|PWNED)|##(?:\[|[a-z]+\[)")
"""A line of somebody else's, or a command to the reader of a log that is not ours."""

NASTY = (
    "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "\x9b2J", "a\nPWNED", "a\r\nPWNED: 0 errors", "\n::error::PWNED",
    "::add-mask::x", "  ::stop-commands::x", "##[error]x", "##vso[task.setvariable variable=x]y",
    "##teamcity[x]", "\u202egnp.exe",
    "\u2066x\u2069", "a\u2028PWNED", "a\u2029PWNED", "\x85PWNED", "\u200bx", "\ufeffx", "\U000e0041", "%0A::error::x",
    "<img src=x onerror=y>", "](http://evil) @all `x` | a", "\x7f\x08\x08", "\x0b\x0c",
)  # fmt: skip


def nasty(chance: Random) -> str:
    """Return a text that steers, forges and commands."""
    return "".join(chance.choice(NASTY) for _ in range(chance.choice((1, 2, 3))))


def judged(text: str, format_: str) -> None:
    """Fail where an output has any of it; GitHub's own commands are ours there."""
    assert not STEERS.search(text), ascii(text[:2000])
    assert not FORGED.search(text), ascii(text[:2000])
    if format_ == "json":
        json.loads(text)


def manifests(chance: Random) -> str:
    """Return objects with such texts in every field that a report may name."""
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": nasty(chance), "namespace": nasty(chance), "labels": {nasty(chance): nasty(chance)}},
        "spec": {nasty(chance): 1, "containers": [{"name": nasty(chance), "image": 5, nasty(chance): nasty(chance)}]},
    }
    odd = {"apiVersion": nasty(chance), "kind": nasty(chance), "metadata": {"name": nasty(chance)}}
    policy = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": "v"},
        "spec": {
            "matchConstraints": {
                "resourceRules": [
                    {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"]}
                ]
            },
            "validations": [{"expression": "false", "message": nasty(chance).replace("\n", " ") or "x"}],
        },
    }
    binding = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": "v"},
        "spec": {"policyName": "v", "validationActions": ["Deny"]},
    }
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m", "namespace": "n"}, "data": {"a": "b"}}
    return "\n---\n".join(json.dumps(item) for item in (pod, odd, policy, binding, config))


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("seed", range(3))
def test_no_report_of_manifests_passes_it_on(format_: str, seed: int, tmp_path: Path) -> None:
    """Names, kinds, keys, values, messages of policies and names of files and folders are shown as escapes."""
    chance = Random(seed)
    name = f"{nasty(chance)}x".replace("/", "_").replace("\x00", "")[:60]
    file = tmp_path / f"{name}.yaml"
    file.write_text(manifests(chance), encoding="utf-8")
    broken = tmp_path / "broken.yaml"
    broken.write_bytes(f"a: {nasty(chance)}: [\n::error::PWNED\n".encode("utf-8", "surrogatepass"))
    done = call(tmp_path, "validate", ".", "--format", format_)
    assert done.returncode == 1
    judged(done.stdout, format_)
    judged(done.stderr, "text")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository whose specs and files have such texts wherever they may stand."""
    chance = Random(7)
    repo = Repo(tmp_path_factory.mktemp("hostile"))
    job = {**JOB, "cluster": "test", "queue": nasty(chance), "env": {nasty(chance): nasty(chance)}, nasty(chance): 1}
    patch = {"object": nasty(chance), "merge": {nasty(chance): nasty(chance)}, "reason": nasty(chance)}
    specs = {
        "platform/clusters/test.yaml": CLUSTER,
        "platform/teams/nlp.yaml": {**TEAM, nasty(chance): nasty(chance)},
        "platform/repository.yaml": REPOSITORY,
        "jobs/nlp/odd.yaml": job,
        "jobs/nlp/patched.yaml": {**JOB, "patches": [patch], "waive": {nasty(chance): nasty(chance)}},
        "jobs/nlp/named.yaml": {**JOB, "pool": nasty(chance), "description": nasty(chance), "args": [nasty(chance)]},
        f"jobs/nlp/{nasty(chance).replace('/', '_')}.yaml": JOB,
    }
    for name, value in specs.items():
        repo.put(name, dump(value))
    repo.put("generated/test/a\x1b[31m\n::error::PWNED.yaml", "\x1b[2J\n::error::PWNED\n")
    repo.put("generated/test/runs/nlp/x/job.yaml", "a: b\n##[error]x\n::error::PWNED\n")
    repo.commit()
    return repo.root


COMMANDS = {
    "check": ("check", "jobs/nlp/odd.yaml"),
    "explain": ("explain", "nlp/\x1b[31m\n::error::PWNED"),
    "explain a job": ("explain", "nlp/named"),
    "new": ("new", "job", "nlp/\x1b[31m\n::error::PWNED"),
    "plan": ("plan",),
    "rename": ("rename", "nlp/odd", "\x1b[31m\n::error::PWNED"),
    "retire": ("retire", "nlp/\x1b]0;x\x07"),
    "rule": ("rule", "\x1b[31m\n::error::PWNED"),
    "rerun": ("rerun", "nlp/\n::error::PWNED"),
    "run": ("run", "nlp/\x1b[31m"),
    "an option": ("validate", "--kubernetes", "\x1b[31m\n::error::PWNED", "x"),
    "a file": ("validate", "\x1b[31m\n::error::PWNED"),
    "no command": ("\x1b[31m\n::error::PWNED",),
}


@pytest.mark.parametrize("arguments", COMMANDS.values(), ids=COMMANDS)
def test_no_command_passes_it_on(arguments: tuple[str, ...], hostile: Path) -> None:
    """What is wrong with specs, with files of the tree and with the command line itself is shown as escapes."""
    done = call(hostile, *arguments)
    judged(done.stdout, "text")
    judged(done.stderr, "text")
    assert done.stdout + done.stderr


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("command", ["plan", "check"])
def test_no_report_of_specs_passes_it_on(command: str, format_: str, hostile: Path) -> None:
    """Neither do reports of a repository."""
    done = call(hostile, command, "--format", format_)
    judged(done.stdout, format_)
    judged(done.stderr, "text")
    assert done.stdout


def test_a_diff_passes_nothing_on() -> None:
    """A line of a diff keeps its sign in front, and the runner of GitHub leaves blanks before a command out."""
    for line in ("-\x1b[31m", " ::error::x", "+##[error]x", "-\u202ex"):
        judged(escaped(line), "text")


def test_json_says_the_same() -> None:
    """Escapes of JSON are read back as what they were."""
    value = {nasty(Random(seed)): nasty(Random(-seed)) for seed in range(1, 60)}
    assert json.loads(in_json(json.dumps(value, ensure_ascii=False, indent=1))) == value


PRINTERS = {"_out.py", "_screen.py", "completion.py"}
"""Modules that print: what is ours, and what was escaped."""


def test_commands_print_in_one_place() -> None:
    """No command prints or writes to a stream by itself: what it says goes through `cli/_out.py`."""
    calls = {"print", "typer.echo", "sys.stdout.write", "sys.stderr.write"}
    found = [
        f"{path.name}: {ast.unparse(node)}"
        for path in sorted((ROOT / "platform" / "trainyard/faces/cli").glob("*.py"))
        if path.name not in PRINTERS
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in calls
    ]
    assert found == ["__init__.py: print(__version__)", "__init__.py: print(error)"]


ODD = ("\ud800", "\udcff", "\udfff", "\ud83d\ude00", "a\x00b", "\ufffe", "]]>", "\U0001f600")
"""Halves of surrogate pairs, alone, as a byte of a name and as a pair, and what formats have words of their own for."""

FIELDS = ("message", "fix", "path", "source", "remedy", "rule")


def odd_result(odd: str) -> Result:
    """Return a result with a text in every place that a report shows."""
    place = Location(f"jobs/{odd}.yaml", 1, 1)
    where = ObjectRef("v1", "Pod", f"a{odd}", f"b{odd}")
    finding = Finding(layer="spec", location=place, object=where, spec=place, **dict.fromkeys(FIELDS, f"x {odd}"))
    judged = Judged(place.file, 0, where, "valid")
    return Result(findings=[finding], objects=[judged], notes=[f"a note {odd}"], skipped=[Skipped(f"x{odd}", odd)])


@pytest.mark.parametrize("odd", ODD, ids=ascii)
@pytest.mark.parametrize("format_", FORMATS)
def test_every_report_shows_every_text(format_: str, odd: str) -> None:
    """No name, message or value is one that a report cannot be made of, and each can be written as UTF-8."""
    text = render(odd_result(odd), format_)
    judged(text.encode().decode(), format_)
    if format_ == "sarif":
        json.loads(text)
    if format_ == "junit":
        ET.fromstring(text)
