"""`validate` from the command line: verdicts, reports, updates, frozen runs, and what it never imports."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from conftest import ROOT
from trainyard.faces.cli import main
from trainyard.faces.report.json_ import schema
from trainyard.judge.checks.validate import strangers

JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: x, namespace: nlp}
spec:
  completionMode: Indexed
  completions: 2
  parallelism: 2
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: example.com/a}]
"""


def call(capsys, *arguments):
    """Run the program in this process; exit code and standard output."""
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    return stopped.value.code, capsys.readouterr().out


def verdicts(text, **options):
    """Judge one file as a stranger's."""
    result = strangers([("a.yaml", text.encode())], ROOT / "schemas", kubernetes="1.35", **options)
    return [item.verdict for item in result.objects], [finding.rule for finding in result.findings]


LAYERS = {
    "a right Job": (JOB, ["valid"], []),
    "a file that cannot be decoded": ("kind: [", [], ["decode/syntax"]),
    "a kind that nothing serves": (JOB.replace("kind: Job", "kind: Jobb"), ["unknown"], ["schema/unknown-kind"]),
    "a misspelt field": (JOB.replace("parallelism", "paralelism"), ["invalid"], ["schema/unknown-field"]),
    "a name of the wrong form": (JOB.replace("name: x", "name: X_y"), ["invalid"], ["meta/name"]),
    "a rule of Kubernetes' own": (
        JOB.replace("restartPolicy: Never", "restartPolicy: Always"),
        ["invalid"],
        ["core/job-restart-policy"],
    ),
    "a rule of a CRD": (
        "apiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: {name: q}\nspec: {clusterQueue: A_}\n",
        ["invalid"],
        ["schema/pattern"],
    ),
}


@pytest.mark.parametrize(("text", "expected", "rules"), LAYERS.values(), ids=LAYERS)
def test_each_layer_finds_its_own(text, expected, rules):
    """One mistake is one finding, from the layer of the server that would refuse it."""
    assert verdicts(text) == (expected, rules)


def test_one_bad_file_hides_no_other(tmp_path, capsys):
    """A file that cannot be decoded is a finding of that file, and the others are still judged."""
    (tmp_path / "a.yaml").write_bytes(b"kind: \xff")
    (tmp_path / "b.yaml").write_text(JOB)
    code, out = call(capsys, "validate", str(tmp_path), "--format", "json")
    report = json.loads(out)
    assert code == 1
    assert report["summary"]["valid"] == 1
    assert {finding["file"].rpartition("/")[2] for finding in report["findings"]} == {"a.yaml"}


def test_unknown_kinds_pass_only_where_allowed(tmp_path, capsys):
    """An unknown kind fails, unless it is allowed by GROUP/KIND; the verdict stays unknown."""
    path = tmp_path / "a.yaml"
    path.write_text("apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a}\n")
    assert call(capsys, "validate", str(path))[0] == 1
    code, out = call(capsys, "validate", str(path), "--allow-unknown", "example.com/Widget", "-o", "json")
    assert code == 0
    assert json.loads(out)["summary"] == {
        "objects": 1, "valid": 0, "invalid": 0, "unknown": 1, "errors": 0, "warnings": 1,
        "following": 0,
    }  # fmt: skip


def test_json_report_keeps_its_contract(tmp_path, capsys):
    """The JSON report is as its published schema says, which is the one that the code states."""
    path = tmp_path / "a.yaml"
    path.write_text(JOB.replace("Never", "Sometimes") + "---\n" + JOB.replace("image", "imagee"))
    report = json.loads(call(capsys, "validate", str(path), "-o", "json")[1])
    published = json.loads((ROOT / "schemas" / "trainyard" / "report.json").read_text())
    assert published == schema()
    jsonschema.validate(report, published)
    first = report["findings"][0]
    assert (first["line"], first["column"], first["document"]) == (10, 22, 0)
    assert first["path"] == "spec.template.spec.restartPolicy"


def test_old_objects_bring_the_rules_of_updates(tmp_path, capsys):
    """With `--old`, a change of an immutable field needs a replacement, and another is made in place."""
    old, new = tmp_path / "old.yaml", tmp_path / "new.yaml"
    old.write_text(JOB)
    new.write_text(JOB.replace("example.com/a", "example.com/b"))
    code, out = call(capsys, "validate", str(new), "--old", str(old), "-o", "json")
    assert (code, json.loads(out)["objects"][0]["update"]) == (1, "replace")
    new.write_text(JOB.replace("parallelism: 2", "parallelism: 1"))
    code, out = call(capsys, "validate", str(new), "--old", str(old), "-o", "json")
    assert (code, json.loads(out)["objects"][0]["update"]) == (0, "in place")


