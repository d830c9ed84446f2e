"""What lies in the folders of runs is what its team's runs may be, whoever wrote it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trainyard.clusters.team import permanent
from trainyard.findings import Finding
from trainyard.manifests import Manifest
from trainyard.preflight.tenants import of_team
from trainyard.specs.sources import Specs
from trainyard.system.repository import GENERATED
from trainyard.tenancy import RULES, Allowance, breaches
from trainyard.tree import layout


def check(specs: Specs, cluster: str, manifests: Iterable[Manifest]) -> Iterator[Finding]:
    """Yield what objects in the folders of a cluster's runs may not be.

    Beside the runs there is one object of ours, which keeps the folder.
    """
    allowed: dict[str, Allowance] = {}
    folder = f"{GENERATED}/{cluster}/{layout.RUNS}"
    for each in manifests:
        team, _, rest = each.file.removeprefix(folder).partition("/")
        if not each.file.startswith(folder):
            continue
        if team not in allowed:
            allowed[team] = of_team(specs, cluster, team)
        run, inside, _ = rest.partition("/")
        if not inside and each.value == permanent(team).value():
            continue
        for breach in breaches(each.value, allowed[team], run=run if inside else ""):
            yield each.finding(RULES[breach.subject], breach.path, breach.message)
