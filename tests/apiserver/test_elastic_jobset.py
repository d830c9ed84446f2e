"""With its gate on, JobSet's webhook lets Indexed jobs have more or fewer pods, and nothing else of them change."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest
import yaml

from command import call

POD = {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "a", "image": "b"}]}}}
SPEC: dict[str, Any] = {"completionMode": "Indexed", "parallelism": 2, "completions": 2, **POD}
ON = ("--feature-gates", "ElasticJobSet=true")

CASES: dict[str, tuple[tuple[str, ...], dict[str, Any], bool]] = {
    "more pods": (ON, {"parallelism": 4, "completions": 4}, True),
    "fewer pods": (ON, {"parallelism": 1, "completions": 1}, True),
    "none": (ON, {"parallelism": 0, "completions": 0}, False),
    "fewer than indices": (ON, {"parallelism": 2, "completions": 4}, False),
    "more tries too": (ON, {"parallelism": 4, "completions": 4, "backoffLimit": 3}, False),
    "without the gate": ((), {"parallelism": 4, "completions": 4}, False),
}


@pytest.mark.parametrize(("gates", "change", "taken"), CASES.values(), ids=CASES)
def test_the_size_of_indexed_jobs(tmp_path, gates, change, taken):
    """As the webhook of JobSet 0.12 does."""
    value = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "train", "namespace": "nlp"},
        "spec": {"replicatedJobs": [{"name": "worker", "template": {"spec": SPEC}}]},
    }
    now = deepcopy(value)
    now["spec"]["replicatedJobs"][0]["template"]["spec"] |= change
    for name, entry in {"old": value, "new": now}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.yaml").write_text(yaml.safe_dump(entry))
    done = call(tmp_path, "validate", "new", "--old", "old", "--format", "json", *gates)
    report = json.loads(done.stdout)
    assert [item["verdict"] for item in report["objects"]] == ["valid" if taken else "invalid"], report["findings"]
    assert {finding["rule"] for finding in report["findings"]} == (set() if taken else {"webhook/jobset"})
