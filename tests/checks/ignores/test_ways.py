"""Findings on a stranger's manifests: what advises only, and what options, comments, settings and baselines ignore."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from xml.etree import ElementTree as ET

import jsonschema
import pytest
import yaml

from command import call
from conftest import ROOT

JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: %s, namespace: ml}
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: a
        image: registry.example.com/a:1
        resources:
          limits: {nvidia.com/gpu: 8}
"""
"""What a server takes; one GPU policy has an error about it."""

AT = "limits: {nvidia.com/gpu: 8}"
WRONG = (
    "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: a, image: b, imagePullPolice: x}]}\n"
)


def write(folder: Path, **files: str) -> None:
    """Write YAML files, `__` in a name standing for a slash."""
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/')}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def judge(folder, *arguments, command="validate"):
    """Run a command; exit code, findings as `rule severity`, and the whole report."""
    done = call(folder, command, *arguments, "-o", "json")
    assert done.stdout, done.stderr
    report = json.loads(done.stdout)
    return done.returncode, [f"{item['rule']} {item['severity']}" for item in report["findings"]], report


@pytest.mark.parametrize("command", ["validate", "check"])
def test_policies_advise_outside_a_repository(tmp_path, command):
    """What a server takes exits 0 with warnings, or 1 under --strict; what it refuses stays an error."""
    write(tmp_path, job=JOB % "a")
    assert judge(tmp_path, "job.yaml", command=command)[:2] == (0, ["gpu-shm warning"])
    assert judge(tmp_path, "job.yaml", "--strict", command=command)[0] == 1
    write(tmp_path, job=WRONG)
    assert judge(tmp_path, "job.yaml", command=command)[:2] == (1, ["schema/unknown-field error"])


def test_policies_are_errors_inside_a_repository(tmp_path):
    """Below a folder with clusters, what a policy calls an error is one, wherever the command runs."""
    write(tmp_path, repo__deploy__job=JOB % "a", other__job=JOB % "b")
    (tmp_path / "repo" / "platform" / "clusters").mkdir(parents=True)
    assert judge(tmp_path / "repo", "deploy/job.yaml")[:2] == (1, ["gpu-shm error"])
    assert judge(tmp_path / "other", "../repo/deploy/job.yaml")[:2] == (1, ["gpu-shm error"])
    assert judge(tmp_path / "repo", "../other/job.yaml")[:2] == (0, ["gpu-shm warning"])


def test_a_policy_of_ones_own_among_the_files_is_the_servers(tmp_path):
    """A ValidatingAdmissionPolicy with its binding denies outside, too."""
    policy = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: no-jobs}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [batch], apiVersions: [v1], operations: [CREATE], resources: [jobs]}]}
  validations: [{expression: "false", message: no jobs here}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: no-jobs}
