"""Findings of the API server's rules are sentences: the field, its value, and what is allowed."""

from __future__ import annotations

import pytest

from trainyard.upstream.apiserver.problems import Path, Problem, Rule
from trainyard.upstream.apiserver.sentences import FORMS, field_name, sentence

RULE = Rule("core/x", "validation.go", title="A title.", fix="do this")
POD: Path = ("spec", "template", "spec", "containers", 0)

SENTENCES: dict[str, tuple[Problem, str]] = {
    "a field that is missing": (RULE.required((*POD, "image")), "containers[0].image is required"),
    "a field that is missing on a condition": (
        RULE.required(("subjects", 0, "namespace"), "for a ServiceAccount"),
        "subjects[0].namespace is required for a ServiceAccount",
    ),
    "a field that is missing beside another": (
        RULE.required(("spec", "values"), "must be specified when operator is In"),
        "spec.values is required when operator is In",
    ),
    "a part that is missing": (
        RULE.required(("spec", "volumes", 0), "must specify a volume type"),
        "volumes[0] must specify a volume type",
    ),
    "a value that must be another": (
        RULE.invalid(("spec", "replicas"), -1, "must be greater than or equal to 0"),
        "spec.replicas is -1, but must be greater than or equal to 0",
    ),
    "a value that is compared": (
        RULE.invalid(("limits", 0, "min", "cpu"), "2", "is greater than max"),
        'limits[0].min.cpu is "2", which is greater than max',
    ),
    "an object as a value": (
        RULE.invalid(("spec", "selector"), {"a": {"b": 1}}, "must match the labels"),
        "spec.selector must match the labels",
    ),
    "an object and a reason": (
        RULE.invalid(("spec", "tasks"), ["a"], "tasks depend on each other"),
        "spec.tasks is invalid: tasks depend on each other",
    ),
    "a value too long for a sentence": (
        RULE.invalid(("metadata", "name"), "a" * 300, "must be a DNS label"),
        "metadata.name must be a DNS label",
    ),
    "a long value that is none of a set": (
        RULE.unsupported(("spec", "type"), 'b": "' * 60, ("A", "B")),
        'spec.type must be "A" or "B"',
    ),
    "a key": (
        RULE.invalid(("metadata", "labels", "a/b/c"), "a/b/c", "must be a name"),
        'key "a/b/c" of metadata.labels must be a name',
    ),
    "a value that may not change": (
        RULE.invalid(("spec", "completions"), 3, "field is immutable"),
        "spec.completions is immutable, but is now 3; restore the old value",
    ),
    "a value that is none of a set": (
        RULE.unsupported((*POD, "imagePullPolicy"), "Sometimes", ("Always", "IfNotPresent", "Never")),
        'containers[0].imagePullPolicy is "Sometimes", but must be "Always", "IfNotPresent" or "Never"',
    ),
    "a value with commas in a set": (
        RULE.unsupported(("spec", "mode"), "x", ("r", "r, w")),
        'spec.mode is "x", but must be "r" or "r, w"',
    ),
    "a value that should be empty": (
        RULE.unsupported(("subjects", 0, "apiGroup"), "apps", ("",)),
        'subjects[0].apiGroup is "apps", but must be empty',
    ),
    "a value where there is none": (
        RULE.unsupported(("spec", "mode"), "x", ()),
        'spec.mode is "x", but can have no value here',
    ),
    "a field that may not be there": (
        RULE.forbidden((*POD, "lifecycle"), "may not be set for init containers"),
        "containers[0].lifecycle may not be set for init containers",
    ),
    "a field that is not for this": (
        RULE.forbidden(("spec", "exempt"), "only for type Exempt"),
        "spec.exempt is not allowed: only for type Exempt",
    ),
    "a second entry": (
        RULE.duplicate((*POD, "env", 1, "name"), "A"),
        'env[1].name repeats "A"; each entry must be unique',
    ),
    "a name of nothing": (
        RULE.missing((*POD, "volumeMounts", 0, "name"), "data", "spec.volumes has no volume of that name"),
        'volumeMounts[0].name is "data", but spec.volumes has no volume of that name',
    ),
    "a text that is too long": (
        RULE.too_long(("metadata", "name"), 253),
        "metadata.name may not be more than 253 bytes",
    ),
    "a list that is too long": (
        RULE.too_many(("spec", "rules"), 120, 100),
        "spec.rules has 120 items, but must have at most 100 items",
    ),
    "words of another kind": (
        Problem(("spec", "x"), "schema/unknown-field", "unknown field 'x'", "a source"),
        "unknown field 'x'",
    ),
}


@pytest.mark.parametrize(("problem", "expected"), SENTENCES.values(), ids=SENTENCES)
def test_a_problem_is_a_sentence(problem: Problem, expected: str) -> None:
    """Whatever the form of the API server, a person reads the field, its value and what is allowed."""
    assert sentence(problem) == expected


def test_every_form_has_a_sentence() -> None:
    """No form of the API server reaches a report as it is."""
    shown = {problem.message.partition(": ")[0] for problem, _ in SENTENCES.values()}
    assert shown >= set(FORMS)


PATHS: dict[str, tuple[Path, str]] = {
    "a short path": (("spec", "replicas"), "spec.replicas"),
    "a long path": (("spec", "template", "spec", "restartPolicy"), "template.spec.restartPolicy"),
    "an entry of a list": (("spec", "volumes", 3), "volumes[3]"),
    "a list in a list": (("spec", "containers", 0, "ports", 1, "name"), "ports[1].name"),
    "far below an entry": (
        ("spec", "replicatedJobs", 0, "template", "spec", "template", "spec", "restartPolicy"),
        "template.spec.restartPolicy",
    ),
    "the object": ((), "this object"),
    "an entry of a list that is the object": ((0, "name"), "name"),
}


@pytest.mark.parametrize(("path", "expected"), PATHS.values(), ids=PATHS)
def test_a_field_is_named_by_the_end_of_its_path(path: Path, expected: str) -> None:
    """A name has so much of the path that a person finds the field."""
    assert field_name(path) == expected
