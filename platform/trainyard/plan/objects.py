"""What the API server and policies would refuse of the tree that a change brings.

To judge all of it takes seconds, so it is remembered which clusters nothing is refused of, each under the contents of
its tree and of everything else that the verdict follows from. Waivers and frozen runs only take errors away: they are
asked where there are any.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from trainyard.checks import past
from trainyard.checks.repository import Checking, each_tree, validate_repository
from trainyard.errors import ToolError
from trainyard.findings import Finding, Skipped
from trainyard.specs.sources import Specs
from trainyard.system import cache, files, kubeconform
from trainyard.system.repository import SETTINGS, cluster_file
from trainyard.tree.snapshot import Snapshot

KEPT = "judged"
"""Sort of the entries that name a tree without errors."""


def refused(
    root: Path, specs: Specs, tree: Snapshot, base: Snapshot, *, code: str, ref: str | None = None
) -> list[Finding]:
    """Return the errors on the objects of a tree, over those at the base, to which `ref` leads.

    `code` is a key of the code that judges.
    """
    store = cache.private(KEPT, outside=root)
    second = second_engine(root)
    before = past.replaced(base, tree, specs.clusters) if base.live else None
    names = {
        name: key(root, name, tree, (before or {}).get(name, ()), code, second=second)
        for name in sorted(specs.clusters)
    }
    asked = [name for name, each in names.items() if store is None or store.get(each) is None]
    wrong = []
    checking = Checking(root, specs, root, before=before, both=True, tree=tree, second=second)
    for name, result in zip(asked, each_tree(checking, asked) if asked else (), strict=True):
        if result.errors:
            wrong.append(name)
        elif store is not None:
            store.put(names[name], b"")
    return weighed(root, wrong, tree, ref, second=second) if wrong else []


def weighed(root: Path, clusters: Sequence[str], tree: Snapshot, ref: str | None, *, second: bool) -> list[Finding]:
    """Return the errors on clusters that are left when waivers and what is frozen are counted."""
    result = validate_repository(root, clusters=clusters, base=ref, tree=tree, second=second)
    return [each for each in result.findings if each.is_error]


def key(
    root: Path, cluster: str, tree: Snapshot, before: Iterable[tuple[str, bytes]], code: str, *, second: bool
) -> str:
    """Return a name for everything that the verdict on a cluster's objects follows from."""
    olds = (part for each in before for part in each)
    listed = (part for item in sorted(tree.of_cluster(cluster).items()) for part in item)
    specs = (files.read(root / path) or b"" for path in (cluster_file(cluster), SETTINGS))
    return cache.key("judged", code, str(second), *specs, *olds, "", *listed)


def skipped(root: Path) -> list[Skipped]:
    """Return what objects are not put to here: the second engine, where it is not installed."""
    why = "kubeconform, the second schema engine, is not installed"
    return [] if second_engine(root) else [Skipped("schema/kubeconform", why)]


def second_engine(root: Path) -> bool:
    """Say whether kubeconform is there; a plan does without it, which `trainyard validate` does not."""
    try:
        kubeconform.find(root)
    except ToolError:
        return False
    return True