spec: {policyName: no-jobs, validationActions: [Deny]}
"""
    write(tmp_path, job=JOB % "a", policy=policy)
    assert judge(tmp_path, ".")[:2] == (1, ["no-jobs error", "gpu-shm warning"])
    assert judge(tmp_path, ".", "--ignore", "no-jobs,gpu-shm")[:2] == (0, [])


IGNORES = {
    "an id": (("--ignore", "gpu-shm"), 0),
    "a group": (("--ignore", "gpu-*"), 0),
    "a list": (("--ignore", "ft-ttl-zero, gpu-shm"), 0),
    "several options": (("--ignore", "ft-*", "--ignore", "gpu-shm"), 0),
    "another rule": (("--ignore", "ft-ttl-zero"), 1),
}


@pytest.mark.parametrize(("options", "code"), IGNORES.values(), ids=IGNORES)
def test_an_option_ignores_rules(tmp_path, options, code):
    """Rules are named by id, by the beginning of several, in lists and repeatedly; what is ignored is listed apart."""
    write(tmp_path, job=JOB % "a")
    found, _, report = judge(tmp_path, "job.yaml", "--strict", *options)
    assert found == code
    assert [(item["rule"], item["way"]) for item in report.get("ignored", [])] == [("gpu-shm", "option")] * (not code)


UNKNOWN = {
    "gpu-shn": "rule 'gpu-shn' does not exist; did you mean 'gpu-shm'?",
    "gpux-*": "no rule begins with 'gpux-'; list the rules by `trainyard rule`",
    "*": "'*' does not name a group of rules; write its beginning, such as gpu-*",
    "gpu-shm,": "--ignore has an empty name; write a rule, as in --ignore gpu-shm",
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_an_option_names_rules_that_exist(tmp_path, name):
    """A misspelt rule stops the command with the nearest one."""
    write(tmp_path, job=JOB % "a")
    done = call(tmp_path, "validate", "job.yaml", "--ignore", name)
    assert (done.returncode, UNKNOWN[name] in done.stderr) == (2, True)


def test_a_comment_ignores_also_what_a_server_refuses(tmp_path):
    """The finding is gone and counted; the verdict on the object stays."""
    write(tmp_path, pod=f"# trainyard: ignore schema/unknown-field: for kubectl --validate=false\n{WRONG}")
    code, found, report = judge(tmp_path, "pod.yaml")
    assert (code, found, report["summary"]["invalid"]) == (0, [], 1)
    [ignored] = report["ignored"]
    assert (ignored["reason"], ignored["where"]) == (
        "for kubectl --validate=false",
        {"file": "pod.yaml", "line": 1, "column": 1},
    )
    assert "1 object (1 invalid): 0 errors, 0 warnings, 1 ignored" in call(tmp_path, "validate", "pod.yaml").stdout


COMMENTS = {
    "on the line": (f"{AT}  # trainyard: ignore gpu-shm: why", []),
    "on another line": ("resources: # trainyard: ignore gpu-shm: why", ["spec/ignore warning", "gpu-shm warning"]),
    "for an unknown rule": (f"{AT}  # trainyard: ignore gpu-shn: why", ["gpu-shm warning", "spec/ignore error"]),
    "for a group": (f"{AT}  # trainyard: ignore gpu-*: why", ["gpu-shm warning", "spec/ignore error"]),
    "for a rule without a finding": (
        f"{AT}  # trainyard: ignore gpu-shm, ft-ttl-zero: why",
        ["spec/ignore warning"],
    ),
    "for a rule that cannot be asked": (f"{AT}  # trainyard: ignore gpu-shm, kq-lq-exists: why", []),
}


@pytest.mark.parametrize(("line", "found"), COMMENTS.values(), ids=COMMENTS)
def test_a_comment_is_used_or_reported(tmp_path, line, found):
    """A comment takes the findings of its line; one without effect is itself a finding."""
    write(tmp_path, job=(JOB % "a").replace(AT if AT in line else "resources:", line))
    assert judge(tmp_path, "job.yaml")[1] == found


def test_an_unused_comment_tells_the_line_that_is_meant(tmp_path):
    """The finding of the rule elsewhere in the file is named."""
    write(tmp_path, job=(JOB % "a").replace("resources:", "resources: # trainyard: ignore gpu-shm: why"))
    [message] = [
        item["message"] for item in judge(tmp_path, "job.yaml")[2]["findings"] if item["rule"] == "spec/ignore"
    ]
    assert message == "rule 'gpu-shm' has no finding for this line; its finding is on line 12; move the comment there"


def test_settings_weigh_rules_by_name_and_path(tmp_path):
    """The longest name counts, the last path that fits before the rest; the nearest file counts alone."""
    settings = {
        "rules": {"gpu-*": "off", "gpu-shm": "error"},
        "paths": {"lib/": {"gpu-shm": "off"}, "lib/x*": {"gpu-*": "error"}},
    }
    write(
        tmp_path,
        a=JOB % "a",
        lib__b=JOB % "b",
        lib__x=JOB % "x",
        deep__c=JOB % "c",
        **{".trainyard": yaml.safe_dump(settings)},
    )
    (tmp_path / "deep" / ".trainyard.yaml").write_text("rules: {ft-ttl-zero: off}\n")
    code, _, report = judge(tmp_path, ".")
    assert [(item["file"], item["severity"]) for item in report["findings"]] == [
        ("a.yaml", "error"),
        ("deep/c.yaml", "warning"),
        ("lib/x.yaml", "error"),
    ]
    assert [(item["file"], item["way"], item["where"]["line"]) for item in report["ignored"]] == [
        ("lib/b.yaml", "settings", 3)
    ]
    assert code == 1
    assert judge(tmp_path / "lib", "b.yaml")[:2] == (0, [])
    assert judge(tmp_path / "lib", "../a.yaml", "../lib/../lib/b.yaml")[1] == ["gpu-shm error"]


def test_settings_are_looked_for_up_to_the_repository(tmp_path):
    """Above the folder with .git nobody's settings count; a link is looked up where it stands."""
    write(tmp_path, repo__sub__a=JOB % "a", **{".trainyard": "rules: {gpu-shm: off}\n"})
    (tmp_path / "repo" / ".git").mkdir()
    (tmp_path / "link.yaml").symlink_to("repo/sub/a.yaml")
    assert judge(tmp_path, "repo/sub/a.yaml")[1] == ["gpu-shm warning"]
    assert judge(tmp_path, "link.yaml")[1] == []


