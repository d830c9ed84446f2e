"""Claims of a JobSet into which its program saves outlive the JobSet.

Why: By default the claims are deleted with their JobSet. Argo CD deletes it when its file goes, and people
 delete it to start it again; the checkpoints go with it.
Fix: set retentionPolicy: {whenDeleted: Retain}, or mount a claim of its own.
Source: jobset v0.12.0 api/jobset/v1alpha2/jobset_types.go VolumeClaimPolicy, RetentionPolicyType
"""

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.checks import Place, Problem, Severity, World, arguments, held_by, maps_in, mounts, unheld

SEVERITY = Severity.WARNING


def check(world: World) -> Iterator[Problem]:
    """Look at the folders that options of usual trainers name."""
    for job in world.training_jobs():
        fleeting = {name: path for path, policy in policies(job.manifest) for name in names(policy)}
        for pods in job.pod_sets() if fleeting else ():
            containers = dict(pods.containers(init=False))
            for path, options in arguments(pods):
                mounted = mounts(containers.get(path, {}))
                for _, option, folder in unheld(options, ()):
                    name = held_by(folder, mounted)
                    if name in fleeting:
                        message = f"{option} saves into claim {name!r}, which is deleted with the JobSet; set Retain"
                        yield Problem(Place(job.manifest, fleeting.pop(name)), message)


def policies(manifest: Any) -> Iterator[tuple[Any, Mapping[str, Any]]]:
    """Yield the policies of claims that are deleted with their JobSet."""
    if manifest.kind == "JobSet":
        for path, policy in manifest.at("spec", "volumeClaimPolicies", "*", of=dict):
            kept = policy.get("retentionPolicy")
            if not isinstance(kept, dict) or kept.get("whenDeleted") != "Retain":
                yield path, policy


def names(policy: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of a policy's templates, which are those of the volumes."""
    for template in maps_in(policy.get("templates")):
        metadata = template.get("metadata")
        if isinstance(metadata, dict) and isinstance(metadata.get("name"), str):
            yield metadata["name"]
