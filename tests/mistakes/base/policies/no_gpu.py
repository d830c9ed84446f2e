"""Jobs have names.

Why: a test.
Fix: give it a name.
Source: a test
"""

from collections.abc import Iterator

from trainyard.checks import Problem, World


def check(world: World) -> Iterator[Problem]:
    """Look at the name of every training job."""
    for job in world.training_jobs():
        if not job.manifest.identity.name:
            yield Problem(job.place("metadata", "name"), "it has no name; give it one")
