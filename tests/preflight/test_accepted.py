from __future__ import annotations

from make import JOB, write_repository
from trainyard.judge import preflight
from trainyard.specs.load import read_repository

LATE = {
    **JOB,
    "maxHours": 1,
    "checkpoint": {"volume": "checkpoints", "size": "5Gi", "everyMinutes": 600},
}


def test_a_job_whose_error_is_waived_is_rendered(tmp_path):
    """A rule that may be waived keeps no job from its run: a synth would look for what was left out."""
    for waive, expected in (({}, []), ({"waive": {"ckp-deadline": "it saves when it is told to end"}}, ["train"])):
        write_repository(tmp_path, jobs={"nlp/train": {**LATE, **waive}})
        loaded = read_repository(tmp_path)
        runs, findings = preflight.check_jobs(loaded)
        assert [run.run.job_name for run in runs] == expected
        assert "ckp-deadline" in {finding.rule for finding in findings}
