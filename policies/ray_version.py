"""Head, workers and submitter must run the same release of Ray.

Why: The head rejects nodes with another release of Ray or Python, so the workers never join.
Fix: use one image for all of them, by digest; set rayVersion to its release, or remove rayVersion.
Source: ray-project/ray v2.60.0 python/ray/_private/utils.py check_version_info
"""

import re
from collections.abc import Iterator

from trainyard.checks import Place, Problem, World

RELEASE = re.compile(r"(?:^|/)ray(?:-ml|-llm)?:v?(\d+\.\d+\.\d+)")
"""The release in a tag of Ray's own images; other images have their own numbers."""


def check(world: World) -> Iterator[Problem]:
    """Compare the release of each Ray image with rayVersion, or else with the first image."""
    for job in world.training_jobs():
        if job.manifest.group != "ray.io":
            continue
        first = job.manifest.text("spec", "rayClusterSpec", "rayVersion") or job.manifest.text("spec", "rayVersion")
        for pods in job.pod_sets():
            for path, container in list(pods.containers(init=False))[:1]:
                found = RELEASE.search(str(container.get("image", "")))
                if found and first and found[1] != first:
                    message = f"this image has Ray {found[1]}, but the cluster runs {first}; use one image for all"
                    yield Problem(Place(job.manifest, (*path, "image")), message)
                first = first or (found[1] if found else "")
