"""An exclusive placement says by which label of nodes.

Why: the API server refuses pods whose affinity has no topologyKey, or one that is no label key: none is ever made.
Fix: write the key of the nodes' label, such as cloud.provider.com/rack, or remove the annotation.
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
    """Look at the annotations of gangs that ask for a part of the cluster each."""
    for job in world.training_jobs():
        for place in PLACES:
            for key in KEYS:
                for path, value in job.manifest.at(*place, "annotations", key, of=str):
                    if not LABEL.fullmatch(value):
                        message = f"{key} is {value!r}, but should be the key of a label of nodes"
                        yield Problem(Place(job.manifest, path), message)
