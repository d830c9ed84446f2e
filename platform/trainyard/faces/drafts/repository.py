"""A repository of one's own that is about to be begun: what has to be known, from options, the folder and Git."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from trainyard.base.errors import SpecError
from trainyard.base.system import git
from trainyard.base.system.repository import CLUSTERS, GENERATED, TEAMS, cluster_file, team_file
from trainyard.faces.drafts.makefiles import MAKEFILE
from trainyard.faces.drafts.questions import NONE, Question
from trainyard.faces.drafts.skeleton import CI, Answers
from trainyard.faces.drafts.wheel import wheel_of
from trainyard.specs.reading import layout

PLACEHOLDER = "https://git.example.com/platform/training.git"
"""An address that nobody has."""

ADDRESS = re.compile(r"(?!.*[\s#'\"{}\[\],])(?:(?:https?|ssh|git)://|[\w.-]+@[\w.-]+:)\S+")
REGISTRY = re.compile(r"(?!.*//)[\w.-]+(?::[0-9]+)?(?:/[\w./-]+)?")
BRANCHES = frozenset({"main", "master", "trunk"})
BRANCH = re.compile(r"(?!(?:yes|no|on|off|true|false|null|y|n)\Z)[a-z][-\w./]*", re.ASCII | re.IGNORECASE)
"""Branches that stand in YAML without quotes."""


@dataclass
class RepositoryDraft:
    """A repository, as far as it is known."""

    folder: Path
    live: bool
    empty: bool
    """Whether the example is left out."""
    makefile: str | None = MAKEFILE
    """Name of the makefile, None for none."""
    answers: dict[str, str] = field(default_factory=dict)

    def questions(self) -> Iterator[Question]:
        """Yield the questions of a draft, each after the previous ones are answered."""
        words = "file of the wheel, or its address with #sha256=HASH at the end"
        yield Question("wheel", words, default=self.installed(), wrong=self.wrong_wheel, asked=self.installed() is None)
        words = "address from which Argo CD reads the repository"
        yield Question("repo-url", words, default=self.remote(), wrong=wrong_address)
        yield Question("registry", "registry of images", default="registry.example.com", wrong=wrong_registry)
        if not self.empty:
            yield Question("cluster", "name of the first cluster", default="dev", wrong=in_file(cluster_file, CLUSTERS))
            yield Question("team", "name of the first team", default="research", wrong=in_file(team_file, TEAMS))
        guess = next((item for item in CI if item in self.answers["repo-url"]), NONE)
        here = bool(self.prefix)
        ask = Question("ci", "pipeline", () if here else (*CI, NONE), default=NONE, proposed=guess)
        yield replace(ask, asked=False, wrong=self.wrong_place) if here else ask

    def finished(self) -> Answers:
        """Return all that is known; raises SpecError where answers do not go together."""
        if self.live and self.answers["repo-url"] == PLACEHOLDER:
            raise SpecError("--live needs the address that Argo CD syncs; set it with --repo-url")
        return Answers(
            wheel=wheel_of(self.answers["wheel"] or None, self.folder),
            live=self.live,
            repo_url=self.answers["repo-url"],
            revision=self.branch(),
            path=f"{self.prefix}{GENERATED}",
            registry=self.answers["registry"].rstrip("/"),
            cluster=self.answers.get("cluster", ""),
            team=self.answers.get("team", ""),
            ci=None if self.answers["ci"] == NONE else self.answers["ci"],
            empty=self.empty,
            makefile=self.makefile,
        )

    @property
    def git(self) -> git.Git | None:
        """The Git repository that the folder is in, or will be, None where there is none."""
        there = next(parent for parent in (self.folder.resolve(), *self.folder.resolve().parents) if parent.is_dir())
        return git.find(there)

    @property
    def prefix(self) -> str:
        """Path of the folder in the Git repository that it is in, ending in a slash; empty at its top."""
        found = self.git
        if found is None:
            return ""
        below = self.folder.resolve().relative_to(found.root).as_posix()
        return found.prefix + ("" if below == "." else f"{below}/")

    def wrong_place(self, answer: str) -> str | None:
        """Return the problem of a CI pipeline in a subfolder of a Git repository, where no forge reads it."""
        if answer == NONE:
            return None
        return (
            f"--ci writes to the top folder of a Git repository, but this is its subfolder {self.prefix}; remove --ci"
        )

    def branch(self) -> str:
        """Return the default branch, as the clone has noted it, or that of a repository without commits; else main."""
        if (found := self.git) is None:
            return "main"
        known = found.ask("symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD") or ""
        here = found.ask("symbolic-ref", "--quiet", "--short", "HEAD") or ""
        first = here if here in BRANCHES or found.head() is None else ""
        name = known.removeprefix("origin/") or first
        return name if BRANCH.fullmatch(name) else "main"

    def remote(self) -> str:
        """Return where Git pushes to, without the password that a clone may have noted, or the address of nobody."""
        found = self.git.ask("remote", "get-url", "origin") if self.git else None
        return (
            without_credentials(found) if found and wrong_address(without_credentials(found)) is None else PLACEHOLDER
        )

    def installed(self) -> str | None:
        """Return an empty text where this installation tells its wheel, None where somebody has to."""
        return "" if self.wrong_wheel("") is None else None

    def wrong_wheel(self, named: str) -> str | None:
        """Return the problem of a wheel; an empty text means the installed one."""
        try:
            wheel_of(named or None, self.folder)
        except SpecError as error:
            return str(error)
        return None


def in_file(path: Callable[[str], str], folder: str) -> Callable[[str], str | None]:
    """Return the problem of a name for a file."""

    def wrong(name: str) -> str | None:
        found = layout.check_name(path(name), folder, name)
        return found.message if found else None

    return wrong


def without_credentials(address: str) -> str:
    """Return an address without the name and password in it; those of ssh are no secret."""
    parts = urlsplit(address)
    if parts.scheme not in {"http", "https"} or "@" not in parts.netloc:
        return address
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def wrong_address(text: str) -> str | None:
    """Return the problem of the repository's address."""
    if ADDRESS.fullmatch(text) is None:
        return f"repository {text!r} must be an address, as in {PLACEHOLDER}"
    if without_credentials(text) != text:
        return "the repository's address contains a password; remove it and give it to Argo CD in a Secret"
    return None


def wrong_registry(text: str) -> str | None:
    """Return the problem of a registry."""
    if REGISTRY.fullmatch(text) is None:
        return f"registry {text!r} must be a host and a path, as in registry.example.com/ml"
    return None