def test_settings_exclude_files(tmp_path):
    """What settings exclude is counted, and neither read nor judged; they are no manifest themselves."""
    write(tmp_path, vendor__a=WRONG, b=JOB % "b", **{".trainyard": "exclude: [vendor/]\n"})
    code, _, report = judge(tmp_path, ".")
    assert (code, report["passed"]) == (0, {"file that .trainyard.yaml names": 1})
    assert [item["name"] for item in report["objects"]] == ["b"]


def test_settings_choose_releases_and_options_count_first(tmp_path):
    """Each folder is judged for its own releases; a wrong one is reported where it is written."""
    jobset = "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: a}\nspec: {replicatedJobs: []}\n"
    write(tmp_path, old__a=jobset, new__a=jobset.replace("name: a", "name: b"))
    (tmp_path / "old" / ".trainyard.yaml").write_text('kubernetes: "1.34"\nreleases: {kueue: 0.19.2}\n')
    _, _, report = judge(tmp_path, ".")
    assert [(item["name"], item["verdict"]) for item in report["objects"]] == [("b", "valid"), ("a", "unknown")]
    assert any("checked for Kubernetes 1.34" in note for note in report["notes"])
    _, _, report = judge(tmp_path, "old", "--with", "jobset=0.12.0")
    assert [item["verdict"] for item in report["objects"]] == ["valid"]
    (tmp_path / "old" / ".trainyard.yaml").write_text("releases:\n  kueuee: 0.19.2\n")
    [finding] = [item for item in judge(tmp_path, "old")[2]["findings"] if item["rule"] == "pairing/unknown-operator"]
    assert (finding["file"], finding["line"]) == ("old/.trainyard.yaml", 2)


def test_files_may_be_the_whole_of_a_cluster(tmp_path):
    """With `whole: true` a queue that no file defines does not exist; without it nobody says so."""
    job = (JOB % "a").replace("namespace: ml", "namespace: ml, labels: {kueue.x-k8s.io/queue-name: prod}")
    write(tmp_path, job=job)
    assert judge(tmp_path, ".")[1] == ["gpu-shm warning"]
    write(tmp_path, **{".trainyard": "whole: true\n"})
    assert judge(tmp_path, ".")[1] == ["kq-lq-exists warning", "gpu-shm warning"]


BROKEN = {
    "a misspelt field": ("rule: {}\n", "spec/unknown-field", 1, "did you mean 'rules'?"),
    "a misspelt rule": ("rules:\n  gpu-shn: off\n", "spec/ignore-settings", 2, "did you mean 'gpu-shm'?"),
    "a misspelt rule of a path": ("paths: {a: {gpux-*: off}}\n", "spec/ignore-settings", 1, "no rule begins with"),
    "no level": ("rules: {gpu-shm: warn}\n", "spec/choice", 1, "did you mean 'warning'?"),
    "everything": ('rules: {"*": off}\n', "spec/form", 1, "must be a rule, or a group such as gpu-*"),
    "a way out": ("exclude: [../x]\n", "spec/path", 1, "remove '..'"),
    "a number": ("kubernetes: 1.35\n", "spec/type", 1, "write it in quotes"),
    "no YAML": ("rules: [a\n", "decode/syntax", 1, "lacks a comma"),
    "several documents": ("rules: {}\n---\nrules: {}\n", "spec/several-documents", 3, "has 2 documents"),
    "nothing": ("", "spec/empty-file", 1, "file is empty"),
}


