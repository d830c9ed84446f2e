"""Objects of runs are found by kind and version, and by the fields that another release would drop."""

from __future__ import annotations

from pathlib import Path

from trainyard.change.upgrade.definitions import Definitions
from trainyard.change.upgrade.runs import run_objects
from trainyard.change.upgrade.steps import users_of_lost_fields

TRAINJOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata:
  name: a-12345678
spec:
  podTemplateOverrides:
    - targetJobs:
        - name: node
"""


def test_runs_that_lose_a_field_are_named(tmp_path: Path) -> None:
    """An object with a field that the new release does not know is told; one without it, and other files, are not."""
    folder = tmp_path / "generated/test/runs/nlp"
    for name, text in {"a-12345678": TRAINJOB, "b-12345678": TRAINJOB.replace("podTemplateOverrides", "x")}.items():
        (folder / name).mkdir(parents=True)
        (folder / name / f"trainjob.{name}.yaml").write_text(text, "utf-8")
    (folder / "configmap.trainyard-runs.yaml").write_text("apiVersion: v1\nkind: ConfigMap\n", "utf-8")
    heads = list(run_objects(tmp_path, ["test", "other"]))
    assert [(head.group, head.version, head.kind) for head in heads] == [
        ("trainer.kubeflow.org", "v1alpha1", "TrainJob")
    ] * 2
    lost = Definitions(lost=(("TrainJob", "spec.podTemplateOverrides[].targetJobs"), ("PodGroup", "spec.x")))
    assert list(users_of_lost_fields(tmp_path, lost, heads)) == [
        (
            "end run a-12345678 on test, whose TrainJob has spec.podTemplateOverrides[].targetJobs, which the new "
            "release drops"
        )
    ]
