"""Changes of a team in the words of its file, and what each does to pods."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from trainyard.base.documents.differences import FieldChange, field_changes, flat
from trainyard.base.manifests import value_at
from trainyard.base.quantities import Quantity
from trainyard.change.plan.compare.dangers import LEVELS
from trainyard.change.plan.effects import SpecChange
from trainyard.change.plan.words.fields import fill, phrase, waiver
from trainyard.specs.models.team import DEFAULT, STRICTEST

AT_ONCE = "applies at once, also to running pods"
NEW_PODS = "applies to pods that are created from now on, also when a running job restarts"


@dataclass(frozen=True)
class TeamWords:
    """The two versions of one team's file."""

    file: str
    name: str
    before: Any
    after: Any

    def changes(self) -> Iterator[SpecChange]:
        """Yield the changes of the file, each once."""
        seen = set()
        for item in field_changes(*fill(self.before, self.after)):
            what, reach, danger = self.words(item)
            if what and what not in seen:
                seen.add(what)
                yield SpecChange(self.file, (), what, reach, danger, item.way[0] in {"podSecurity", "group"})

    def words(self, change: FieldChange) -> tuple[str, str, str]:
        """Return a change in words, its effect on pods, and its danger."""
        if (found := waiver(change, f"team {self.name}", self.after)) is not None:
            return found[0], "", found[1]
        match change.way:
            case ("podSecurity", *cluster):
                where = f" on {cluster[0]}" if cluster and cluster[0] != DEFAULT else ""
                known = replace(change, before=change.before or STRICTEST, after=change.after or STRICTEST)
                what = phrase(f"pod security of team {self.name}{where}", known)
                return what if known.before != known.after else "", NEW_PODS, self.level(known, where)
            case ("volumes", str(volume)):
                known = value_at(self.after, change.way)
                said = f": {flat(value_at(known, ('size',)))} of storage {flat(value_at(known, ('storage',)))}"
                return f"volume {volume} of team {self.name} {'is new' + said if known else 'is removed'}", "", ""
            case ("volumes", str(volume), "size"):
                reach = "grows in place while jobs use it" if grows(change) else "Kubernetes cannot shrink a volume"
                return phrase(f"volume {volume} of team {self.name}", change), reach, ""
            case ("egress", int()) if change.before is None or change.after is None:
                opened = value_at(self.after if change.before is None else self.before, change.way)
                may = "may now reach" if change.before is None else "may no longer reach"
                return f"pods of team {self.name} {may} {peer(opened)}", AT_ONCE, ""
            case ("egress", *_):
                return phrase(f"team {self.name}: {change.path}", change), AT_ONCE, ""
            case ("namespace", *cluster):
                where = f" on {cluster[0]}" if cluster and cluster[0] != DEFAULT else ""
                known = replace(change, before=change.before or self.name, after=change.after or self.name)
                what = phrase(f"namespace of team {self.name}{where}", known)
                stays = f"namespace {known.before} stays with its objects; claims of {known.after} begin empty"
                danger = f"data of team {self.name}{where} stay behind in namespace {known.before}: copy them"
                return (what, stays, danger) if known.before != known.after else ("", "", "")
            case ("group",):
                what = f"group of team {self.name}"
                return (
                    phrase(what, change),
                    "",
                    f"the group that may act for team {self.name} changes: {change.before} → {change.after}",
                )
            case ("python",) if change.after == "true":
                return (
                    f"jobs of team {self.name} may be Python programs",
                    "",
                    f"Python programs of team {self.name} run whenever the specs are read",
                )
        return phrase(f"team {self.name}: {change.path}", change), "", ""

    def level(self, field_change: FieldChange, where: str) -> str:
        """Return a warning if a team's pods may do more than before."""
        known = [LEVELS.index(side) if side in LEVELS else 0 for side in (field_change.before, field_change.after)]
        loose = known[1] > known[0]
        return (
            f"pod security of team {self.name}{where} is loosened: {field_change.before} → {field_change.after}"
            if loose
            else ""
        )


def grows(field_change: FieldChange) -> bool:
    """Say whether a size becomes larger; one that cannot be read is told elsewhere."""
    try:
        return Quantity.parse(field_change.after or "0") > Quantity.parse(field_change.before or "0")
    except ValueError:
        return True


def peer(opened: Any) -> str:
    """Return a network peer in words."""
    known = opened if isinstance(opened, Mapping) else {}
    where = f"namespace {flat(known['namespace'])}" if "namespace" in known else flat(known.get("cidr"))
    ports = known.get("ports")
    return f"{where}, port {' and '.join(map(flat, ports))}" if isinstance(ports, list) and ports else where