POLICY = """\
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: no-latest}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [batch], apiVersions: [v1], resources: [jobs], operations: [CREATE]}]}
  validations: [{expression: "object.spec.template.spec.containers.all(c, c.image.contains(':'))", message: no tag}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: no-latest}
spec: {policyName: no-latest, validationActions: [Deny]}
"""


def test_policies_among_the_inputs_are_applied():
    """A policy with a binding among the files judges the other objects; without the binding it does not."""
    assert verdicts(JOB + POLICY) == (["invalid", "valid", "valid"], ["no-latest"])
    assert verdicts(JOB + POLICY.rpartition("---")[0]) == (["valid", "valid"], [])
    unknown = POLICY.replace(
        "object.spec", "authorizer.group('').resource('pods').check('get').allowed() && object.spec"
    )
    assert verdicts(JOB.replace("example.com/a", "example.com/a:1") + unknown) == (
        ["unknown", "valid", "valid"],
        ["no-latest"],
    )


def test_policies_are_compiled_and_checked_against_schemas():
    """An expression that does not compile refuses its policy; one that names no field of the kind is an error too."""
    broken = POLICY.replace("spec.template.spec.containers.all(c", "spec.template.spec.containers.alll(c")
    found, rules = verdicts(broken)
    assert (found, set(rules)) == (["invalid", "valid"], {"cel/compile"})
    misnamed = POLICY.replace("object.spec.template", "object.spec.tempalte")
    assert verdicts(misnamed) == (["valid", "valid"], ["cel/type"])


USAGE = {
    "a Kubernetes that is no release": (["validate", "FILE", "--kubernetes", "new"], "must be a release, as in 1.35"),
    "an operator that is no release": (["validate", "FILE", "--with", "kueue=new"], "must be PROJECT=RELEASE"),
    "an operator in two releases": (["validate", "FILE", "--with", "kueue=1,kueue=2"], "lists 'kueue' twice, 1 and 2"),
    "two sorts of what was before": (
        ["validate", "FILE", "--old", "FILE", "--against", "HEAD"],
        "--old and --against cannot be combined",
    ),
    "a commit, for files of no repository": (
        ["validate", "FILE", "--against", "HEAD"],
        "in no Git repository; use --old",
    ),
    "files before, for no files": (["validate", "--old", "FILE"], "--old works only with paths"),
    "a release for no files": (["validate", "--kubernetes", "1.35"], "--kubernetes works only with paths"),
    "a cluster for files": (["validate", "FILE", "--cluster", "atlas"], "--cluster works only without paths"),
    "a path that is not there": (["validate", "nowhere.yaml"], "nowhere.yaml does not exist"),
    "a pattern that is none": (["validate", "a**b.yaml"], "pattern 'a**b.yaml' has ** next to other characters"),
    "an address with a question mark": (["validate", "https://x/y.yaml?raw=1"], "raw=1 is an address; fetch it first"),
    "a format that does not exist": (["validate", "-o", "jsn", "FILE"], "did you mean 'json'?"),
    "a release that is no pair": (["validate", "--with", "kueue", "FILE"], "must be PROJECT=RELEASE"),
    "an option that does not exist": (["validate", "--nope"], "no such option: --nope"),
    "a commit that does not exist": (["validate", "--against", "nowhere"], "is not a commit of this repository"),
    "a cluster that does not exist": (["validate", "--cluster", "atlos"], "did you mean 'atlas'?"),
}


@pytest.mark.parametrize(("arguments", "message"), USAGE.values(), ids=USAGE)
def test_wrong_use_is_one_sentence(arguments, message, tmp_path, capsys, monkeypatch):
    """A wrong call ends with 2 and one sentence on standard error."""
    monkeypatch.chdir(ROOT)
    (tmp_path / "a.yaml").write_text(JOB)
    with pytest.raises(SystemExit) as stopped:
        main([str(tmp_path / "a.yaml") if argument == "FILE" else argument for argument in arguments])
    error = capsys.readouterr().err
    assert stopped.value.code == 2
    assert message in error
    assert error.count("\n") == 1


def test_a_folder_is_read_as_far_as_it_can_be(tmp_path, capsys):
    """Links to files are followed, links to folders are not, and what cannot be read hides no other file."""
    (tmp_path / "job.yml").write_text(JOB)
    (tmp_path / "notes.txt").write_text("no manifest")
    (tmp_path / "link.yaml").symlink_to("job.yml")
    (tmp_path / "lock.yaml").symlink_to("nowhere")
    (tmp_path / "round.json").symlink_to("round.json")
    (tmp_path / "again").symlink_to(".")
    code, out = call(capsys, "validate", str(tmp_path), "-o", "json")
    report = json.loads(out)
    assert (code, [Path(item["file"]).name for item in report["objects"]]) == (0, ["job.yml", "link.yaml"])
    assert [(Path(finding["file"]).name, finding["severity"]) for finding in report["findings"]] == [
        ("lock.yaml", "warning"),
        ("round.json", "warning"),
    ]
    assert "too many levels of symbolic links" in report["findings"][1]["message"]


