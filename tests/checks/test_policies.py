"""Every policy against its cases: the lines marked `# BAD` and no others, in the words of its reviewed report."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

from conftest import ROOT
from trainyard.base.documents import load
from trainyard.base.manifests import Manifest, expand
from trainyard.base.system.data import policy_files
from trainyard.faces.report.text import paragraph
from trainyard.judge.checks.result import Result
from trainyard.judge.policies.policy import Policy, unusable, usable
from trainyard.judge.policies.run import check
from trainyard.judge.policies.world import World
from trainyard.specs import Cluster
from trainyard.upstream.apiserver import Catalog, Judge, catalog

POLICIES = {policy.id: policy for policy in usable(policy_files(ROOT))}


def manifests(path: Path) -> tuple[Manifest, ...]:
    """The objects of a case file."""
    documents, findings = load(path.read_bytes(), file=path.name)
    objects, odd = expand(documents)
    assert not findings
    assert not odd
    return tuple(objects)


def inventory(path: Path) -> Cluster | None:
    """The cluster that the objects of a case file are on, where one is described beside it."""
    file = path.with_suffix(".cluster.yaml")
    return Cluster.model_validate(load(file.read_bytes(), file=file.name)[0][0].value) if file.exists() else None


@cache
def kinds() -> Catalog:
    """Return all kinds that we know, as a server of the newest release would serve them."""
    return catalog.load(ROOT / "schemas")[0]


def judge(policy: Policy, path: Path) -> Result:
    """Run one policy alone over its cases."""
    result = Result()
    if policy.check is None:
        from trainyard.judge.checks.cel_policies import check_judged, is_malformed

        judgements = [Judge(kinds()).judge(manifest) for manifest in manifests(path)]
        assert not [judgement.manifest.ref for judgement in judgements if is_malformed(judgement)], (
            "no server would ask a policy of it"
        )
        result.add(check_judged(judgements, kinds(), [policy], complete=False).findings)
    else:
        result.add(check(World(manifests(path), inventory(path)), [policy])[0])
    return result


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
def test_policy_reports_the_marked_lines(policy, golden):
    """A policy reports exactly the lines that a person marked, and its report is the reviewed one."""
    path = ROOT / "tests" / "policies" / f"{policy.id}.yaml"
    marked = [number for number, line in enumerate(path.read_text().splitlines(), 1) if line.endswith("# BAD")]
    result = judge(policy, path)
    assert sorted(finding.location.line for finding in result.findings) == marked
    assert marked, "a policy needs a case that fails"
    text = "\n\n".join(
        "\n".join(paragraph(finding)) for finding in sorted(result.findings, key=lambda finding: finding.order)
    )
    golden(f"policies/{policy.id}.txt", text + "\n")


@pytest.mark.parametrize("path", sorted((ROOT / "policies").glob("*.py")), ids=lambda path: path.stem)
def test_python_policies_import_checks_alone(path):
    """A Python policy imports `trainyard.checks` and nothing else of ours."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("trainyard"):
            assert node.module == "trainyard.checks"
        if isinstance(node, ast.Import):
            assert not any(name.name.startswith("trainyard") for name in node.names)


SAYS = '"""T.\n\nWhy: w.\nFix: f.\nSource: s.\n"""\n'
CEL = "kind: ValidatingAdmissionPolicy\n"
NOTES = "metadata:\n  name: x\n  annotations: {trainyard.dev/title: t, trainyard.dev/reason: r, trainyard.dev/fix: f"

BROKEN = {
    "a module that does not import": ("x.py", SAYS + "import nowhere\n", (7, 1), "import stopped with ModuleNotFound"),
    "a module that ends": (
        "x.py",
        SAYS + "raise SystemExit(3)\n",
        (7, 1),
        "import stopped with SystemExit: 3",
    ),
    "a module that is no Python": (
        "x.py",
        SAYS + "def check(world)\n    return []\n",
        (7, 17),
        "not valid Python: expected ':'",
    ),
    "a module without a check": ("x.py", SAYS, (1, 1), "import stopped with AttributeError"),
    "a module that gives no reason": (
        "x.py",
        '"""T.\n\nFix: f.\nSource: s.\n"""\ncheck = print',
        (1, 1),
        "the policy's docstring has no 'Why:'; add it",
    ),
    "a module that needs what there is not": (
        "x.py",
        SAYS + "NEEDS = {'inventry'}\ncheck = print\n",
        (1, 1),
        "NEEDS has 'inventry'; did you mean 'inventory'?",
    ),
    "an object of another kind": (
        "x.yaml",
        "apiVersion: v1\nkind: Job\nmetadata: {name: x}",
        (2, 7),
        "kind is 'Job', but must be 'ValidatingAdmissionPolicy'",
    ),
    "an object of another name": (
        "x.yaml",
        CEL + "metadata: {name: z}",
        (2, 18),
        "the policy's name is 'z', but must be the file's name, 'x'",
    ),
    "no annotations": (
        "x.yaml",
        CEL + "metadata: {name: x}",
        (2, 11),
        "the policy has no annotation trainyard.dev/title; add it",
    ),
    "a severity that is none": (
        "x.yaml",
        CEL + NOTES + ", trainyard.dev/source: s, trainyard.dev/severity: eror}",
        (4, 16),
        "trainyard.dev/severity is 'eror'; did you mean 'error'?",
    ),
    "no YAML": ("x.yaml", "a: b\nc: [1", (2, 4), "a list in [] lacks a comma or its ']'; add it"),
    "a word": ("x.yaml", "rubbish", (1, 1), "a policy's file must contain only one ValidatingAdmissionPolicy"),
    "two objects": (
        "x.yaml",
        "a: b\n---\nc: d\n",
        (3, 1),
        "a policy's file must contain only one ValidatingAdmissionPolicy",
    ),
    "nothing": ("x.yaml", "", (1, 1), "file contains no document; write one or delete the file"),
}


