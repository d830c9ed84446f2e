"""Who approves what, as GitHub and GitLab read it: a team's own jobs are the team's, all else is the platform's."""

from __future__ import annotations

from collections.abc import Iterable

HEAD = """\
# Owners of paths; the last matching line wins. Replace the groups with yours, and add a block for each new team.
# A team owns its jobs and the files that follow from them; the platform group owns everything else.
"""

PLACES = {
    "github": (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"),
    "gitlab": ("CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS"),
}
"""Where each looks, in this order; the first file that is there counts.

Source: GitHub docs, About code owners; GitLab docs, Code Owners.
"""


def owners(organisation: str, teams: Iterable[str]) -> str:
    """Return the whole file, for groups that are called as the teams."""
    platform = f"@{organisation}/platform"
    lines = ["*", *(path for team in teams for path in paths(team))]
    width = max(map(len, lines)) + 2
    of_teams = (
        ("".join(f"\n{rules(team, f'@{organisation}/{team}', width)}" for team in teams)) if len(lines) > 1 else ""
    )
    return f"{HEAD}{'*':<{width}}{platform}\n{of_teams}"


def rules(team: str, group: str, width: int = 0) -> str:
    """Return the lines of one team, which its group approves."""
    listed = list(paths(team))
    width = width or max(map(len, listed)) + 2
    return "".join(f"{path:<{width}}{group}\n" for path in listed)


def paths(team: str) -> Iterable[str]:
    """Return all paths that a change of a team's jobs writes; a missing one would need the platform's approval."""
    return (
        f"/jobs/{team}/",
        f"/generated/*/runs/{team}/",
        f"/generated/*/ledger/{team}/",
        f"/generated/*/index/runs/{team}/",
        f"/generated/*/index/runs/{team}.json",
    )


def organisation(repo_url: str) -> str:
    """Return the owner in a repository's address; `example` if the address has none."""
    path = repo_url.partition("://")[2].partition("/")[2] or repo_url.partition(":")[2]
    return path.rpartition("/")[0].strip("/") or "example"
