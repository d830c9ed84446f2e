"""A plan that remembers says what one without memory says, whatever was changed, merged and taken back before."""

from __future__ import annotations

import random
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from command import Done
from command import call as trainyard
from make import CLUSTER, JOB, TEAM, write_repository
from plan.own_policies import DIFFER, FEW, PIN
from repo import Repo

pytestmark = [pytest.mark.node, pytest.mark.slow]

SEED, STEPS = 1, 6

EXTRA = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: default}\n"


class Changes:
    """A live repository of three jobs, and what may become of it by chance."""

    def __init__(self, root: Path, chance: random.Random) -> None:
        """Write it, render it and merge it."""
        self.repo, self.chance, self.warm = Repo(root / "repo"), chance, root / "warm"
        self.jobs: dict[str, dict[str, Any]] = {}
        for number in range(3):
            self.jobs[f"nlp/job-{number}"] = {**JOB, "nodes": 1, "image": PIN.format(number + 1)}
        self.cluster: dict[str, Any] = CLUSTER
        self.team: dict[str, Any] = TEAM
        self.repo.put("policies/own-few.yaml", FEW.format(most=3))
        self.rendered()
        self.repo.commit()
        self.repo.git("switch", "-qc", "work")

    def rendered(self) -> None:
        """Write the specs, and render them; what is refused stays as it was."""
        shutil.rmtree(self.repo.root / "jobs", ignore_errors=True)
        write_repository(self.repo.root, jobs=self.jobs, clusters={"test": self.cluster}, teams={"nlp": self.team})
        trainyard(self.repo.root, "synth", XDG_CACHE_HOME=str(self.warm))

    def job(self, **fields: Any) -> None:
        """Change one of the jobs."""
        name = self.chance.choice(sorted(self.jobs))
        self.jobs[name] = {**self.jobs[name], **fields}

    def image(self) -> None:
        """Give a job the image of another, or a new one."""
        self.job(image=PIN.format(self.chance.randrange(1, 6)))

    def nodes(self) -> None:
        """Make a job larger or smaller."""
        self.job(nodes=self.chance.choice([1, 2, 4]))

    def new(self) -> None:
        """Add a job."""
        self.jobs[f"nlp/new-{len(self.jobs)}"] = {**JOB, "nodes": 1, "image": PIN.format(100 + len(self.jobs))}

    def retired(self) -> None:
        """Retire a job."""
        self.job(retired=True)

    def patched(self) -> None:
        """Patch an object: in order, into what no server takes, or into another's place."""
        patch = self.chance.choice(
            [
                {"metadata": {"labels": {"example.com/x": "y"}}},
                {"spec": {"nonsense": 1}},
                {"metadata": {"name": "job-0"}},
            ]
        )
        self.job(patches=[{"target": "JobSet", "patch": patch}])

    def limited(self) -> None:
        """Change the policy of one object."""
        self.repo.put("policies/own-few.yaml", FEW.format(most=self.chance.choice([2, 3, 5])))

    def compared(self) -> None:
        """Add a policy that compares runs, or remove it."""
        path = self.repo.root / "policies/own_differ.py"
        if path.exists():
            path.unlink()
        else:
            self.repo.put("policies/own_differ.py", DIFFER)

    def inventory(self) -> None:
        """Change how many nodes there are."""
        gpu = {**CLUSTER["pools"]["gpu"], "nodes": self.chance.choice([2, 4, 8])}
        self.cluster = {**CLUSTER, "pools": {**CLUSTER["pools"], "gpu": gpu}}

    def people(self) -> None:
        """Change what a team has."""
        self.team = {**TEAM, "secrets": self.chance.choice([["tokens"], ["tokens", "more"]])}

    def own(self) -> None:
        """Add an object that is no run's, which a server may refuse."""
        self.repo.put(
            "platform/extra/test/platform/x.yaml", EXTRA + self.chance.choice(["data: {a: b}\n", "spec: {}\n"])
        )

    def edited(self) -> None:
        """Edit a run's object by hand."""
        path = self.chance.choice(sorted((self.repo.root / "generated/test/runs").rglob("*.yaml")))
        path.write_text(path.read_text() + "# edited\n")

    def step(self) -> None:
        """Change something, and render it."""
        sources = (self.image, *[self.nodes] * 4, self.new, self.retired, self.patched)
        others = (self.limited, self.compared, self.inventory, self.people, self.own, self.edited)
        change: Callable[[], None] = self.chance.choice((*sources, *others))
        change()
        if change != self.edited:
            self.rendered()

    def settle(self, *, refused: bool) -> None:
        """Merge what passed, or take back what did not; not always."""
        if not refused and self.chance.random() < 0.4:
            self.repo.commit()
            self.repo.git("branch", "-f", "main", "work")
        if refused and self.chance.random() < 0.8:
            self.jobs, self.cluster, self.team = self.before
            self.repo.git("checkout", "-q", ".")
            self.repo.git("clean", "-qfd")
            self.rendered()

    def noted(self) -> None:
        """Remember the specs as they are."""
        self.before = dict(self.jobs), self.cluster, self.team

    def plan(self, cache: Path) -> Done:
        """Return what a plan says that remembers what is there."""
        return trainyard(self.repo.root, "plan", XDG_CACHE_HOME=str(cache))


def test_memory_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After each of some changes by chance both plans say the same; some are refused, others are not."""
    monkeypatch.setattr(threading, "active_count", lambda: 2)
    changes = Changes(tmp_path, random.Random(SEED))
    codes = set()
    for number in range(STEPS):
        changes.noted()
        changes.step()
        warm, cold = changes.plan(changes.warm), changes.plan(tmp_path / f"cold-{number}")
        assert warm == cold, f"step {number}"
        codes.add(warm.returncode)
        changes.settle(refused=warm.returncode != 0)
    assert codes == {0, 1}
