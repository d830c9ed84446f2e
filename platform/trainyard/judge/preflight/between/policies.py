"""Whether the policies of a repository can be used."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.findings import Finding
from trainyard.base.system.data import policy_files
from trainyard.judge.policies.policy import unusable
from trainyard.judge.preflight.subjects import BETWEEN
from trainyard.specs.load import Loaded


@BETWEEN.check()
def check(loaded: Loaded) -> Iterator[Finding]:
    """Yield the problems with the files of policies."""
    return unusable(policy_files(loaded.root))
