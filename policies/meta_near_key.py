"""Labels and annotations must have the names that controllers know.

Why: Kubernetes accepts any key. A job with a mistyped queue label starts at once without quota. A mistyped topology
 annotation has no effect.
Fix: write the key that was meant.
Source: kubernetes-sigs/kueue ff69552e79 pkg/controller/constants; kubernetes-sigs/jobset 08dfbdfd
 api/jobset/v1alpha2/jobset_types.go; kubernetes v1.35 staging/src/k8s.io/api/core/v1/well_known_labels.go
"""

from collections.abc import Iterator

from trainyard.checks import RUN_LABEL, Manifest, Place, Problem, Severity, World, keys_of, meant_key

SEVERITY = Severity.WARNING


def check(world: World) -> Iterator[Problem]:
    """Look at the keys of every object that nobody renders here."""
    for manifest in world.manifests if world.inventory is None else own_jobs(world):
        for path, key in keys_of(manifest):
            if wanted := meant_key(key):
                message = f"no controller knows {key!r}; did you mean {wanted!r}?"
                yield Problem(Place(manifest, path, key=True), message)


def own_jobs(world: World) -> list[Manifest]:
    """Return the jobs on a described cluster that are not rendered."""
    found = dict.fromkeys(job.manifest.outer for job in world.training_jobs())
    return [manifest for manifest in found if RUN_LABEL not in manifest.labels]
