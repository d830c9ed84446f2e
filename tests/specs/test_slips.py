"""Slips of people and their programs are named for what they are: quotes, endings, templates, names of files."""

from __future__ import annotations

from pathlib import Path

import pytest

import make
from trainyard.base.documents import dump
from trainyard.specs.load import read_repository

JOB = dump(make.JOB)


def said(root: Path) -> list[tuple[str, str, str]]:
    """Return rule, place and message of what is found in the files of a repository."""
    return [(item.rule, str(item.location), item.message) for item in read_repository(root).findings]


def with_job(root: Path, text: str, name: str = "train.yaml") -> Path:
    """Write a repository of one file beside jobs."""
    make.write_repository(root, jobs={})
    path = root / "jobs/nlp" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return root


QUOTED = {
    "a text in curly quotes": ("program: train.py", "program: “train.py”", "program", "“train.py”", "train.py"),
    "an option's value": ("queue: research", "queue: research\nargs: [-n=‘big’]", "args[0]", "-n=‘big’", "-n=big"),
    "an image": ("image: ", "image: “a@sha256:1”\n#", "image", "“a@sha256:1”", "a@sha256:1"),
    "quotes of another country": ("queue: research", "queue: „research“", "queue", "„research“", "research"),
}


@pytest.mark.parametrize(("old", "new", "field", "quoted", "plain"), QUOTED.values(), ids=QUOTED)
def test_quotes_of_a_word_processor_are_named(
    tmp_path: Path, old: str, new: str, field: str, quoted: str, plain: str
) -> None:
    """YAML takes them for letters of the value; there is no second error on what they do to it."""
    found = [item for item in said(with_job(tmp_path, JOB.replace(old, new))) if item[2].startswith(field)]
    message = f"{field} is {quoted}, whose quotes are part of the text; write {plain}"
    assert [(rule, text) for rule, _, text in found] == [("spec/quotes", message)]


PROSE = {
    "a description": "description: “Large” models",
    "a description in quotes": "description: “The large one”",
    "an apostrophe": "args: [--title, it’s]",
    "a sentence with a quote in it": "args: [--prompt, say “yes” or “no” now]",
}


@pytest.mark.parametrize("line", PROSE.values(), ids=PROSE)
def test_quotes_within_a_text_are_left_alone(tmp_path: Path, line: str) -> None:
    """What people read may be quoted as they like."""
    assert said(with_job(tmp_path, f"{JOB}{line}\n")) == []


@pytest.mark.parametrize("name", ["next", "next.yaml.txt", "next.ymal"])
def test_a_job_whose_file_has_no_right_ending_is_found(tmp_path: Path, name: str) -> None:
    """Merged as it is, nothing would run."""
    message = "file is a job, but does not end in .yaml, so nothing runs; rename it to next.yaml"
    assert said(with_job(tmp_path, JOB, name)) == [("spec/file-ending", f"jobs/nlp/{name}:1:1", message)]


OTHERS = {
    "a page": ("README", "# Jobs of the team\n"),
    "notes": ("notes.txt", "cluster: the big one\n"),
    "settings": ("settings", "cluster: a\nimage: b\n"),
    "a backup of an editor": ("train.yaml~", JOB),
    "bytes": ("model", "\0\1\2"),
    "an ignored template": ("job.j2", JOB),
}


@pytest.mark.parametrize(("name", "text"), OTHERS.values(), ids=OTHERS)
def test_other_files_beside_jobs_are_left_alone(tmp_path: Path, name: str, text: str) -> None:
    """A file is a job if it has every field that a job has, and a name that a job gets by a slip."""
    assert said(with_job(tmp_path, text, name)) == []


def test_a_job_without_an_ending_may_be_a_small_file(tmp_path: Path) -> None:
    """Where another job lists it, it is that job's."""
    root = with_job(tmp_path, f"{JOB}files: [{{source: next, mountPath: /etc/x}}]\n")
    (root / "jobs/nlp/next").write_text(JOB)
    assert said(root) == []


TEMPLATE = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Values.name }}\n"


def test_a_template_among_own_objects_is_called_one(tmp_path: Path) -> None:
    """That a key is a map is what a program sees in it, and helps nobody."""
    root = with_job(tmp_path, JOB)
    path = root / "platform/extra/test/platform/x.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(TEMPLATE)
    message = "this is a template with '{{', not YAML; write the rendered objects here"
    assert said(root) == [("decode/key", "platform/extra/test/platform/x.yaml:4:10", message)]


def test_a_template_of_a_job_is_called_one(tmp_path: Path) -> None:
    """As in other people's repositories, where Helm makes the jobs."""
    ((rule, place, message),) = said(with_job(tmp_path, JOB.replace("queue: research", "queue: {{ .Values.queue }}")))
    assert (rule, message) == ("decode/key", "this is a template with '{{', not YAML; write plain values")
    assert place.startswith("jobs/nlp/train.yaml:")


def test_a_registry_ends_without_a_slash(tmp_path: Path) -> None:
    """With one, a plan would take it for another registry."""
    root = make.write_repository(tmp_path, repository={**make.REPOSITORY, "registries": ["registry.example.com/"]})
    ((rule, _, message),) = said(root)
    assert rule == "spec/form"
    assert message.startswith("registries[0] is 'registry.example.com/', but must be a registry")
    assert message.endswith("and '/' at the end")


MISSING = {
    "nothing is there but the job": ([], "there are none"),
    "a file of nearly that name": (["train/confg.yaml"], "did you mean 'train/confg.yaml'?"),
    "another job of nearly that name": (["conf.yaml"], "there are none"),
}


@pytest.mark.parametrize(("there", "hint"), MISSING.values(), ids=MISSING)
def test_no_job_is_proposed_as_a_small_file(tmp_path: Path, there: list[str], hint: str) -> None:
    """A file that is not there is never the job itself, nor another job."""
    root = with_job(tmp_path, f"{JOB}files: [{{source: train/config.yaml, mountPath: /etc/x}}]\n")
    for name in there:
        path = root / "jobs/nlp" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("layers: 3\n" if "/" in name else JOB)
    message = f"file 'train/config.yaml' does not exist next to the job; {hint}"
    assert [text for rule, _, text in said(root) if rule == "spec/missing-small-file"] == [message]
