"""Verdicts count nodes that can come: a job waits for them, and never fits only where no node could hold it."""

from __future__ import annotations

import pytest

from make import CLUSTER, JOB, REPOSITORY, fields, write_repository
from trainyard.judge.admission.verdicts import verdicts
from trainyard.judge.preflight import check_repository

ASKS = {"scaling": {"provisioning": "check-capacity.autoscaling.x-k8s.io"}}
GPU = {"shape": "dgx-h100", "nodes": {"min": 0, "max": 4}}
GPUS = {"research": {"teams": ["nlp"], "nominalQuota": {"gpu": {"gpus": 32}}}}

CASES = {
    "nodes that pods wait for": ({"gpu": GPU}, [1, 3], ["fits", "fits"]),
    "nodes that Kueue asks for": ({"gpu": {**GPU, **ASKS}}, [1, 3], ["fits", "fits"]),
    "more than there can be at once": ({"gpu": GPU}, [2, 3], ["waits for", "fits"]),
    "more than Kueue can ask for at once": ({"gpu": {**GPU, **ASKS}}, [2, 3], ["waits for", "fits"]),
}


@pytest.mark.parametrize(("pools", "nodes", "words"), CASES.values(), ids=CASES)
def test_a_pool_is_judged_at_its_largest(tmp_path, pools, nodes, words):
    """Kueue gives quota for nodes that are not there, and each admitted pod finds a node in the end."""
    cluster = fields(CLUSTER, {"pools": pools, "queues": GPUS})
    jobs = {f"nlp/{name}": fields(JOB, {"nodes": count}) for name, count in zip("ab", nodes, strict=True)}
    root = write_repository(tmp_path, jobs=jobs, clusters={"test": cluster}, repository=REPOSITORY)
    checked = check_repository(root)
    found = sorted(verdicts(checked), key=lambda verdict: verdict.ask.file.name)
    assert sorted(verdict.word for verdict in found) == sorted(words), [verdict.detail for verdict in found]
