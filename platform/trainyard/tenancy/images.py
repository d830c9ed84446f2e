"""Images of runs, of containers and of volumes: from a registry that the repository lists, and by digest."""

from __future__ import annotations

import re

from trainyard.tenancy.shapes import Both, Condition

DIGEST = "@sha256:[0-9a-f]{64}$"

REGISTRY = Condition(
    lambda value, about: (
        isinstance(value, str)
        and (not about.allowance.lists["registries"] or value.startswith(about.allowance.lists["registries"]))
    ),
    "size(variables.registries) == 0 || variables.registries.exists(r, {x}.startsWith(r))",
    "image {name} is from a registry that is not allowed; push it to one that is",
    subject="image",
)
NAMED = Condition(
    lambda value, _about: isinstance(value, str) and re.search(DIGEST, value) is not None and value == value.strip(),
    f"{{x}}.matches('{DIGEST}')",
    "image {name} is not named by digest; name it as repository@sha256:digest",
    subject="digest",
)
IMAGE = Both(REGISTRY, NAMED)
