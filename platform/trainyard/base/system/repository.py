"""What lies where in a repository; nothing else spells these paths."""

from __future__ import annotations

from pathlib import Path

JOBS, CLUSTERS, TEAMS, EXTRA = "jobs", "platform/clusters", "platform/teams", "platform/extra"
SETTINGS = "platform/repository.yaml"

SPECS = (JOBS, CLUSTERS, TEAMS, EXTRA, SETTINGS)
"""What people write."""

GENERATED = "generated"
"""What `synth` writes."""


def is_repository(root: Path) -> bool:
    """Say whether a folder is a repository, which has clusters."""
    return (root / CLUSTERS).is_dir()


def job_file(team: str, job: str) -> str:
    """Return the file of a job."""
    return f"{JOBS}/{team}/{job}.yaml"


def team_file(team: str) -> str:
    """Return the file of a team."""
    return f"{TEAMS}/{team}.yaml"


def cluster_file(cluster: str) -> str:
    """Return the file of a cluster."""
    return f"{CLUSTERS}/{cluster}.yaml"
