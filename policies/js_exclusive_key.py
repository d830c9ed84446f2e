"""The annotation for exclusive placement must contain the key of a node label.

Why: The API server rejects pods whose affinity has an empty or invalid topologyKey. No pod of the job is ever created.
Fix: write the key of a node label, such as cloud.provider.com/rack, or remove the annotation.
Source: kubernetes-sigs/jobset v0.12.0 pkg/webhooks/pod_mutating_webhook.go setExclusiveAffinities; kubernetes v1.35
 pkg/apis/core/validation/validation.go validatePodAffinityTerm; lws v0.9.0 pkg/webhooks/pod_webhook.go
"""

import re
from collections.abc import Iterator

from trainyard.checks import Place, Problem, World

KEYS = (
    "alpha.jobset.sigs.k8s.io/exclusive-topology",
    "leaderworkerset.sigs.k8s.io/exclusive-topology",
    "leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology",
)
LABEL = re.compile(r"([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?", re.ASCII)
PLACES = (("metadata",), ("spec", "replicatedJobs", "*", "template", "metadata"))


def check(world: World) -> Iterator[Problem]:
    """Check the annotations of jobs that request exclusive topology domains."""
    for job in world.training_jobs():
        for place in PLACES:
            for key in KEYS:
                for path, value in job.manifest.at(*place, "annotations", key, of=str):
                    if not LABEL.fullmatch(value):
                        message = f"{key} is {value!r}, which is not a label key; write the key of a node label"
                        yield Problem(Place(job.manifest, path), message)
