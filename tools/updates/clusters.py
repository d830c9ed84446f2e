"""What a repository's own clusters and jobs are judged as, and which objects they have, before and after a change."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from schemas_yaml import load
from updates.failures import run

FINDINGS = (0, 1)
"""Exit codes of commands that finished."""
CLUSTERS = "platform/clusters"
Findings = Counter[tuple[str, str, str, str]]
"""Severity, rule, file and message, with how often each occurs."""


@dataclass(frozen=True)
class Moved:
    """A cluster's file that names a project, with the release that it names."""

    file: str
    release: str


def trainyard(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Trainyard as a checkout has it; raises CalledProcessError where it could not finish."""
    env = {**os.environ, "PYTHONPATH": str(root / "platform"), "TRAINYARD_BASE": "HEAD"}
    command = [sys.executable, "-m", "trainyard", *arguments]
    done = subprocess.run(command, cwd=root, env=env, capture_output=True, text=True, check=False)
    if done.returncode not in FINDINGS:
        raise subprocess.CalledProcessError(done.returncode, command, done.stdout, done.stderr)
    return done


def judged(root: Path) -> Findings:
    """Return all findings on a repository."""
    found = json.loads(trainyard(root, "check", "-o", "json").stdout)["findings"]
    return Counter(
        (
            finding["severity"],
            finding["rule"],
            (finding.get("location") or finding).get("file") or "",
            finding["message"],
        )
        for finding in found
    )


def naming(root: Path, project: str) -> Iterator[Moved]:
    """Yield the clusters that name a project at a release, and do not leave it to others."""
    for file in sorted((root / CLUSTERS).glob("*.yaml")):
        said = load(file.read_text(encoding="utf-8")) or {}
        named = said.get("argocd") if project == "argo-cd" else (said.get("operators") or {}).get(project)
        if isinstance(named, Mapping) and "version" in named:
            yield Moved(f"{CLUSTERS}/{file.name}", str(named["version"]))


def move(root: Path, project: str, moved: Moved, release: str) -> None:
    """Write a release into a cluster's file, as text."""
    key = "argocd" if project == "argo-cd" else re.escape(project)
    pattern = re.compile(
        rf"^( *{key}:\s*\{{?\s*(?:[^\n}}]*,\s*|\n *)?version:\s*)([\"']?){re.escape(moved.release)}\2", re.MULTILINE
    )
    file = root / moved.file
    text, count = pattern.subn(lambda match: f'{match[1]}"{release}"', file.read_text(encoding="utf-8"))
    if count != 1:
        raise ValueError(f"{moved.file}: the version of {project} is written in a way that is not understood")
    file.write_text(text, encoding="utf-8", newline="\n")


def rendered_changes(root: Path) -> Counter[str]:
    """Return how many objects of each cluster's tree differ from the last commit."""
    listed = run(["git", "status", "--porcelain", "--untracked-files=all", "--", "generated"], root)
    paths = (line[3:].split("/") for line in listed.splitlines())
    return Counter(parts[1] for parts in paths if len(parts) > 2)
