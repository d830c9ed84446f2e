"""What lies in the folders of runs is what its team's runs may be, whoever wrote it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trainyard.base.findings import Finding
from trainyard.base.manifests import Manifest
from trainyard.base.system.repository import GENERATED
from trainyard.judge.preflight.job.tenants import of_team
from trainyard.render.clusters.team import permanent
from trainyard.render.tenancy import RULES, Allowance, breaches
from trainyard.render.tree import layout
from trainyard.specs.sources import Specs


def check(specs: Specs, cluster: str, manifests: Iterable[Manifest]) -> Iterator[Finding]:
    """Yield the findings on objects in the folders of a cluster's runs that a team's run may not contain.

    Beside the runs there is one object of ours, which keeps the folder.
    """
    allowed: dict[str, Allowance] = {}
    folder = f"{GENERATED}/{cluster}/{layout.RUNS}"
    for manifest in manifests:
        team, _, rest = manifest.file.removeprefix(folder).partition("/")
        if not manifest.file.startswith(folder):
            continue
        if team not in allowed:
            allowed[team] = of_team(specs, cluster, team)
        run, inside, _ = rest.partition("/")
        if not inside and manifest.value == permanent(specs.clusters[cluster], team).value():
            continue
        for breach in breaches(manifest.value, allowed[team], run=run if inside else ""):
            yield manifest.finding(RULES[breach.subject], breach.path, breach.message)
