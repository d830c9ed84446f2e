"""The kind that the documentation shows is one module and a row: it is rendered, queued and judged like ours."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
import yaml

import page
import recipes
import trainyard.render.kinds as package
from command import call
from conftest import ROOT
from make import JOB, make_job_file, make_specs, write_repository
from trainyard.change.plan.read.shape import shape
from trainyard.faces.local import work_of
from trainyard.faces.local.lives import life_of
from trainyard.faces.local.lives.base import UntilAll
from trainyard.judge import preflight
from trainyard.judge.checks.verdicts import kinds_of_runs
from trainyard.judge.preflight.job.tenants import of_team
from trainyard.render.kinds import build, kinds
from trainyard.render.launchers import launchers
from trainyard.render.operators import kueue
from trainyard.render.tenancy import objects as tenancy
from trainyard.render.tenancy import workloads as allowances
from trainyard.render.tenancy.check import breaches
from trainyard.render.tenancy.policies import NAMES, policies
from trainyard.upstream import workloads
from trainyard.upstream.kueue.model.gates import Gates
from trainyard.upstream.kueue.requests.jobs import workloads as queued

ROW, MODULE = recipes.code("A kind")
(POINTS,) = recipes.code("A kind", "toml")
DEFINITION = page.files(recipes.PAGE, "A kind")["platform/extra/atlas/platform/gangs.yaml"]
CACHES = (
    kinds,
    kinds_of_runs,
    allowances.specs_of_runs,
    tenancy.queue_condition,
    tenancy.shape,
    workloads.table,
    workloads.carriers,
)
GANGS = "train.example.com"


@pytest.fixture
def kind(tmp_path, monkeypatch):
    """The kind of the page: its module in the folder of kinds, its row in the folder of workloads."""
    (folder := tmp_path / "kinds").mkdir()
    recipes.put(folder, package, "gang.py", MODULE, monkeypatch)
    (rows := tmp_path / "workloads").mkdir()
    recipes.put(rows, workloads, "gang.py", ROW, monkeypatch)
    with recipes.fresh(*CACHES):
        yield kinds()["Gang"]


def test_every_launcher_works_in_it_that_needs_no_more(kind):
    """Launchers and the new kind know nothing of each other."""
    able = []
    for name, launcher in launchers().items():
        start = {} if "program" in launcher.takes else {"program": None, "command": ["./train"]}
        specs = make_specs(make_job_file(kind="Gang", launcher=name, **start))
        run, findings = preflight.jobs.check(specs, specs.jobs[0])
        if launcher.needs <= kind.gives:
            assert not [finding.message for finding in findings if finding.is_error]
            gang, *_files = build(run)
            assert isinstance(gang.fields["spec"], dict)
            (pods,) = kind.carrier.pod_sets(gang.value())
            assert (pods.name, pods.count) == ("main", 2)
            able.append(name)
        else:
            assert {finding.rule for finding in findings} == {"run/pair"}
    assert {"exec", "python", "torchrun"} <= set(able)


def test_it_runs_here(kind):
    """Without a controller, `trainyard run` makes the pods of its row: named as its kind says, each with its rank."""
    specs = make_specs(make_job_file(kind="Gang"))
    run, _ = preflight.jobs.check(specs, specs.jobs[0])
    values = [item.value() for item in build(run)]
    (work,) = work_of(values)
    assert [pod.pod.name for pod in work.pods] == [f"{run.run.name}-0", f"{run.run.name}-1"]
    assert [pod.containers[0].env["GANG_RANK"] for pod in work.pods] == ["0", "1"]
    assert run.wiring.master in work.names
    assert isinstance(life_of(work.value, work.objects, [pod.pod for pod in work.pods]), UntilAll)


def test_every_reader_knows_it(kind):
    """Kueue counts its pods, a plan has words for them, and a team may have it in its queue, with pods of a run."""
    specs = make_specs(make_job_file(kind="Gang", priority=None))
    run, _ = preflight.jobs.check(specs, specs.jobs[0])
    gang, *rest = values = [item.value() for item in build(run)]
    (made,) = queued(gang, rest, Gates(None))
    assert [(pod_set["name"], pod_set["count"]) for pod_set in made["spec"]["podSets"]] == [("main", 2)]
    assert shape(values, {}).words.startswith("Gang of 2 pods")
    assert "gang" in kinds_of_runs()
    allowed = of_team(specs, "test", "nlp")
    assert [breach for value in values for breach in breaches(value, allowed, run=run.run.name)] == []
    unqueued = deepcopy(gang)
    del unqueued["metadata"]["labels"]["kueue.x-k8s.io/queue-name"]
    assert [breach.subject for breach in breaches(unqueued, allowed, run=run.run.name)] == ["queue"]
    privileged = deepcopy(gang)
    privileged["spec"]["template"]["spec"]["hostNetwork"] = True
    assert list(breaches(privileged, allowed, run=run.run.name))


def test_the_policies_of_teams_match_it(kind):
    """The ValidatingAdmissionPolicies of a cluster look at its objects and their queue, and at its pods."""
    found = dict(policies("test", make_specs().clusters["test"]))
    rules = {
        name: [rule["resources"] for rule in spec["matchConstraints"]["resourceRules"] if GANGS in rule["apiGroups"]]
        for name, spec in found.items()
    }
    assert rules[NAMES[0]] == rules[NAMES[1]] == [["gangs"]]
    assert any(f"{GANGS}/Gang" in item["expression"] for item in found[NAMES[0]]["validations"])


def test_kueue_queues_it(kind):
    """Its integration is the controller's own, which Kueue has to be told of."""
    cluster = make_specs().clusters["test"]
    found = kueue.derive_configuration(cluster)["integrations"]
    assert found["externalFrameworks"] == ["Gang.v1.train.example.com"]
    assert "batch/job" in found["frameworks"]
    assert kind.carrier.framework not in found["frameworks"]


