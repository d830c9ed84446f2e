"""An image digest must be one that content can have.

Why: No registry has an image of such a digest, so every pod stays in ImagePullBackOff.
Fix: write the digest that the registry shows for the image's tag.
Source: opencontainers/image-spec v1.1.1 descriptor.md, Digests
"""

import re
from collections.abc import Iterator

from trainyard.checks import Place, Problem, World

SAME = re.compile(r"[^@\s]+@sha256:([0-9a-f])\1{63}")
"""A digest of one digit alone, as somebody writes to fill it in later."""

EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
"""SHA-256 of no bytes at all, as a failed command in a pipe prints it; no manifest is empty."""


def check(world: World) -> Iterator[Problem]:
    """Look at the image of every container of whatever trains."""
    for job in world.workloads():
        for path, container in job.containers():
            image = container.get("image")
            if not isinstance(image, str):
                continue
            if same := SAME.fullmatch(image):
                message = f"the image's digest is 64 times {same[1]!r}, which no image has; write the registry's"
                yield Problem(Place(job.manifest, (*path, "image")), message)
            elif image.endswith(f"@sha256:{EMPTY}"):
                message = "the image's digest is that of an empty file, which no image has; write the registry's"
                yield Problem(Place(job.manifest, (*path, "image")), message)
