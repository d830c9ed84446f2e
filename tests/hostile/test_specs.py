"""Jobs whose own parts of pods no machine and no object has are told so, and end no command."""

from __future__ import annotations

from typing import Any

import pytest

from make import make_job_file, make_specs
from trainyard.judge.preflight import jobs

PATCHES: dict[str, dict[str, Any]] = {
    "a list for the pod": {"spec": ["x"]},
    "nothing for the metadata": {"metadata": None},
    "a text for the containers": {"spec": {"containers": "x"}},
    "no containers": {"spec": {"containers": None}},
    "texts for volumes": {"spec": {"volumes": ["x"]}},
    "a number for labels": {"metadata": {"labels": 5}},
}


@pytest.mark.parametrize("merge", PATCHES.values(), ids=PATCHES)
def test_a_patch_leaves_objects_their_shape(merge: dict[str, Any]) -> None:
    """What every object has as a map or a list stays one, whichever kind carries the job."""
    file = make_job_file(patches=[{"object": "Pod", "merge": merge, "reason": "a test"}])
    resolved, findings = jobs.check(make_specs(file), file)
    assert resolved is None
    assert any(finding.is_error and finding.message.startswith("patch sets ") for finding in findings)


def test_amounts_that_no_machine_has_are_not_summed() -> None:
    """A billion zeros in a container of one's own would take memory for each of them."""
    resources = {"limits": {"memory": "1e1000000000"}, "requests": {"memory": "1e1000000000"}}
    container = {"name": "x", "image": "registry.example.com/x@sha256:" + "0" * 64, "resources": resources}
    file = make_job_file(containers=[container])
    jobs.check(make_specs(file), file)
