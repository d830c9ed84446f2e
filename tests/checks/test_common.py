"""What the policies in CEL have in common: it is fresh, and it finds the pods of every kind where its row says."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import pytest

from command import Done
from conftest import ROOT
from tool import tool
from trainyard.base.documents import load
from trainyard.upstream.apiserver.admission import policies as engine
from trainyard.upstream.apiserver.admission.policies import Decision, Policy, Request, Surroundings
from trainyard.upstream.workloads import ANY, Carrier, Template, carriers

TOOL = ROOT / "tools" / "policies.py"
TOO, WITHOUT = runpy.run_path(str(TOOL))["KINDS"]
POLICIES = sorted((ROOT / "policies").glob("*.yaml"))
OWN = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: own}
spec:
  failurePolicy: Fail
  # common: WORDS, written by `make policies`
  # end of what is common
  validations:
    - expression: variables.containers.all(list, list.all(container, container.name != 'bad'))
      message: bad
    - expression: variables.templates.size() == 1
      message: more than one
"""


def run(*arguments: str | Path) -> Done:
    """Run the tool."""
    return tool(TOOL.name, *arguments)


def made(folder: Path, words: str) -> Policy:
    """Return a policy of one's own, with what is common written into it."""
    path = folder / "own.yaml"
    path.write_text(OWN.replace("WORDS", words))
    assert run(path).returncode == 0
    documents, findings = load(path.read_bytes(), file=path.name)
    assert not findings
    return engine.load(documents[0].value, minor=35)


def decisions(policy: Policy, value: dict[str, Any]) -> list[Decision]:
    """What a policy decides of a new object."""
    group, _, version = value["apiVersion"].rpartition("/")
    request = Request(engine.guess(group, version, value["kind"]), value, None, "CREATE")
    bound = [(policy, (engine.bound_everywhere(policy),))]
    return list(engine.judge(bound, request, Surroundings({}, complete=True)))


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Policy]:
    """One policy about all kinds, and one without those of core and apps."""
    return {words: made(tmp_path_factory.mktemp("policies"), words) for words in (TOO, WITHOUT)}


def nested(path: tuple[str | int, ...], value: Any, *, roles: bool) -> Any:
    """Return a value below a pattern; the second item of a list, and a role of a map, stand for all of them."""
    if not path:
        return value
    below = nested(path[1:], value, roles=roles)
    if path[0] == ANY:
        return {"Worker": below} if roles else [{}, below]
    return {str(path[0]): below}


def an_object(row: Carrier, template: Template, pod: dict[str, Any]) -> dict[str, Any]:
    """Return an object of a kind with one pod template."""
    version = "v1" if row.operator is None else "v1alpha1"
    found: dict[str, Any] = nested(template.pattern, pod, roles=template.roles is not None)
    head = {"apiVersion": f"{row.group}/{version}" if row.group else version, "kind": row.kind}
    return {**head, "metadata": {"name": "a", "namespace": "team"}, **found}


TEMPLATES = {
    f"{row.kind} of {row.group or 'core'}, {'.'.join(map(str, template.pattern)) or 'itself'}": (row, template)
    for row in carriers().values()
    for template in row.templates
}


@pytest.mark.parametrize("field", ["initContainers", "containers"])
@pytest.mark.parametrize(("row", "template"), TEMPLATES.values(), ids=TEMPLATES)
def test_every_container_is_found_where_it_is(
    row: Carrier, template: Template, field: str, own: dict[str, Policy]
) -> None:
    """A container of any template of any kind breaks a policy at its place, and nothing else passes as a template."""
    pod = {"spec": {"containers": [{"name": "good"}], field: [{"name": "good"}, {"name": "bad"}]}}
    value = an_object(row, template, pod)
    (pod_set,) = row.pod_sets(value)
    right = [("bad", (*pod_set.template, "spec", field, 1, "name"))]
    assert [(decision.message, decision.path) for decision in decisions(own[TOO], value)] == right
    others = [] if row.group in {"", "apps"} else right
    assert [(decision.message, decision.path) for decision in decisions(own[WITHOUT], value)] == others


