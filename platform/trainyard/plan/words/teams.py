"""Changes of a team in the words of its file, and what each does to pods."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from trainyard.documents.differences import FieldChange, flat, told
from trainyard.manifests import value_at
from trainyard.plan.compare.dangers import LEVELS
from trainyard.plan.effects import SpecChange
from trainyard.plan.words.fields import filled, phrase, waiver
from trainyard.quantities import Quantity
from trainyard.specs.models.team import DEFAULT, STRICTEST

AT_ONCE = "counts at once, for pods that run too"
NEW_PODS = "counts for every pod that is made from now on, those of running jobs that restart too"


@dataclass(frozen=True)
class TeamWords:
    """The two versions of one team's file."""

    file: str
    name: str
    before: Any
    after: Any

    def changes(self) -> Iterator[SpecChange]:
        """Yield what changes, each once."""
        seen = set()
        for each in told(*filled(self.before, self.after)):
            what, reach, danger = self.words(each)
            if what and what not in seen:
                seen.add(what)
                yield SpecChange(self.file, (), what, reach, danger, each.way[0] in {"podSecurity", "group"})

    def words(self, each: FieldChange) -> tuple[str, str, str]:
        """Return what changes, what it does to pods, and why a reviewer should stop here."""
        if (found := waiver(each, f"team {self.name}", self.after)) is not None:
            return found[0], "", found[1]
        match each.way:
            case ("podSecurity", *cluster):
                where = f" on {cluster[0]}" if cluster and cluster[0] != DEFAULT else ""
                known = replace(each, before=each.before or STRICTEST, after=each.after or STRICTEST)
                what = phrase(f"pod security of team {self.name}{where}", known)
                return what if known.before != known.after else "", NEW_PODS, self.level(known, where)
            case ("volumes", str(volume)):
                known = value_at(self.after, each.way)
                said = f": {flat(value_at(known, ('size',)))} of storage {flat(value_at(known, ('storage',)))}"
                return f"volume {volume} of team {self.name} {'is new' + said if known else 'goes'}", "", ""
            case ("volumes", str(volume), "size"):
                reach = "it grows in place, under what runs" if grows(each) else "no cluster shrinks a volume"
                return phrase(f"volume {volume} of team {self.name}", each), reach, ""
            case ("egress", int()) if each.before is None or each.after is None:
                opened = value_at(self.after if each.before is None else self.before, each.way)
                more = "too" if each.before is None else "no more"
                return f"pods of team {self.name} may reach {peer(opened)} {more}", AT_ONCE, ""
            case ("egress", *_):
                return phrase(f"team {self.name}: {each.path}", each), AT_ONCE, ""
            case ("group",):
                what = f"people of team {self.name}"
                return (
                    phrase(what, each),
                    "",
                    f"who may act for team {self.name} changes: {each.before} -> {each.after}",
                )
            case ("python",) if each.after == "true":
                return (
                    f"jobs of team {self.name} may be programs",
                    "",
                    f"programs of team {self.name} run when specs are read",
                )
        return phrase(f"team {self.name}: {each.path}", each), "", ""

    def level(self, each: FieldChange, where: str) -> str:
        """Return that pods may more than before."""
        known = [LEVELS.index(side) if side in LEVELS else 0 for side in (each.before, each.after)]
        loose = known[1] > known[0]
        return f"pod security of team {self.name}{where} is loosened: {each.before} -> {each.after}" if loose else ""


def grows(each: FieldChange) -> bool:
    """Say whether a size becomes larger; one that cannot be read is told elsewhere."""
    try:
        return Quantity.parse(each.after or "0") > Quantity.parse(each.before or "0")
    except ValueError:
        return True


def peer(opened: Any) -> str:
    """Return what pods may reach in words."""
    known = opened if isinstance(opened, Mapping) else {}
    where = f"namespace {flat(known['namespace'])}" if "namespace" in known else flat(known.get("cidr"))
    ports = known.get("ports")
    return f"{where}, port {' and '.join(map(flat, ports))}" if isinstance(ports, list) and ports else where
