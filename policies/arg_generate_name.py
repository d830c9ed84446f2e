"""What Argo CD applies must have a name.

Why: Argo CD applies objects by name. Without one, the whole sync fails; hooks alone may say generateName.
Fix: write metadata.name.
Source: argoproj/argo-cd v3.2.6 docs/user-guide/sync-waves.md, Generate Name; issues 1639, 9184
"""

from collections.abc import Iterator

from trainyard.checks import HOOKS, Place, Problem, World


def check(world: World) -> Iterator[Problem]:
    """Look for generateName in objects that Argo CD applies, except hooks."""
    for manifest in world.manifests:
        tracked = any(key.startswith("argocd.argoproj.io/") for key in manifest.annotations)
        if not (world.synced or tracked) or any(hook in manifest.annotations for hook in HOOKS):
            continue
        if manifest.get("metadata", "generateName") and not manifest.name:
            message = "Argo CD applies no object with generateName; write name"
            yield Problem(Place(manifest, ("metadata", "generateName")), message)
