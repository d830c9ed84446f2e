"""Every command that reads a repository reports the same findings about it, and refuses the same."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import broken_specs
from broken_specs import CASES
from command import call
from conftest import ROOT
from make import CLUSTER, IMAGE, JOB, REPOSITORY, fields, write_repository
from repo import Repo

OLD = {**CLUSTER["operators"], "kueue": {"version": "0.15.4"}}
MISSPELT = {**CLUSTER["operators"], "kueue": {"version": "0.19.2", "values": {"controllerManager": {"replica": 2}}}}

HUGE_PAGES = {"limits": {"hugepages-2Mi": "5120Mi"}}

BROKEN: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "a launcher that is mistyped": ({"launcher": "torchrn"}, {}, "run/launcher"),
    "a queue that does not exist": ({"queue": "batch"}, {}, "spec/unknown-queue"),
    "more than the queue can ever have": ({"nodes": 5}, {}, "kq-max-quota"),
    "an operator that is too old": ({}, {"operators": OLD}, "pairing/too-old"),
    "a value that no chart reads": ({}, {"operators": MISSPELT}, "values/unknown"),
    "an argument that nothing expands": ({"args": ["--out=$(OUTDIR)"]}, {}, "tor-expansion"),
    "a patch that has a finished run made again": (
        {"patches": [{"object": "JobSet", "merge": {"spec": {"ttlSecondsAfterFinished": 60}}, "reason": "tidy"}]},
        {},
        "ft-ttl-gitops",
    ),
    "a patch for huge pages that no queue covers": (
        {
            "patches": [
                {
                    "object": "Pod",
                    "merge": {"spec": {"containers": [{"name": "trainer", "resources": HUGE_PAGES}]}},
                    "reason": "EFA",
                }
            ]
        },
        {},
        "kq-uncovered",
    ),
    "a quota of a pool that does not exist": (
        {},
        {"cohorts": {"all": {"nominalQuota": {"gpus": {"gpus": 8}}}}},
        "spec/unknown-pool",
    ),
}

NEW = ("new", "job", "nlp/more", "--cluster", "test", "--pool", "cpu", "--gpus", "0", "--program", "train.py")
COMMANDS = {
    "synth": ("synth",),
    "synth --check": ("synth", "--check"),
    "validate": ("validate",),
    "explain": ("explain", "nlp/right"),
    "new job": (*NEW, "--image", JOB["image"], "--launcher", "python"),
}


def repository(root: Path, job: dict[str, Any], cluster: dict[str, Any]) -> Path:
    """Write a repository that no cluster follows, with a job that is right beside the one with changes."""
    small = {**JOB, "nodes": 1}
    return write_repository(
        root,
        jobs={"nlp/train": fields(small, job), "nlp/right": small},
        clusters={"test": fields(CLUSTER, cluster)},
        repository={**REPOSITORY, "live": False},
    )


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
@pytest.mark.parametrize(("job", "cluster", "rule"), BROKEN.values(), ids=BROKEN)
def test_every_command_reports_it(tmp_path, job, cluster, rule, command):
    """Who sees no finding in one command meets none in another."""
    root = repository(tmp_path, job, cluster)
    done = call(root, *command)
    assert f"[{rule}]" in done.stdout + done.stderr
    assert done.returncode == 1
    assert not (root / "generated").exists()
    assert not (root / "jobs/nlp/more.yaml").exists()


@pytest.mark.slow
@pytest.mark.node
def test_a_repository_that_is_right_passes_them_all(tmp_path):
    """What the cases change is all that is wrong with them."""
    root = repository(tmp_path, {}, {})
    (root / ".tools").symlink_to(ROOT / ".tools")
    for name in ("new job", "synth", "synth --check", "validate", "explain"):
        done = call(root, *COMMANDS[name])
        assert done.returncode == 0, (name, done.stdout, done.stderr)


IN_GIT = {
    "synth": ("synth",),
    "synth --check": ("synth", "--check"),
    "validate": ("validate",),
    "plan": ("plan",),
    "explain": ("explain", broken_specs.JOB.removeprefix("jobs/").removesuffix(".yaml")),
    "new job": (*NEW[:2], "nlp/more", "--pool", "gpu", "--queue", "research", "--program", "a.py", "--image", IMAGE),
    "live verify": ("live", "verify", "test", "--context", "none"),
}
OTHERS = [name for name in IN_GIT if name != "synth"]
HEADLINE = re.compile(r"^(\S.*?:\d+:\d+: (?:error|warning): .* \[\S+?(?:, frozen)?\])$", re.MULTILINE)


@pytest.fixture(scope="module")
def rendered(tmp_path_factory):
    """Return the repository of the broken specs before anything breaks, rendered and committed."""
    root = broken_specs.repository(tmp_path_factory.mktemp("base") / "repository")
    (root / "jobs/nlp/config.yaml").unlink()
    (root / ".tools").symlink_to(ROOT / ".tools")
    repo = Repo(root)
    done = call(root, "synth")
    assert done.returncode == 0, done.stderr
    repo.commit()
    return repo


@pytest.mark.slow
@pytest.mark.node
@pytest.mark.parametrize(("turn", "case"), list(enumerate(CASES.values())), ids=CASES)
def test_every_command_finds_the_same_in_every_broken_spec(rendered, tmp_path, turn, case):
    """One call says what is wrong with the specs: each command prints the same and ends with the same code.

    Commands take turns, two beside synth for each spec, so that all meet in a third of the time.
    """
    root = rendered.copied(tmp_path / "repository").root
    (root / "jobs/nlp/config.yaml").write_text("layers: 32\n")
    broken_specs.put(case, root)
    chosen = ["synth", *(OTHERS * 2)[2 * turn % len(OTHERS) :][:2]]
    done = {name: call(root, *IN_GIT[name]) for name in chosen if case.rules or name != "live verify"}
    found = {name: set(HEADLINE.findall(value.stdout + value.stderr)) for name, value in done.items()}
    assert found == dict.fromkeys(done, found["synth"]), done
    assert {name: value.returncode for name, value in done.items()} == dict.fromkeys(done, int(bool(case.rules)))
    spoken = done["synth"].stdout + done["synth"].stderr
    for rule in case.rules.replace("decode/*", "decode/").split():
        assert (rule if "/" in rule else f"[spec/{rule}") in spoken
