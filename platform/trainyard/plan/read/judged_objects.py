"""What the API server and policies would refuse of the tree that a change brings.

To judge all of it takes seconds, so it is remembered which clusters nothing is refused of, each under the contents of
its tree and of everything else that the verdict follows from, and of which runs there, so that a change of runs is
judged alone. Waivers and frozen runs only take errors away: they are
asked where there are any.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from trainyard.checks import past
from trainyard.errors import ToolError
from trainyard.findings import Finding, Skipped
from trainyard.plan.read import passed_runs as passed
from trainyard.specs.sources import Specs
from trainyard.system import ahead, cache, files, kubeconform
from trainyard.system.repository import SETTINGS, TEAMS, cluster_file
from trainyard.tree.snapshot import Snapshot

KEPT = "judged"
"""Sort of the entries that name a tree without errors."""


def begin(
    root: Path, specs: Specs, tree: Snapshot, base: Snapshot, *, code: str, ref: str | None = None
) -> Callable[[], Sequence[Finding]]:
    """Begin to judge the objects of a tree, and return what waits for the errors on them.

    They are over those at the base, to which `ref` leads; `code` is a key of the code that judges.
    """
    store = cache.private(KEPT, outside=root)
    second = second_engine(root)
    before = past.replaced(base, tree, specs.clusters) if base.live else None
    common = [code, str(second), *shared(root)]
    said = {name: [*common, files.read(root / cluster_file(name)) or b""] for name in specs.clusters}
    olds = {name: () if before is None else before[name] for name in specs.clusters}
    names = {name: whole(name, tree, olds[name], said[name]) for name in sorted(specs.clusters)}
    asked = [name for name, each in names.items() if store is None or store.get(each) is None]

    def judged() -> list[str]:
        from trainyard.checks.repository import Checking, each_tree  # which takes long to import

        wrong = []
        parts = {name: passed.parts(name, tree, olds[name], said[name]) for name in asked}
        known = {name: found for name in asked if (found := parts[name].passed(store)) is not None}
        checking = Checking(root, specs, root, before=before, both=True, tree=tree, second=second, passed=known)
        for name, result in zip(asked, each_tree(checking, asked), strict=True):
            if result.errors:
                wrong.append(name)
            elif store is not None:
                store.put(names[name], b"")
                parts[name].keep(store)
        return wrong

    doubtful = ahead.begin(judged) if asked else list[str]
    return lambda: weighed(root, wrong, tree, ref, second=second) if (wrong := doubtful()) else []


def weighed(root: Path, clusters: Sequence[str], tree: Snapshot, ref: str | None, *, second: bool) -> list[Finding]:
    """Return the errors on clusters that are left when waivers and what is frozen are counted."""
    from trainyard.checks.repository import validate_repository

    result = validate_repository(root, clusters=clusters, base=ref, tree=tree, second=second)
    return [each for each in result.findings if each.is_error]


def shared(root: Path) -> list[str | bytes]:
    """Return the specs from which the verdicts on all clusters follow: of teams, and of the repository."""
    teams = (f"{TEAMS}/{each.path}" for each in files.walk(root / TEAMS) if each.regular)
    return [part for path in (SETTINGS, *sorted(teams)) for part in (path, files.read(root / path) or b"")]


def whole(cluster: str, tree: Snapshot, olds: Sequence[passed.Old], said: Iterable[str | bytes]) -> str:
    """Return a name for everything that the verdict on a cluster's objects follows from."""
    listed = (part for item in sorted(tree.of_cluster(cluster).items()) for part in item)
    return cache.key("judged", *said, "", *(part for old in olds for part in old), "", *listed)


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