@pytest.mark.parametrize(("text", "rule", "line", "hint"), BROKEN.values(), ids=BROKEN)
def test_wrong_settings_are_findings_with_a_place(tmp_path, text, rule, line, hint):
    """What is wrong with settings is an error at its line, with the nearest fix; manifests are still judged."""
    write(tmp_path, job=JOB % "a", **{".trainyard": text})
    code, found, report = judge(tmp_path, "job.yaml")
    assert (code, sorted(found)) == (1, sorted([f"{rule} error", "gpu-shm warning"]))
    [finding] = [item for item in report["findings"] if item["rule"] == rule]
    assert (finding["file"], finding["line"]) == (".trainyard.yaml", line)
    assert finding["column"] is not None
    assert hint in finding["message"]


def test_settings_are_a_plain_file(tmp_path):
    """Neither a link, which could show what it leads to, nor a pipe, which never ends, is read."""
    write(tmp_path, job=JOB % "a", secret="token: hunter2\n")
    (tmp_path / ".trainyard.yaml").symlink_to("secret.yaml")
    done = call(tmp_path, "validate", "job.yaml")
    assert (done.returncode, "spec/symbolic-link" in done.stdout, "hunter2" in done.stdout) == (1, True, False)
    (tmp_path / ".trainyard.yaml").unlink()
    os.mkfifo(tmp_path / ".trainyard.yaml")
    assert judge(tmp_path, "job.yaml")[1] == ["spec/not-a-file error", "gpu-shm warning"]


def test_in_a_repository_waivers_are_the_way(tmp_path):
    """In what is generated, neither comments nor settings count, and options ignore only what could be waived."""
    (tmp_path / "platform" / "clusters").mkdir(parents=True)
    noted = (JOB % "a").replace(AT, f"{AT}  # trainyard: ignore gpu-shm: why")
    write(tmp_path, generated__x__job=noted, generated__x__pod=WRONG, deploy__job=noted)
    for folder in (tmp_path, tmp_path / "generated", tmp_path / "generated" / "x"):
        (folder / ".trainyard.yaml").write_text("rules: {gpu-shm: off, schema/*: off}\n")
    wrong = ["gpu-shm error", "schema/unknown-field error"]
    assert judge(tmp_path, "generated/x")[:2] == (1, wrong)
    (tmp_path / "generated" / "x" / "platform" / "clusters").mkdir(parents=True)
    assert judge(tmp_path, "generated/x")[:2] == (1, wrong), "a repository in a generated folder changes nothing"
    assert judge(tmp_path, "generated/x", "--ignore", "gpu-*,schema/*")[:2] == (1, wrong[1:])
    assert judge(tmp_path, "deploy")[:2] == (0, [])


def test_a_baseline_knows_findings_whose_lines_and_files_move(tmp_path):
    """A known finding is ignored wherever its object stands; another message, or one more of them, is new."""
    write(tmp_path, job=JOB % "a")
    assert judge(tmp_path, ".", "--strict", "--write-baseline", "known.yaml")[:2] == (0, [])
    known = (tmp_path / "known.yaml").read_text()
    (tmp_path / "job.yaml").unlink()
    moved = (JOB % "a").replace("      - name: a", "      - {name: b, image: c}\n      - name: a")
    write(tmp_path, sub__moved=f"# more\n\n{moved}")
    code, found, report = judge(tmp_path, ".", "--strict", "--baseline", "known.yaml")
    assert (code, found, [item["where"]["line"] for item in report["ignored"]]) == (0, [], [4])
    write(tmp_path, sub__moved=moved.replace("gpu: 8", "gpu: 4"))
    assert judge(tmp_path, ".", "--baseline", "known.yaml")[1] == ["spec/baseline warning", "gpu-shm warning"]
    write(tmp_path, sub__moved=(JOB % "a") + "---\n" + (JOB % "b"))
    assert judge(tmp_path, ".", "--baseline", "known.yaml")[1] == ["gpu-shm warning"]
    assert known == (tmp_path / "known.yaml").read_text()


def test_a_baseline_is_sorted_and_small(tmp_path):
    """Whatever the order of files, the same findings give the same bytes; equal ones are counted."""
    two = (JOB % "a") + (JOB % "a").partition("containers:\n")[2].replace("name: a", "name: b")
    write(tmp_path, b=JOB % "z", a=two)
    call(tmp_path, "validate", "b.yaml", "a.yaml", "--write-baseline", "known.yaml")
    first = (tmp_path / "known.yaml").read_bytes()
    call(tmp_path, "validate", "a.yaml", "b.yaml", "--write-baseline", "known.yaml")
    assert (tmp_path / "known.yaml").read_bytes() == first
    entries = yaml.safe_load(first)["findings"]
    assert [(item["file"], item["object"], item.get("count", 1)) for item in entries] == [
        ("a.yaml", "batch/Job ml/a", 2),
        ("b.yaml", "batch/Job ml/z", 1),
    ]


