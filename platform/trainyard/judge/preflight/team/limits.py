"""Whether the volumes of a team fit into the limits of its namespace."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from trainyard.base.findings import Finding
from trainyard.base.quantities import Quantity
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import TEAM, OneTeam
from trainyard.render.clusters.team import volumes
from trainyard.render.sizing.kubelet import amount

ROOM = Rule(
    id="spec/team-limits",
    title="The volumes of a team fit into the limits of its namespace.",
    why="the API server refuses claims beyond a ResourceQuota, so some volumes would never exist",
    fix="raise the limit, or remove volumes",
    source="kubernetes v1.35 pkg/quota/v1/evaluator/core/persistent_volume_claims.go",
)


@TEAM.check()
def check(one: OneTeam) -> Iterator[Finding]:
    """Yield limits of claims that are less than what the team's volumes take on some cluster."""
    limits = one.team.limits
    if limits is None:
        return
    said: set[str] = set()
    for name, cluster in one.specs.clusters.items():
        if one.name not in cluster.teams():
            continue
        claims = list(volumes(name, cluster, one.name, one.team))
        sizes = (str(claim.fields["spec"]["resources"]["requests"]["storage"]) for claim in claims)
        size = sum((Quantity.parse(text).amount for text in sizes), Decimal(0))
        where = f"the team's volumes on cluster {name!r}"
        if limits.claims is not None and len(claims) > limits.claims and "claims" not in said:
            said.add("claims")
            message = f"claims is {limits.claims}, but {where} are {len(claims)}; raise it"
            yield ROOM.at(one.source, ("limits", "claims"), message)
        if limits.storage is not None and size > Quantity.parse(limits.storage).amount and "storage" not in said:
            said.add("storage")
            message = f"storage is {limits.storage}, but {where} have {amount(int(size))}; raise it"
            yield ROOM.at(one.source, ("limits", "storage"), message)
