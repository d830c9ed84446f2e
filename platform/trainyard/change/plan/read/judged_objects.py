"""What the API server and policies would refuse of the tree that a change brings.

To judge all of it takes seconds, so it is remembered which clusters nothing is refused of, each by the contents of its
tree with all that was read for the verdict, and of which runs there, so that a change of runs is judged alone. Waivers
and frozen runs only take errors away: they are asked where there are any.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from trainyard.base.errors import ToolError
from trainyard.base.findings import Finding, Skipped
from trainyard.base.memory import CODE, Memory, World
from trainyard.base.system import ahead, cache, kubeconform, reads
from trainyard.base.system.repository import cluster_file
from trainyard.change.synth.partial import Judged
from trainyard.judge.checks import past
from trainyard.judge.checks.left_out import JudgedSpecs
from trainyard.judge.checks.verdicts import KEPT, Old
from trainyard.render.tree.snapshot import Snapshot


def begin(root: Path, judged: Judged, *, world: World, ref: str | None = None) -> Callable[[], Sequence[Finding]]:
    """Begin to judge the objects of a tree, and return what waits for the errors on them.

    They are over those at the base, to which `ref` leads; by `world` it is known whether what was read before holds.
    """
    memory = Memory(cache.private(KEPT, outside=root), world)
    second = second_engine(root)
    specs, tree, base = judged.reading.specs, judged.tree.snapshot, judged.tree.base
    clusters = sorted(specs.clusters.keys() - judged.without.clusters)
    before = past.replaced_objects(base, tree, clusters) if base.live else None
    olds = {name: () if before is None else before[name] for name in clusters}
    names = {name: judge_cluster(name, tree, olds[name], second=second) for name in clusters}
    asked = [name for name, inputs in names.items() if memory.get(inputs) is None]

    def wrong() -> list[str]:
        from trainyard.judge.checks.checking import Checking  # which takes long to import
        from trainyard.judge.checks.trees import each_tree

        checking = Checking(root, specs, root, before=before, both=True, tree=tree, second=second)
        checking.memory, checking.now = memory, tree
        found = []
        with reads.recording(world) as record:
            reads.ask(CODE, "")
            results = list(each_tree(checking, asked))
        for name, result in zip(asked, results, strict=True):
            if result.errors:
                found.append(name)
            else:
                memory.put(True, record.reads_of(cluster_file(name)), names[name])
        return found

    doubtful = ahead.begin(wrong) if asked else list[str]
    return lambda: weighed(root, left, judged.specs(), ref, second=second) if (left := doubtful()) else []


def weighed(root: Path, clusters: Sequence[str], specs: JudgedSpecs, ref: str | None, *, second: bool) -> list[Finding]:
    """Return the errors on clusters that are left when waivers and what is frozen are counted."""
    from trainyard.judge.checks.repository import judge_repository

    result = judge_repository(root, specs, clusters=clusters, base=ref, second=second)
    return [finding for finding in result.findings if finding.is_error]


def judge_cluster(cluster: str, tree: Snapshot, olds: Sequence[Old], *, second: bool) -> str:
    """Return a name for the objects of a cluster, for those that they replace, and for who is asked about them."""
    listed = (part for item in sorted(tree.of_cluster(cluster).items()) for part in item)
    return cache.key("judged", str(second), *(part for old in olds for part in old), "", *listed)


def skipped(root: Path) -> list[Skipped]:
    """Return the checks that are skipped here: the second schema engine, where it is not installed."""
    why = "kubeconform, the second schema engine, is not installed"
    return [] if second_engine(root) else [Skipped("schema/kubeconform", why)]


def second_engine(root: Path) -> bool:
    """Say whether kubeconform is there; a plan does without it, which `trainyard validate` does not."""
    try:
        kubeconform.find(root)
    except ToolError:
        return False
    return True