def test_an_entry_without_a_finding_is_reported(tmp_path):
    """Once all its files were read, or where its file is gone; a run over some files says nothing of the others."""
    write(tmp_path, a=JOB % "a", b=JOB % "b")
    call(tmp_path, "validate", ".", "--write-baseline", "known.yaml")
    write(tmp_path, b=(JOB % "b").replace("gpu: 8", "gpu: 1"))
    assert judge(tmp_path, "a.yaml", "--baseline", "known.yaml")[1] == []
    code, found, report = judge(tmp_path, ".", "--baseline", "known.yaml")
    assert (code, found) == (0, ["spec/baseline warning"])
    assert report["findings"][0]["message"].startswith("batch/Job ml/b has no finding of 'gpu-shm'")
    assert (report["findings"][0]["file"], report["findings"][0]["line"]) == ("known.yaml", 9)
    (tmp_path / "b.yaml").unlink()
    assert judge(tmp_path, "a.yaml", "--baseline", "known.yaml")[1] == ["spec/baseline warning"]


def test_what_is_no_baseline_is_neither_read_nor_replaced(tmp_path):
    """A manifest under the name of a baseline stays as it is, and two options do not go together."""
    write(tmp_path, job=JOB % "a", broken="a: [")
    for option in ("--baseline", "--write-baseline"):
        done = call(tmp_path, "validate", "job.yaml", option, "job.yaml")
        assert (done.returncode, "no baseline" in done.stderr) == (2, True)
    assert call(tmp_path, "validate", "job.yaml", "--write-baseline", "broken.yaml").returncode == 2
    assert (tmp_path / "broken.yaml").read_text() == "a: ["
    both = call(tmp_path, "validate", "job.yaml", "--baseline", "x", "--write-baseline", "x")
    assert (both.returncode, "cannot be combined" in both.stderr) == (2, True)
    for text in ("version: 1\nfindings: [3]\n", "version: 1\nfindings: [{rule: a, file: 3, message: b}]\n"):
        write(tmp_path, known=text)
        assert judge(tmp_path, "job.yaml", "--baseline", "known.yaml")[1] == ["gpu-shm warning", "spec/baseline error"]


def test_every_report_carries_what_is_ignored(tmp_path):
    """SARIF suppresses it, JUnit skips it, JSON lists it in its schema, texts count it; none fails for it."""
    write(tmp_path, job=(JOB % "a").replace(AT, f"{AT}  # trainyard: ignore gpu-shm: mounted by a webhook"))
    log = json.loads(call(tmp_path, "validate", "job.yaml", "-o", "sarif").stdout)
    [result] = log["runs"][0]["results"]
    [suppression] = result["suppressions"]
    assert (suppression["kind"], suppression["status"]) == ("inSource", "accepted")
    assert suppression["justification"] == "mounted by a webhook"
    jsonschema.validate(log, json.loads((ROOT / "tests" / "report" / "sarif.json").read_text()))
    quiet = json.loads(call(tmp_path, "validate", "job.yaml", "-q", "-o", "sarif").stdout)
    assert quiet["runs"][0]["results"] == []
    report = json.loads(call(tmp_path, "validate", "job.yaml", "-o", "json").stdout)
    jsonschema.validate(report, json.loads((ROOT / "schemas" / "trainyard" / "report.json").read_text()))
    suites = ET.fromstring(call(tmp_path, "validate", "job.yaml", "--strict", "-o", "junit").stdout)
    assert (suites.get("failures"), suites[0].get("skipped")) == ("0", "1")
    github = call(tmp_path, "validate", "job.yaml", "-o", "github").stdout
    assert (github.count("::"), "1 ignored" in github) == (2, True)
    assert "0 warnings, 1 ignored" in call(tmp_path, "validate", "job.yaml", "-o", "markdown").stdout
    verbose = call(tmp_path, "validate", "job.yaml", "-v").stdout
    assert "[gpu-shm] by comment job.yaml:12:40: mounted by a webhook" in verbose