EMPTY = {
    "a folder without a manifest": (None, 0, "has no files ending in .yaml, .yml, .json"),
    "an empty file": ("", 0, "1 file without a Kubernetes object"),
    "an object without kind and name": ("metadata: {name: ''}\n", 1, "in unnamed object, apiVersion"),
    "an object without a name": ("apiVersion: v1\nkind: Pod\nmetadata: {}\n", 1, "in unnamed Pod, metadata.name"),
}


@pytest.mark.parametrize(("text", "code", "words"), EMPTY.values(), ids=EMPTY)
def test_nothing_to_judge_is_said(text, code, words, tmp_path, capsys):
    """What holds no object passes with a warning, for the path may be wrong; what has no name is called unnamed."""
    if text is not None:
        (tmp_path / "a.yaml").write_text(text)
    found, out = call(capsys, "validate", str(tmp_path))
    assert (found, words in out) == (code, True), out


NEAR = {
    "a Kubernetes that is too old": (["--kubernetes", "1.33"], "--kubernetes: warning", "release 1.34 is used"),
    "a Kubernetes to come": (["--kubernetes", "1.40"], "--kubernetes: warning", "release 1.37 is used"),
    "a release of an operator": (["--with", "kueue=0.99"], "--with: error", "known releases: 0.19.2, 0.18.6"),
    "a first number that none has": (["--with", "kueue=1"], "--with: error", "kueue 1 is unknown"),
    "a patch that is not carried": (["--with", "kueue=0.19.1"], "--with: error", "kueue 0.19.1 is unknown"),
    "a candidate of a known release": (
        ["--with", "kueue=0.19.2-rc.1"],
        "--with: error",
        "kueue 0.19.2-rc.1 is unknown",
    ),
    "an operator that does not exist": (["--with", "keueu=0.19.2"], "--with: error", "did you mean 'kueue'?"),
}


@pytest.mark.parametrize(("options", "where", "words"), NEAR.values(), ids=NEAR)
def test_releases_that_are_not_known_are_said(options, where, words, tmp_path, capsys):
    """Of Kubernetes the nearest is taken, with a warning; an operator or a release that is not known is an error."""
    (tmp_path / "a.yaml").write_text(JOB)
    code, out = call(capsys, "validate", str(tmp_path), *options)
    assert code == (1 if "error" in where else 0)
    assert out.startswith(where)
    assert words in out.splitlines()[0]


LINES = {"0": "0.19.2", "0.18": "0.18.6", "v0.19": "0.19.2", "0.19.2": "0.19.2", "v0.19.2.0": "0.19.2"}


@pytest.mark.parametrize(("given", "taken"), LINES.items())
def test_a_line_of_releases_is_its_newest_one(given, taken, tmp_path, capsys):
    """The report names the release that was taken."""
    (tmp_path / "a.yaml").write_text(JOB)
    code, out = call(capsys, "validate", str(tmp_path), "--with", f"kueue={given}")
    assert (code, f"with kueue {taken}" in out) == (0, True), out


def test_what_a_secret_holds_is_not_shown(tmp_path, capsys):
    """A report lies in the logs of CI: it says what is wrong with a Secret, and never its values."""
    held = "data: {a: hunter2!, b: [hunter2], c: 17e7172}, stringData: {d: {x: hunter2}, e: 17e7172}"
    (tmp_path / "a.yaml").write_text("{apiVersion: v1, kind: Secret, metadata: {name: a, namespace: b}, " + held + "}")
    code, said = call(capsys, "validate", str(tmp_path / "a.yaml"))
    assert code == 1
    assert said.count("error:") >= 4
    assert "8 characters are not base64" in said
    assert "hunter2" not in said
    assert "e7172" not in said


def test_policies_are_asked_of_anybodys_file(tmp_path, capsys):
    """What the server takes and what would not work is a warning; what only a whole cluster tells is listed."""
    text = JOB.replace("image: example.com/a}", "image: example.com/a, args: [--out=$(OUT)]}")
    (tmp_path / "a.yaml").write_text(text)
    code, out = call(capsys, "validate", str(tmp_path), "--format", "json")
    report = json.loads(out)
    assert code == 0
    assert report["summary"]["valid"] == 1
    found = [(finding["rule"], finding["layer"], finding["severity"]) for finding in report["findings"]]
    assert found == [("tor-expansion", "policy", "warning")]
    assert call(capsys, "validate", str(tmp_path), "--strict")[0] == 1
    assert {"rule": "kq-lq-exists", "why": "only checked for a whole cluster"} in report["skipped"]
    assert "skipped" not in call(capsys, "validate", str(tmp_path))[1]
