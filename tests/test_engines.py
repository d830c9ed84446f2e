"""Where kubeconform and we differ: every difference has a named class, and the server sides with ours."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from apiserver.agreement import record
from apiserver.agreement.cases import generated
from apiserver.agreement.peers import kubeconform_verdicts
from apiserver.agreement.verdicts import Case, Ours, ours, theirs
from conftest import ROOT
from trainyard.base.errors import ToolError
from trainyard.base.system import kubeconform
from trainyard.judge.checks.inputs import decode
from trainyard.upstream.apiserver import catalog


class Class(NamedTuple):
    """Why a plain schema engine cannot know: how the class is told, and one manifest of it."""

    why: str
    told: Callable[[Ours, Ours], bool]
    """From our verdict and kubeconform's."""
    example: str


def layer(name: str) -> Callable[[Ours, Ours], bool]:
    """Tell a class by the layer that refuses."""
    return lambda mine, _: mine.layer == name


def rule(name: str, *words: str) -> Callable[[Ours, Ours], bool]:
    """Tell a class by our rule, and words of its reason."""
    return lambda mine, _: mine.rule == name and (not words or any(word in mine.reason for word in words))


def says(*words: str) -> Callable[[Ours, Ours], bool]:
    """Tell a class by words of kubeconform's."""
    return lambda _, peer: all(word in peer.reason for word in words)


NAMES = "what a name or a label may be depends on the kind, and stands in no schema"
CODE = "these rules stand in the server's code; a schema of core kinds says little more than types"
TOO_LAX = {
    "a name": Class(NAMES, layer("meta"), "{apiVersion: v1, kind: ConfigMap, metadata: {name: A_b}}"),
    "a rule in the server's code": Class(
        CODE,
        layer("core"),
        "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: a}, spec: {minAvailable: -1}}",
    ),
    "a rule in CEL": Class(
        "rules in CEL are no part of JSON Schema",
        layer("cel"),
        "{apiVersion: kueue.x-k8s.io/v1beta2, kind: Topology, metadata: {name: a},"
        " spec: {levels: [{nodeLabel: kubernetes.io/hostname}, {nodeLabel: a}]}}",
    ),
    "a webhook": Class(
        "what an operator's webhook refuses stands in the operator's code",
        layer("webhook"),
        "{apiVersion: batch.volcano.sh/v1alpha1, kind: CronJob, metadata: {name: a}, spec: {schedule: '0x10',"
        " jobTemplate: {spec: {tasks: [{replicas: 1, template: {spec: {containers: [{name: a, image: a}]}}}]}}}}",
    ),
    "keys of a list": Class(
        "list keys and sets are extensions that JSON Schema does not know",
        lambda mine, _: (
            mine.rule in {"schema/duplicate", "schema/null", "schema/list-key"}
            or (mine.rule == "schema/required" and "identify it" in mine.reason)
        ),
        "{apiVersion: v1, kind: ServiceAccount, metadata: {name: a}, secrets: [{name: a}, {name: a}]}",
    ),
    "a null that takes a required field away": Class(
        "null is dropped before required fields are looked for; the schema at hand must allow it, as the server does",
        rule("schema/required", "null is no value"),
        "",
    ),
    "a number that its field cannot hold": Class(
        "a number is decoded into 32 or 64 bits; the format in a schema is a remark",
        rule("schema/type", "is the number"),
        "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: a}, value: 9223372036854775807}",
    ),
    "a quantity": Class(
        "a quantity is any text to OpenAPI, and parsed when it is decoded",
        rule("schema/quantity"),
        "{apiVersion: v1, kind: LimitRange, metadata: {name: a}, spec: {limits: [{type: Pod, max: {cpu: 1x}}]}}",
    ),
    "bytes": Class(
        "base64 is a format, and kubeconform does not know it",
        rule("schema/base64"),
        "{apiVersion: v1, kind: Secret, metadata: {name: a}, data: {a: plain text}}",
    ),
    "a format": Class(
        "the server knows go-openapi's formats, kubeconform those of JSON Schema",
        rule("schema/format"),
        "{apiVersion: acme.cert-manager.io/v1, kind: Order, metadata: {name: a},"
        " spec: {issuerRef: {name: a}, request: 10.0.0.0/33}}",
    ),
}
"""What kubeconform accepts and the server refuses."""

