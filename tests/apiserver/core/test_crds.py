"""CustomResourceDefinitions: what a definition and its schemas may say."""

from __future__ import annotations

from typing import Any

import pytest

from apiserver import core_objects as objects
from apiserver.core_objects import GONE, altered, judged, spelled

ROOT = "spec.versions.0.schema.openAPIV3Schema"
SPEC = f"{ROOT}.properties.spec"
AT = "spec.versions[0].schema.openAPIV3Schema.properties.spec"
MAP = {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}
NAMED = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}
EITHER = [{"type": "integer"}, {"type": "string"}]
WEBHOOK = {"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": {"url": "https://a"}}}
V2 = {**objects.DEFINITION["spec"]["versions"][0], "name": "v2", "storage": False}


def rule(expression: str, **more: Any) -> dict[str, Any]:
    """State a rule for `spec`."""
    return {f"{SPEC}.x-kubernetes-validations": [{"rule": expression, **more}]}


CASES: dict[str, tuple[dict[str, Any], str | None]] = {
    "a name that is not its plural and group": ({"metadata.name": "run.example.com"}, "metadata.name"),
    "a group without a dot": ({"spec.group": "example", "metadata.name": "runs.example"}, "spec.group"),
    "a group of Kubernetes": (
        {"spec.group": "a.k8s.io", "metadata.name": "runs.a.k8s.io"},
        "metadata.annotations.api-approved.kubernetes.io",
    ),
    "a group of Kubernetes with a reason": (
        {
            "spec.group": "a.k8s.io",
            "metadata": {
                "name": "runs.a.k8s.io",
                "annotations": {"api-approved.kubernetes.io": "unapproved, a test"},
            },
        },
        None,
    ),
    "a kind with an underscore": (
        {"spec.names": {"plural": "runs", "singular": "run", "kind": "Run_s", "listKind": "RunList"}},
        "spec.names.kind",
    ),
    "a list of the kind's own name": ({"spec.names.listKind": "Run"}, "spec.names.listKind"),
    "no version that objects are stored in": ({"spec.versions.0.storage": False}, "spec.versions"),
    "two": ({"spec.versions.1": {**V2, "storage": True}}, "spec.versions"),
    "two versions": ({"spec.versions.1": V2}, None),
    "a version's name twice": ({"spec.versions.1": {**V2, "name": "v1"}}, "spec.versions[1].name"),
    "no schema": ({"spec.versions.0.schema": GONE}, "spec.versions[0].schema.openAPIV3Schema"),
    "a warning of what is not deprecated": (
        {"spec.versions.0.deprecationWarning": "soon gone"},
        "spec.versions[0].deprecationWarning",
    ),
    "a column of a type that no column has": (
        {"spec.versions.0.additionalPrinterColumns": [{"name": "A", "type": "object", "jsonPath": ".a"}]},
        "spec.versions[0].additionalPrinterColumns[0].type",
    ),
    "a field to select by": ({"spec.versions.0.selectableFields": [{"jsonPath": ".spec.size"}]}, None),
    "an object to select by": (
        {"spec.versions.0.selectableFields": [{"jsonPath": ".spec"}]},
        "spec.versions[0].selectableFields[0].jsonPath",
    ),
    "replicas outside of spec": (
        {
            "spec.versions.0.subresources": {
                "scale": {"specReplicasPath": ".size", "statusReplicasPath": ".status.size"}
            }
        },
        "spec.versions[0].subresources.scale.specReplicasPath",
    ),
    "conversion by a webhook": ({"spec.conversion": WEBHOOK}, None),
    "conversion by none with one": ({"spec.conversion": {**WEBHOOK, "strategy": "None"}}, "spec.conversion.webhook"),
    "fields kept everywhere": ({"spec.preserveUnknownFields": True}, "spec.preserveUnknownFields"),
    # Structure
    "a field without a type": ({f"{SPEC}.properties.size": {}}, f"{AT}.properties.size.type"),
    "a field of any type": (
        {f"{SPEC}.properties.size": {"x-kubernetes-preserve-unknown-fields": True}},
        None,
    ),
    "a number or a text": (
        {f"{SPEC}.properties.size": {"x-kubernetes-int-or-string": True, "anyOf": EITHER}},
        None,
    ),
    "the same in the other order": (
        {f"{SPEC}.properties.size": {"x-kubernetes-int-or-string": True, "anyOf": EITHER[::-1]}},
        f"{AT}.properties.size.anyOf",
    ),
    "a list of nothing": ({f"{SPEC}.properties.size": {"type": "array"}}, f"{AT}.properties.size.items"),
    "a type in a branch": ({f"{SPEC}.oneOf": [{"type": "object"}]}, f"{AT}.oneOf[0].type"),
    "a requirement in a branch": ({f"{SPEC}.oneOf": [{"required": ["size"]}, {"required": ["a"]}]}, None),
    "a branch on a field that the schema does not have": (
        {f"{ROOT}.anyOf": [{"properties": {"status": {"required": ["a"]}}}]},
        "spec.versions[0].schema.openAPIV3Schema.properties.status",
    ),
    "metadata that says more than its type": (
        {f"{ROOT}.properties.metadata": {"type": "object", "required": ["name"]}},
        "spec.versions[0].schema.openAPIV3Schema.properties.metadata",
    ),
    "a limit on names": (
        {
            f"{ROOT}.properties.metadata": {
                "type": "object",
                "properties": {"name": {"type": "string", "maxLength": 40}},
            }
        },
        None,
    ),
    "fields and a schema for all others": (
        {f"{SPEC}.additionalProperties": {"type": "string"}},
        f"{AT}.additionalProperties",
    ),
    "a reference": ({f"{SPEC}.properties.size.$ref": "#/a"}, f"{AT}.properties.size.$ref"),
    "a pattern that Go does not know": (
        {f"{SPEC}.properties.size": {"type": "string", "pattern": "(?=a)"}},
        f"{AT}.properties.size.pattern",
    ),
    "no null at the root": ({f"{ROOT}.nullable": True}, "spec.versions[0].schema.openAPIV3Schema.nullable"),
    "a choice at the root beside a status": (
        {f"{ROOT}.oneOf": [{"required": ["spec"]}], "spec.versions.0.subresources": {"status": {}}},
        "spec.versions[0].schema.openAPIV3Schema.oneOf",
    ),
    # Lists
    "a map list": ({f"{SPEC}.properties.size": {**MAP, "items": NAMED}}, None),
    "a map list whose key may be missing": (
        {f"{SPEC}.properties.size": {**MAP, "items": {**NAMED, "required": []}}},
        f"{AT}.properties.size.items.properties.name.default",
    ),
    "a map list whose key has a default": (
        {
            f"{SPEC}.properties.size": {
                **MAP,
                "items": {"type": "object", "properties": {"name": {"type": "string", "default": "a"}}},
            }
        },
        None,
    ),
    "a map list without keys": (
        {f"{SPEC}.properties.size": {**MAP, "x-kubernetes-list-map-keys": [], "items": NAMED}},
        f"{AT}.properties.size.x-kubernetes-list-map-keys",
    ),
    "a set of objects": (
        {f"{SPEC}.properties.size": {"type": "array", "x-kubernetes-list-type": "set", "items": NAMED}},
        f"{AT}.properties.size.items.x-kubernetes-map-type",
    ),
    "unique items": (
        {f"{SPEC}.properties.size": {"type": "array", "uniqueItems": True, "items": {"type": "string"}}},
        f"{AT}.properties.size.uniqueItems",
    ),
    # Defaults
    "a default": ({f"{SPEC}.properties.size.default": 3}, None),
    "a default of another type": ({f"{SPEC}.properties.size.default": "3"}, f"{AT}.properties.size.default"),
    "a default with a field that is dropped": ({f"{SPEC}.default": {"sizes": 3}}, f"{AT}.default.sizes"),
    "a default below its minimum": (
        {f"{SPEC}.properties.size": {"type": "integer", "minimum": 1, "default": 0}},
        f"{AT}.properties.size.default",
    ),
    "a default that breaks a rule": (
        {
            f"{SPEC}.properties.size": {
                "type": "integer",
                "default": 0,
                "x-kubernetes-validations": [{"rule": "self > 0"}],
            }
        },
        f"{AT}.properties.size.default",
    ),
    "a default of metadata": (
        {f"{ROOT}.properties.kind": {"type": "string", "default": "Run"}},
        "spec.versions[0].schema.openAPIV3Schema.properties.kind.default",
    ),
    # Rules
    "a rule": (rule("self.size > 0"), None),
    "a rule on a field that is not there": (rule("self.sizes > 0"), f"{AT}.x-kubernetes-validations[0].rule"),
    "a rule that is no condition": (rule("self.size"), f"{AT}.x-kubernetes-validations[0].rule"),
    "a rule of nothing": (rule(" "), f"{AT}.x-kubernetes-validations[0].rule"),
    "a message of two lines": (
        rule("self.size > 0", message="a\nb"),
        f"{AT}.x-kubernetes-validations[0].message",
    ),
    "a message that is no text": (
        rule("self.size > 0", messageExpression="self.size"),
        f"{AT}.x-kubernetes-validations[0].messageExpression",
    ),
    "a reason that is none": (rule("self.size > 0", reason="Bad"), f"{AT}.x-kubernetes-validations[0].reason"),
    "a field that the rule blames": (rule("self.size > 0", fieldPath=".size"), None),
    "a field that is not there to blame": (
        rule("self.size > 0", fieldPath=".sizes"),
        f"{AT}.x-kubernetes-validations[0].fieldPath",
    ),
    "a rule on what was before": (rule("self.size >= oldSelf.size"), None),
    "one within a list that is no map": (
        {
            f"{SPEC}.properties.size": {
                "type": "array",
                "items": {"type": "integer", "x-kubernetes-validations": [{"rule": "self >= oldSelf"}]},
            }
        },
        f"{AT}.properties.size.items.x-kubernetes-validations[0].rule",
    ),
    "an optional before that the rule does not read": (
        rule("self.size > 0", optionalOldSelf=True),
        f"{AT}.x-kubernetes-validations[0].optionalOldSelf",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_definition(case: str) -> None:
    """A definition is refused at the field that is wrong, or within it; what only looks wrong is not."""
    changes, field = CASES[case]
    problems = judged(altered(objects.DEFINITION, changes))
    assert bool(problems) == (field is not None), problems
    for problem in problems:
        assert field is not None
        assert f"{spelled(problem.path)}.".startswith((f"{field}.", f"{field}[")), problem


def test_a_schema_of_all_versions_is_judged_once() -> None:
    """A mistake that all versions share is said of the first."""
    wrong = altered(objects.DEFINITION, {f"{SPEC}.properties.size": {}})
    wrong["spec"]["versions"].append({**wrong["spec"]["versions"][0], "name": "v2", "storage": False})
    assert [problem.path[2] for problem in judged(wrong)] == [0]
