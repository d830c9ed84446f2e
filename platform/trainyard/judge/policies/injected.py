"""Variables that controllers set in the pods of each kind: arguments may refer to them."""

from __future__ import annotations

from trainyard.judge.policies.world import TrainingJob


def injected(job: TrainingJob, name: str) -> bool:
    """Say whether a controller may set a variable in the pods of an object; an unknown controller may set any."""
    known = job.carrier.variables
    if known is not None and name in known.bound and job.manifest.get(*known.bound_to) is None:
        return False
    return known is None or known.may_be(name)