TOO_STRICT = {
    "a wrong status": Class(
        "creation drops the status of a kind that has it as a subresource",
        says("/status"),
        "{apiVersion: kueue.x-k8s.io/v1beta2, kind: Cohort, metadata: {name: a}, status: {fairSharing: {}}}",
    ),
    "null among elements of a core list": Class(
        "Go decodes null to the zero value of the element's type",
        says("/kubernetes/", "got null"),
        "{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: a},"
        " rules: [{apiGroups: [''], resources: [pods], verbs: [get, null]}]}",
    ),
    "null that a webhook decodes away": Class(
        "a mutating webhook answers with its typed form, in which null is gone",
        says("got null"),
        "{apiVersion: kueue.x-k8s.io/v1beta1, kind: ResourceFlavor, metadata: {name: a}, spec: null}",
    ),
    "empty text for an enum of a core kind": Class(
        "to Go empty text is no value, and gets the default",
        says("/kubernetes/", "value must be one of"),
        "{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ports: [{port: 1, protocol: ''}]}}",
    ),
    "a required field with a default": Class(
        "defaults are filled in before required fields are looked for",
        says("missing propert", "/kueue/"),
        "{apiVersion: kueue.x-k8s.io/v1beta1, kind: MultiKueueCluster, metadata: {name: a},"
        " spec: {kubeConfig: {location: a}}}",
    ),
    "a required field that only OpenAPI asks for": Class(
        "Go has the zero value where a field is absent, and the code does not mind",
        says("/kubernetes/", "missing propert"),
        "{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: a}, spec: {driver: gpu.example.com,"
        " nodeName: a, pool: {name: a, generation: 1, resourceSliceCount: 1},"
        " devices: [{name: gpu-0, capacity: {memory: {}}}]}}",
    ),
}
"""What kubeconform refuses and the server accepts; the first class that fits counts."""

EXAMPLES = [
    *(pytest.param(name, value, True, id=f"too lax: {name}") for name, value in TOO_LAX.items() if value.example),
    *(pytest.param(name, value, False, id=f"too strict: {name}") for name, value in TOO_STRICT.items()),
]
"""Class, and whether the server refuses its example."""


@pytest.fixture(scope="module")
def known():
    """The kinds of the server that labelled the recorded cases."""
    return catalog.load(ROOT / "schemas", kubernetes="1.35")[0]


@pytest.fixture(scope="module")
def peer(known):
    """Asks kubeconform."""
    try:
        kubeconform.find(ROOT)
    except ToolError as error:
        pytest.skip(f"our verdict against kubeconform's: {error}")
    return lambda cases: kubeconform_verdicts(cases, known, ROOT)


def class_of(mine: Ours, theirs: Ours) -> str | None:
    """Name the class of a difference."""
    table = TOO_LAX if theirs.valid else TOO_STRICT
    return next((name for name, value in table.items() if value.told(mine, theirs)), None)


def case_of(text: str) -> Case:
    """Return the case of one manifest."""
    (manifest,), _ = decode("case.yaml", text.encode())
    return Case(manifest.value, text=text)


@pytest.mark.go
@pytest.mark.slow
def test_every_difference_has_a_class_and_the_server_sides_with_ours(known, peer):
    """Of all recorded cases that are created, kubeconform is wrong where it differs, and we know why."""
    recorded = [one_case for one_case in record.load_cases() if one_case[0].old is None]
    verdicts: Sequence[Ours] = peer([case for case, _, _ in recorded])
    found: Counter[str | None] = Counter()
    for (case, valid, reason), theirs_ in zip(recorded, verdicts, strict=True):
        if theirs_.valid != valid:
            mine = ours(case, known)
            assert mine.valid == valid, f"{case.note}: {reason}"
            name = class_of(mine, theirs_)
            assert name is not None, f"{case.note}: {mine.rule} {mine.reason}: kubeconform: {theirs_.reason}"
            found[name] += 1
    assert found.total() >= 150
    assert len(set(found) & set(TOO_LAX)) >= 9, found


@pytest.mark.go
@pytest.mark.slow
def test_both_accept_what_is_rendered(peer):
    """On the repository's own tree the engines do not differ."""
    verdicts = peer([Case(item.value) for item in generated()])
    assert len(verdicts) > 100
    assert not [verdict.reason for verdict in verdicts if not verdict.valid]


@pytest.mark.go
@pytest.mark.slow
def test_every_class_has_its_example(known, peer):
    """A manifest of each class is judged differently by the two engines, and falls into that class."""
    cases = [case_of(example.values[1].example) for example in EXAMPLES]
    for param, case, theirs_ in zip(EXAMPLES, cases, peer(cases), strict=True):
        name, _, refused = param.values
        mine = ours(case, known)
        assert (mine.valid, theirs_.valid) == (not refused, refused), f"{name}: {mine.reason} {theirs_.reason}"
        assert class_of(mine, theirs_) == name


@pytest.mark.cluster
@pytest.mark.parametrize(("name", "each", "refused"), EXAMPLES)
def test_a_server_sides_with_ours(known, name, each, refused):
    """A real server on which all operators run, for their webhooks count, says of the examples what we say."""
    kubeconfig = os.environ.get("TRAINYARD_KUBECONFIG")
    if not kubeconfig:
        pytest.skip("who is right where the engines differ: set TRAINYARD_KUBECONFIG")
    from trainyard.faces.live.server import Server

    said = theirs(case_of(each.example), known, Server(kubeconfig=Path(kubeconfig)))
    assert said.told, said.reason
    assert said.valid is not refused, said.reason