@pytest.mark.parametrize(("name", "text", "place", "message"), BROKEN.values(), ids=BROKEN)
def test_a_broken_policy_is_a_finding_at_its_line(tmp_path, name, text, place, message):
    """A policy that cannot be used is an error where it is wrong; it never passes as one that found nothing."""
    (tmp_path / name).write_text(text)
    (found,) = unusable(tmp_path.glob("*"))
    assert (found.location.file, found.location.line, found.location.column) == (f"policies/{name}", *place)
    assert found.message.startswith(message)
    assert not usable(tmp_path.glob("*"))


FAILS = {
    "a name that is not there": ("yield world.nothing", "x.py:8 stopped with AttributeError: "),
    "no problem": ("yield 'x'", "x.py stopped with AttributeError: "),
    "an end of the program": ("raise SystemExit(3)", "x.py:8 stopped with SystemExit: 3"),
    "no iterator": ("return None", "x.py stopped with TypeError: "),
}
FAILING = '"""T.\n\nWhy: w.\nFix: f.\nSource: s.\n"""\ndef check(world):\n    {}\n'


@pytest.mark.parametrize(("body", "message"), FAILS.values(), ids=FAILS)
def test_a_policy_that_fails_is_an_error_at_its_file(tmp_path, body, message):
    """It has found nothing because it did not look; the sentence names its line, and other policies judge."""
    (tmp_path / "x.py").write_text(FAILING.format(body))
    found, _ = check(world(), [*usable(tmp_path.glob("*")), POLICIES["kq-lq-exists"]])
    assert [(item.rule, item.is_error) for item in found] == [("spec/unforeseen", True), ("kq-lq-exists", True)]
    assert found[0].location.file == "policies/x.py"
    assert found[0].message.startswith(f"policy x cannot check these objects: {message}")


def test_a_policy_that_fails_at_one_object_judges_the_others(tmp_path):
    """The error is at that object, and the policy's findings about others stand beside it."""
    body = (
        "from trainyard.checks import Place, Problem\n    for each in world.manifests:\n"
        "        int(each.name.rpartition('-')[2])\n        yield Problem(Place(each, ()), 'seen')"
    )
    (tmp_path / "x.py").write_text(FAILING.format(body))
    text = "\n---\n".join(JOB.replace("llm-abc", name) for name in ("llm-1", "llm-abc", "llm-2"))
    documents, _ = load(text.encode(), file="job.yaml")
    several = World(tuple(item for one in documents for item in expand([one])[0]))
    found, _ = check(several, usable(tmp_path.glob("*")))
    assert [item.rule for item in found] == ["spec/unforeseen", "x", "x"]
    assert "policy x cannot check this object: x.py:10 stopped with ValueError" in found[0].message


JOB = """
apiVersion: batch/v1
kind: Job
metadata: {name: llm-abc, namespace: nlp, labels: {kueue.x-k8s.io/queue-name: nowhere}}
spec: {template: {spec: {containers: []}}}
"""


def world() -> World:
    """A world with one job whose queue does not exist."""
    documents, _ = load(JOB.encode(), file="job.yaml")
    return World(tuple(expand(documents)[0]))


def test_switched_off_policy_is_listed_as_skipped():
    """What `platform/repository.yaml` switches off is never silent."""
    findings, skipped = check(world(), [POLICIES["kq-lq-exists"]], off={"kq-lq-exists": "we use defaults"})
    assert not findings
    assert [(item.rule, item.why) for item in skipped] == [("kq-lq-exists", "switched off: we use defaults")]