def repository(root) -> Any:
    """Write a small repository with a job of the kind, and its definition among its own objects."""
    (root / ".tools").symlink_to(ROOT / ".tools")
    write_repository(root, jobs={"nlp/train": {**JOB, "kind": "Gang"}})
    path = root / "platform/extra/test/platform/gangs.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(DEFINITION, encoding="utf-8")
    return root


@pytest.mark.node
@pytest.mark.go
@pytest.mark.slow
def test_it_is_rendered_and_judged(kind, tmp_path):
    """Its run comes out, Argo CD's project allows it, and a field that its definition lacks is found."""
    root = repository(tmp_path)
    done = call(root, "synth")
    assert done.returncode == 0, done.stderr
    (path,) = root.glob("generated/test/runs/nlp/train-*/gang.*.yaml")
    gang = yaml.safe_load(path.read_text())
    (container,) = gang["spec"]["template"]["spec"]["containers"]
    assert "--node-rank=$(GANG_RANK)" in container["args"]
    project = yaml.safe_load((root / "generated/test/argocd/appproject.test-runs-nlp.yaml").read_text())
    assert {"group": "train.example.com", "kind": "Gang"} in project["spec"]["namespaceResourceWhitelist"]
    done = call(root, "validate")
    assert done.returncode == 0, done.stdout
    path.write_text(path.read_text().replace("  replicas: 2", "  replicas: 0"))
    assert "spec.replicas" in call(root, "validate").stdout


def test_a_package_brings_it_by_entry_points(tmp_path):
    """The module with its row, named as the page says, is what a job's `kind` names."""
    (tmp_path / "own").mkdir()
    root = repository(tmp_path / "own")
    with recipes.installed(tmp_path / "site", {"gang.py": MODULE, "gang_row.py": ROW}, POINTS, *CACHES):
        assert isinstance(workloads.carrier("train.example.com", "Gang"), workloads.Carrier)
        checked = preflight.check_repository(root)
        assert checked.findings == []
        assert [run.kind.name for run in checked.runs] == ["Gang"]
    assert "Gang" not in kinds()
