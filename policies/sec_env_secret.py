"""Secrets are not written into manifests.

Why: whoever reads the repository, its history or the object has the key; and a key that changes is changed by a commit.
Fix: put the value into a Secret, and take it from there by valueFrom.secretKeyRef, or by envFrom.
Source: kubernetes/website v1.35 content/en/docs/concepts/security/secrets-good-practices.md
"""

import re
from collections.abc import Iterator

from trainyard.checks import Problem, World

NAME = re.compile(r"(?:^|_)(?:API_?KEY|ACCESS_KEY|SECRET(?:_ACCESS)?(?:_KEY)?|TOKEN|PASSWORD|CREDENTIALS)$", re.I)
LEAST = 8
"""Characters of a value that may be a key: shorter ones are switches and names."""


def check(world: World) -> Iterator[Problem]:
    """Look at variables by whose names programs are told keys; a reference or a path to one is none."""
    for job in world.workloads():
        for variable in job.variables():
            value = variable.value or ""
            if NAME.search(variable.name) and len(value) >= LEAST and not re.search(r"\$\(|^[/<{]|\s", value):
                yield Problem(variable.place, f"{variable.name} has its value in the manifest; take it from a Secret")
