"""What counts of programs that make jobs where somebody only asks: the runs that `generated/` has of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from trainyard.cli._out import say

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from trainyard.preflight import Checked
    from trainyard.tree.standing import Standing


@dataclass(frozen=True)
class Idle:
    """Programs that were not run, and their runs, by program."""

    runs: Mapping[str, Sequence[Standing]]

    @staticmethod
    def of(checked: Checked, root: Path) -> Idle:
        """Look for the runs of all programs that were not run."""
        from trainyard.tree.standing import standing_runs

        return Idle(standing_runs(root, [place.path for place in checked.idle], checked.specs.clusters))

    @property
    def objects(self) -> dict[str, dict[str, tuple[dict[str, object], ...]]]:
        """By cluster and job, the objects of their runs."""
        found: dict[str, dict[str, tuple[dict[str, object], ...]]] = {}
        for each in (one for mine in self.runs.values() for one in mine):
            cluster, team, job = each.key
            found.setdefault(cluster, {})[f"{team}/{job}"] = each.objects
        return found

    def told(self) -> None:
        """Say once what counts of these programs, and what helps."""
        if not self.runs:
            return
        from trainyard.findings import counted

        names, runs = list(self.runs), sum(map(len, self.runs.values()))
        several = len(names) > 1
        who = f"{', '.join(names[:-1])} and {names[-1]}" if several else names[0]
        counts = "counts" if runs == 1 else "count"
        said = (
            f"{counted(runs, 'run')} in generated/ {counts} without a verdict"
            if runs
            else "no run of generated/ counts"
        )
        whose = "their" if several else "its"
        say(
            f"{who} {'are' if several else 'is'} not run here, so {said}; say --python to judge {whose} jobs",
            error=True,
        )