def wrapped(*values: dict[str, Any]) -> dict[str, Any]:
    """Return an AppWrapper of objects."""
    head = {"apiVersion": "workload.codeflare.dev/v1beta2", "kind": "AppWrapper"}
    return {
        **head,
        "metadata": {"name": "a", "namespace": "team"},
        "spec": {"components": [{"template": value} for value in values]},
    }


@pytest.mark.parametrize(("row", "template"), TEMPLATES.values(), ids=TEMPLATES)
def test_what_an_app_wrapper_holds_is_judged_as_it_is_alone(
    row: Carrier, template: Template, own: dict[str, Policy]
) -> None:
    """A container breaks a policy in an AppWrapper as it does outside, at its place in the AppWrapper."""
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}, "spec": {"clusterIP": "None"}}
    value = an_object(row, template, {"spec": {"containers": [{"name": "bad"}]}})
    for policy in own.values():
        alone = [(decision.message, decision.path) for decision in decisions(policy, value)]
        inside = [(decision.message, decision.path) for decision in decisions(policy, wrapped(service, value))]
        assert inside == [(said, ("spec", "components", 1, "template", *path)) for said, path in alone] or (
            not alone and [said for said, _ in inside] == ["more than one"]
        )


def test_as_many_objects_are_looked_at_as_kueue_takes(own: dict[str, Policy]) -> None:
    """The eighth object with pods is looked at as the first is; kinds without pods between them do not count."""
    row, template = TEMPLATES["Job of batch, spec.template"]
    good, bad = (an_object(row, template, {"spec": {"containers": [{"name": name}]}}) for name in ("good", "bad"))
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}}
    value = wrapped(*[good, service] * 7, bad)
    found = [(decision.message, decision.path[:3]) for decision in decisions(own[TOO], value)]
    assert found == [("bad", ("spec", "components", 14)), ("more than one", ())]


def test_a_kind_without_templates_is_looked_at_too(own: dict[str, Policy]) -> None:
    """A TrainJob has its pods in a runtime; a policy says itself what it wants of it."""
    value = {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob", "metadata": {"name": "a"}, "spec": {}}
    assert [decision.message for decision in decisions(own[WITHOUT], value)] == ["more than one"]


def test_what_is_common_is_fresh() -> None:
    """The policies of this repository say what the rows of kinds say; CI fails where `make policies` was forgotten."""
    done = run("--check")
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("path", POLICIES, ids=lambda path: path.stem)
def test_a_policy_is_short(path: Path) -> None:
    """What a policy says beside its reasons and what is common has at most 25 lines."""
    text = path.read_text().partition("\nspec:\n")[2]
    own = re.sub(r"  # common: .*  # end of what is common\n", "", text, flags=re.DOTALL)
    assert own.count("\n") <= 25


def test_what_is_stale_is_named_and_repaired(tmp_path: Path) -> None:
    """`--check` says which policy is stale and leaves it; without it the policy is written, once."""
    path = tmp_path / "own.yaml"
    path.write_text(OWN.replace("WORDS", TOO))
    done = run("--check", path)
    assert (done.returncode, done.stdout) == (1, f"{path} is stale; run `make policies`\n")
    assert path.read_text() == OWN.replace("WORDS", TOO)
    assert run(path).stdout == f"wrote {path}\n"
    assert (run(path).stdout, run("--check", path).returncode) == ("", 0)


WRONG = {"words that it does not know": OWN, "no end": OWN.replace("WORDS", TOO).replace("  # end", "  # the end")}


@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG)
def test_comments_that_are_wrong_stop_the_tool(tmp_path: Path, text: str) -> None:
    """The tool writes nothing where it cannot tell what is meant, and says what it wants to read."""
    path = tmp_path / "own.yaml"
    path.write_text(text)
    done = run(path)
    assert done.returncode == 1
    assert repr(TOO) in done.stderr
    assert path.read_text() == text


def test_a_policy_without_the_comments_is_left_alone(tmp_path: Path) -> None:
    """A policy about other kinds needs nothing of what is common."""
    path = tmp_path / "own.yaml"
    path.write_text("kind: ValidatingAdmissionPolicy\n")
    assert (run(path).returncode, path.read_text()) == (0, "kind: ValidatingAdmissionPolicy\n")
