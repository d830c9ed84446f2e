"""A kill ends a pod's processes and leaves the pod: what restarts containers in their place does so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from trainyard.faces.local import work_of
from trainyard.faces.local.session import Session

COUNTS = "i=0; while [ $i -lt 12 ]; do i=$((i+1)); echo step=$i; sleep 0.05; done"


def replica(script: str) -> dict[str, Any]:
    """Return a replica type of one pod that runs a script, and is restarted in its place."""
    container = {"name": "xgboost", "image": "none", "command": ["sh", "-c", script]}
    return {"replicas": 1, "restartPolicy": "OnFailure", "template": {"spec": {"containers": [container]}}}


def killed(who: str, folder: Path) -> tuple[bool, list[str]]:
    """Kill a pod of an XGBoostJob at the fifth step; return whether the job went well, and what was said of it."""
    spec = {"xgbReplicaSpecs": {"Master": replica(COUNTS), "Worker": replica("exec sleep 60")}}
    metadata = {"name": "it", "namespace": "nlp"}
    (work,) = work_of([{"apiVersion": "kubeflow.org/v1", "kind": "XGBoostJob", "metadata": metadata, "spec": spec}])
    said: list[str] = []
    session = Session(
        work,
        lambda pod, text: said.append(text) if pod is None or text.startswith("container") else None,
        state=folder / "state",
        workdir=folder,
        paths={},
        plain=True,
        grace=1,
        kill=[f"{who}@5"],
    )
    return session.run(), said


def test_a_killed_pod_goes_on_in_its_place_though_a_drain_would_end_the_job(tmp_path):
    """The Master of an XGBoostJob is killed, starts again in its pod and ends well; that a drain differs is said."""
    well, said = killed("master-0", tmp_path)
    assert well, said
    assert "its pod stays; a pod that is deleted, as by a drain, would fail the XGBoostJob" in said
    assert "container xgboost exited with code 137 and restarts in its pod" in said
