"""What Kueue was asked about each cluster, and what it answered, one thing a line."""

from __future__ import annotations

import json

from conftest import ROOT
from kueue.question import Object, Question, question
from trainyard.specs.load import read_repository

CLUSTERS = sorted({path.parents[1].name for path in (ROOT / "generated").glob("*/platform/clusterqueue.*.yaml")})
"""Clusters of the repository with queues of Kueue's."""


def current(cluster: str) -> Question:
    """Return what Kueue would be asked today."""
    declared = read_repository(ROOT).specs.clusters[cluster]
    return question(ROOT / "generated" / cluster, declared)


def name(cluster: str) -> str:
    """Return the file of a cluster, below tests/."""
    return f"kueue/answers/{cluster}.jsonl"


def written(asked: Question, answers: Object) -> str:
    """Return a question and its answers as they are recorded."""
    lines = [json.dumps({kind: {key: answer}}) for kind, found in answers.items() for key, answer in found.items()]
    return "\n".join([*asked.lines(), *lines]) + "\n"


def read(cluster: str) -> tuple[list[str], dict[str, Object]]:
    """Return the lines of the question that was asked, and the answers by what was asked for."""
    lines = (ROOT / "tests" / name(cluster)).read_text(encoding="utf-8").splitlines()
    asked = [line for line in lines if line.startswith(('{"config"', '{"object"', '{"job"'))]
    answers: dict[str, Object] = {"alone": {}, "together": {}, "queues": {}}
    for line in lines[len(asked) :]:
        ((kind, found),) = json.loads(line).items()
        answers[kind] |= found
    return asked, answers
