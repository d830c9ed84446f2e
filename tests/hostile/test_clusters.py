"""Clusters that nobody has are refused in a sentence, before anything is asked of each node, queue or cohort."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from command import call as trainyard
from make import CLUSTER, JOB, make_cluster, write_repository
from trainyard.base.limits import CLUSTER_NODES, COHORT_LEVELS, OTHER_PLACES
from trainyard.judge.admission.trials import Try
from trainyard.upstream.kueue.replay import replay

GPU = {**CLUSTER["pools"]["gpu"], "racks": 1}


def chain(length: int) -> dict[str, dict[str, Any]]:
    """Return cohorts one above another."""
    return {f"c{number}": {"parent": f"c{number + 1}"} for number in range(length - 1)} | {f"c{length - 1}": {}}


def test_nodes_of_all_pools_count() -> None:
    """As many nodes as a cluster can have are taken, in one pool or several, and one more is not."""
    half = {"one": {**GPU, "nodes": CLUSTER_NODES // 2}, "two": {**GPU, "nodes": CLUSTER_NODES // 2}}
    assert make_cluster(pools=half)
    with pytest.raises(ValidationError, match="have 100001 nodes together; use at most 100000"):
        make_cluster(pools={**half, "more": {**GPU, "nodes": 1}})


def test_cohorts_go_so_deep() -> None:
    """Cohorts in a chain are taken to a length; a circle is told in words of its own."""
    assert make_cluster(cohorts=chain(COHORT_LEVELS))
    assert make_cluster(cohorts={"a": {"parent": "b"}, "b": {"parent": "a"}})
    with pytest.raises(ValidationError, match="have 'c0' below 100 other cohorts; use at most 100 levels"):
        make_cluster(cohorts=chain(COHORT_LEVELS + 1))


@pytest.mark.parametrize(("length", "refused"), [(COHORT_LEVELS, False), (COHORT_LEVELS + 1, True), (5000, True)])
def test_cohorts_of_a_case_go_so_deep(length: int, refused: bool) -> None:
    """A case with deeper cohorts has an error for an answer."""
    cohorts = [
        {
            "apiVersion": "kueue.x-k8s.io/v1beta2",
            "kind": "Cohort",
            "metadata": {"name": name},
            "spec": {"parentName": value["parent"]} if value else {},
        }
        for name, value in chain(length).items()
    ]
    answer = replay({"name": "deep", "objects": cohorts})
    assert ("Trainyard simulates fewer levels" in answer.get("error", "")) == refused


def test_a_job_is_tried_in_a_few_other_queues(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A job that fits in no queue of its team is not tried in each of them."""
    tried: list[object] = []
    before = Try.fits

    def noted(self: Try, change: Any) -> bool:
        tried.append(change.of(self.job).queue)
        return before(self, change)

    monkeypatch.setattr(Try, "fits", noted)
    queues = {f"q{number}": {"teams": ["nlp"], "nominalQuota": {"gpu": {"gpus": 1}}} for number in range(40)}
    root = write_repository(
        tmp_path, jobs={"nlp/train": {**JOB, "queue": "q0"}}, clusters={"test": {**CLUSTER, "queues": queues}}
    )
    done = trainyard(root, "admit")
    assert done.returncode == 1
    assert "never fits" in done.stdout
    assert len({item for item in tried if item != "q0"}) == OTHER_PLACES
