"""Comments in specs ignore nothing, and say so; `waive` does."""

from __future__ import annotations

import json

from command import call
from make import write_repository

NOTE = "# trainyard: ignore gpu-shm: why\n"


def found(root):
    """The findings on comments, by file and line."""
    done = call(root, "check", "-o", "json")
    return {
        (item["file"], item["line"]): item["message"]
        for item in json.loads(done.stdout)["findings"]
        if item["rule"] == "spec/ignore"
    }


def add(root, path, text):
    """Put a text in front of a file's."""
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text + (file.read_text() if file.exists() else ""))


def test_comments_in_specs_are_reported(tmp_path):
    """In a job, a cluster and an object of one's own, each comment is told at its line, now and from memory."""
    root = write_repository(tmp_path)
    assert found(root) == {}
    add(root, "jobs/nlp/train.yaml", NOTE)
    add(root, "platform/clusters/test.yaml", f"# first\n{NOTE}")
    config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: '# trainyard: ignore x: y'}\n"
    add(root, "platform/extra/test/platform/a.yaml", f"{config}{NOTE}")
    wanted = {
        ("jobs/nlp/train.yaml", 1): "a comment ignores nothing in this file; write waive: {gpu-shm: REASON}",
        ("platform/clusters/test.yaml", 2): "a comment ignores nothing in this file; write waive: {gpu-shm: REASON}",
        ("platform/extra/test/platform/a.yaml", 5): (
            "a comment ignores nothing in this file; write waive: {gpu-shm: REASON} in platform/clusters/test.yaml"
        ),
    }
    assert found(root) == wanted
    assert found(root) == wanted
    add(root, "platform/teams/nlp.yaml", "# trainyard: ignroe sec-*: why\n# trainyard: the team for language\n")
    misspelt = {("platform/teams/nlp.yaml", 1): "a comment ignores nothing in this file; write waive: {sec-*: REASON}"}
    assert found(root) == wanted | misspelt
    job = root / "jobs/nlp/train.yaml"
    job.write_text(job.read_text().removeprefix(NOTE))
    assert ("jobs/nlp/train.yaml", 1) not in found(root)


def test_no_file_beside_jobs_switches_off_a_policy(tmp_path):
    """Settings in folders of specs count for no job; what they would switch off is still reported."""
    root = write_repository(tmp_path)
    job = root / "jobs/nlp/train.yaml"
    job.write_text(job.read_text() + "env: {HF_TOKEN: hf_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3f" + "}\n")

    def secrets():
        report = json.loads(call(root, "check", "-o", "json").stdout)
        return [item["file"] for item in report["findings"] if item["rule"] == "sec-env-secret"]

    before = secrets()
    assert before
    for folder in (root, root / "jobs", root / "jobs/nlp", root / "platform"):
        (folder / ".trainyard.yaml").write_text('rules: {"sec-*": off}\n')
    assert secrets() == before
