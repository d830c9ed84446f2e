"""The kind that the documentation shows is one module and a row: it is rendered, queued and judged like ours."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

import page
import recipes
import trainyard.render.kinds as package
from command import call
from conftest import ROOT
from make import JOB, make_job_file, make_specs, write_repository
from trainyard.judge import preflight
from trainyard.render.kinds import build, kinds
from trainyard.render.launchers import launchers
from trainyard.render.operators import kueue
from trainyard.upstream import workloads

ROW, MODULE = recipes.code("A kind")
(POINTS,) = recipes.code("A kind", "toml")
DEFINITION = page.files(recipes.PAGE, "A kind")["platform/extra/atlas/platform/gangs.yaml"]
CACHES = (kinds, workloads.table, workloads.carriers)


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
