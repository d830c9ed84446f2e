"""What `init` has to know: from options, from the folder, or from whoever sits at the terminal."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit, urlunsplit

import typer

from trainyard.cli._skeleton import CI, Answers
from trainyard.cli._wheel import Wheel, wheel_of
from trainyard.errors import SpecError
from trainyard.findings import did_you_mean
from trainyard.system import git

PLACEHOLDER = "https://git.example.com/platform/training.git"
"""An address that nobody has."""

NAME = re.compile(r"[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?")
ADDRESS = re.compile(r"(?!.*[\s#'\"{}\[\],])(?:(?:https?|ssh|git)://|[\w.-]+@[\w.-]+:)\S+")
REGISTRY = re.compile(r"(?!.*//)[\w.-]+(?::[0-9]+)?(?:/[\w./-]+)?")
NONE = "none"

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Given:
    """What options say; None where they say nothing."""

    wheel: str | None
    live: bool
    repo_url: str | None
    registry: str | None
    ci: str | None
    cluster: str | None
    team: str | None
    empty: bool


def answered(given: Given, folder: Path) -> Answers:
    """Return all answers; raises SpecError for one that cannot be, and where one is missing that nothing tells."""
    repository = git.find(folder) if folder.is_dir() else None
    remote = without_credentials((repository and repository.ask("remote", "get-url", "origin")) or PLACEHOLDER)
    branch = (repository and repository.ask("symbolic-ref", "--quiet", "--short", "HEAD")) or "main"
    repo_url = settled("address of the repository, as Argo CD reads it", given.repo_url, remote, address)
    if given.live and repo_url == PLACEHOLDER:
        raise SpecError("--live needs the address that Argo CD syncs; give it by --repo-url")
    registry = settled("registry of images", given.registry, "registry.example.com", registry_of)
    cluster = team = ""
    if not given.empty:
        cluster = settled("first cluster", given.cluster, "dev", name)
        team = settled("first team", given.team, "research", name)
    ci = settled(f"pipeline ({', '.join([*CI, NONE])})", given.ci, guessed(repo_url) if asks() else NONE, pipeline)
    return Answers(
        wheel=wheel(given.wheel, folder),
        live=given.live,
        repo_url=repo_url,
        revision=branch if branch in {"main", "master", "trunk"} else "main",
        registry=registry,
        cluster=cluster,
        team=team,
        ci=None if ci == NONE else ci,
        empty=given.empty,
    )


def asks() -> bool:
    """Say whether somebody is there to answer."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def settled(what: str, given: str | None, default: str, check: Callable[[str], str]) -> str:
    """Return what an option says, or what is answered, which is asked for again until it can be; else the default."""
    if given is not None or not asks():
        return check(default if given is None else given)
    return asked(what, default, check)


def asked(what: str, default: str | None, check: Callable[[str], Answer]) -> Answer:
    """Return what is answered on the terminal, which is asked for again until it can be."""

    def read(answer: str) -> Answer:
        try:
            return check(answer.strip())
        except SpecError as error:
            raise typer.BadParameter(str(error)) from error

    answer: Answer = typer.prompt(what, default=default, value_proc=read)
    return answer


def wheel(given: str | None, folder: Path) -> Wheel:
    """Return the wheel; where neither an option nor the installation tells it, it is asked for."""
    try:
        return wheel_of(given, folder)
    except SpecError:
        if given is not None or not asks():
            raise
    return asked("file of the wheel, or its address with #sha256=", None, lambda text: wheel_of(text, folder))


def without_credentials(address: str) -> str:
    """Return an address without the name and password that a clone may have noted in it."""
    parts = urlsplit(address)
    if parts.scheme not in {"http", "https"} or "@" not in parts.netloc:
        return address
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def address(text: str) -> str:
    """Return an address that Argo CD can read; raises SpecError for another."""
    if ADDRESS.fullmatch(text) is None:
        raise SpecError(f"repository {text!r} should be an address, as in {PLACEHOLDER}")
    if without_credentials(text) != text:
        raise SpecError("the repository's address holds a password; leave it out, Argo CD has it in a Secret")
    return text


def registry_of(text: str) -> str:
    """Return a registry; raises SpecError for what is none."""
    if REGISTRY.fullmatch(text) is None:
        raise SpecError(f"registry {text!r} should be a host and a path, as in registry.example.com/ml")
    return text.rstrip("/")


def name(text: str) -> str:
    """Return a name for a file; what else is wrong with it is found in the specs."""
    if NAME.fullmatch(text) is None:
        raise SpecError(f"name {text!r} should be lower-case letters, digits and inner '-'")
    return text


def pipeline(text: str) -> str:
    """Return one of the pipelines; raises SpecError for another."""
    if text not in {*CI, NONE}:
        raise SpecError(f"pipeline {text!r} does not exist; {did_you_mean(text, CI)}")
    return text


def guessed(repo_url: str) -> str:
    """Return the pipeline that goes with an address, as far as its host tells."""
    return next((each for each in CI if each in repo_url), NONE)
