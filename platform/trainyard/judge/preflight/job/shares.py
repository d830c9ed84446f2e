"""Whether the number of shares in args is the number of indices of an array."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.findings import Finding, Severity
from trainyard.base.quantities import whole_number
from trainyard.base.rules import Rule
from trainyard.judge.policies.folders import key
from trainyard.judge.preflight.job.options import program_options
from trainyard.judge.preflight.subjects import JOB, OneJob

SHARE = Rule(
    id="run/array-share",
    title="The number of shares in args is the number of indices of the array.",
    why="with more shares than indices a part of the data is left out; with fewer, the last indices find none",
    fix="pass $(ARRAY_SIZE); waive this if a part of the data is enough",
    source="docs/jobs.md",
    layer="run",
    severity=Severity.WARNING,
)

SHARES = frozenset(("of", "num_shards", "n_shards", "shard_count", "total_shards", "num_parts", "num_splits"))
"""Options of programs for the number of shares, such as fairseq's `--num-shards`."""

INDEX = ("$(ARRAY_INDEX)", "$(JOB_COMPLETION_INDEX)")
"""What is the index of a pod, and nothing else."""


@JOB.check()
def check(one: OneJob) -> Iterator[Finding]:
    """Yield a number of shares that is not the array's, beside an option that is given the index."""
    job = one.file.job
    if job.array is None:
        return
    given = program_options(job, one.run.contents if one.run is not None else {})
    shared = any(item.value.rstrip(")") == index.rstrip(")") for item in given for index in INDEX)
    for item in given if shared else ():
        number = whole_number(item.value)
        if key(item.option) in SHARES and number and number != job.array.of:
            lost = "some are left out" if number > job.array.of else "the last indices find none"
            message = f"{item.option} is {number}, but array.of is {job.array.of}, so {lost}; write $(ARRAY_SIZE)"
            yield SHARE.at(one.file.source, item.path, message)
