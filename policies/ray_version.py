"""Head, workers and submitter run one release of Ray.

Why: nodes of another release, or of another Python, are refused by the head, and the workers never join.
Fix: give all of them one image, by its digest, and write its release as rayVersion or leave that out.
Source: ray-project/ray v2.60.0 python/ray/_private/utils.py check_version_info
"""

import re
from collections.abc import Iterator

from trainyard.checks import Place, Problem, World

RELEASE = re.compile(r"(?:^|/)ray(?:-ml|-llm)?:v?(\d+\.\d+\.\d+)")
"""What a tag of Ray's own images says; those of others have numbers of their own."""


def check(world: World) -> Iterator[Problem]:
    """Compare the releases that images of Ray name with the first of them, and with what the object says itself."""
    for job in world.training_jobs():
        if job.manifest.group != "ray.io":
            continue
        first = job.manifest.text("spec", "rayClusterSpec", "rayVersion") or job.manifest.text("spec", "rayVersion")
        for pods in job.pod_sets():
            for path, container in list(pods.containers(init=False))[:1]:
                found = RELEASE.search(str(container.get("image", "")))
                if found and first and found[1] != first:
                    message = f"this image has Ray {found[1]}, but the cluster's is {first}; use one image for all"
                    yield Problem(Place(job.manifest, (*path, "image")), message)
                first = first or (found[1] if found else "")