def test_what_could_not_be_asked_is_said_only_on_request(tmp_path):
    """Texts name no policy that lacks an inventory or a whole cluster, unless with -v; JSON does."""
    write(tmp_path, job=JOB % "a")
    assert "skipped" not in call(tmp_path, "validate", "job.yaml").stdout
    assert (
        "skipped kq-cq-active, kq-cq-exists, kq-lq-exists: only checked"
        in call(tmp_path, "validate", "job.yaml", "-v").stdout
    )
    assert {"gpu-pod-per-gpu", "kq-lq-exists"} <= {item["rule"] for item in judge(tmp_path, "job.yaml")[2]["skipped"]}


def test_settings_have_one_name(tmp_path):
    """A file with the other ending, which would count for nothing, is an error."""
    write(tmp_path, job=JOB % "a")
    (tmp_path / ".trainyard.yml").write_text("rules: {gpu-shm: off}\n")
    assert judge(tmp_path, ".")[1] == ["spec/file-ending error", "gpu-shm warning"]


def test_standard_input_has_comments_and_the_settings_of_the_current_folder(tmp_path, monkeypatch):
    """What is piped in is ignored in the same ways, and known in a baseline."""
    write(tmp_path, **{".trainyard": "rules: {gpu-shm: error}\n"})

    def piped(text, *options):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        return judge(tmp_path, "-", *options)[:2]

    assert piped(JOB % "a") == (1, ["gpu-shm error"])
    assert piped((JOB % "a").replace(AT, f"{AT}  # trainyard: ignore gpu-shm: why")) == (0, [])
    assert piped(JOB % "a", "--write-baseline", "known.yaml") == (0, [])
    assert piped(JOB % "a", "--baseline", "known.yaml") == (0, [])


def test_an_anchor_is_ignored_where_it_is_written(tmp_path):
    """A finding on an alias stands at the anchor, and so does its comment, for every use of it."""
    second = "      - {name: b, image: registry.example.com/a:1, resources: *first}\n"
    text = (JOB % "a").replace("resources:", "resources: &first") + second
    write(tmp_path, job=text)
    places = {item["line"] for item in judge(tmp_path, "job.yaml")[2]["findings"]}
    assert places == {12}
    write(tmp_path, job=text.replace(AT, f"{AT}  # trainyard: ignore gpu-shm: why"))
    assert judge(tmp_path, "job.yaml")[:2] == (0, [])


def test_json_and_several_documents(tmp_path):
    """A comment of one document says nothing of the next; a text in JSON is no comment."""
    noted = f"# trainyard: ignore gpu-shm: why\n{JOB % 'a'}---\n{JOB % 'b'}"
    write(tmp_path, job=noted)
    assert [item["object"]["name"] for item in judge(tmp_path, "job.yaml")[2]["findings"]] == ["b"]
    write(tmp_path, job=f"# why\n# trainyard: ignore gpu-shm: why\n---\n{noted.partition(chr(10))[2]}")
    assert judge(tmp_path, "job.yaml")[:2] == (0, [])
    value = yaml.safe_load(JOB % "a")
    value["metadata"]["annotations"] = {"a": "x\n# trainyard: ignore gpu-shm: why"}
    (tmp_path / "job.yaml").write_text(json.dumps(value))
    assert judge(tmp_path, "job.yaml")[1] == ["gpu-shm warning"]


QUEUES = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: prod, namespace: ml}
spec: {clusterQueue: gpus}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: gpus}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [%s]
    flavors: [{name: a, resources: [{name: %s, nominalQuota: 8}]}]
"""


def test_a_queue_that_files_describe_in_two_ways_says_nothing(tmp_path):
    """A folder of samples has many queues of one name: no policy guesses which of them a cluster has."""
    job = (JOB % "a").replace("namespace: ml", "namespace: ml, labels: {kueue.x-k8s.io/queue-name: prod}")
    write(tmp_path, job=job, queues=QUEUES % ("cpu", "cpu"), **{".trainyard": "rules: {gpu-shm: off}\n"})
    assert judge(tmp_path, ".")[1] == ["kq-uncovered warning"]
    write(tmp_path, other__queues=QUEUES % ("nvidia.com/gpu", "nvidia.com/gpu"))
    assert judge(tmp_path, ".")[1] == []
    assert judge(tmp_path, "job.yaml", "other")[1] == []
    write(tmp_path, other__queues=QUEUES % ("cpu", "cpu"))
    assert judge(tmp_path, ".")[1] == ["kq-uncovered warning"]
