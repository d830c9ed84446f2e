"""The files of a repository of one's own, and what of them can be written beside what is there."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from trainyard.base.system.data import PACKAGE, editor_schemas
from trainyard.base.system.repository import CLUSTERS, JOBS, TEAMS
from trainyard.faces.drafts.makefiles import MAKEFILE, called, included
from trainyard.faces.drafts.owners import PLACES, organisation, owners
from trainyard.faces.drafts.wheel import FOLDER, Wheel

BASE = {
    "base/Makefile": "Makefile",
    "base/README.md": "README.md",
    "base/gitattributes": ".gitattributes",
    "base/gitignore": ".gitignore",
    "base/platform/repository.yaml": "platform/repository.yaml",
}
"""Where each file goes; packages would leave out those whose names begin with a dot."""

EXAMPLE = {
    "example/jobs/hello.yaml": f"{JOBS}/@TEAM@/hello.yaml",
    "example/platform/clusters/cluster.yaml": f"{CLUSTERS}/@CLUSTER@.yaml",
    "example/platform/teams/team.yaml": f"{TEAMS}/@TEAM@.yaml",
}

CI = {
    "github": {"github/trainyard.yaml": ".github/workflows/trainyard.yaml"},
    "gitlab": {"gitlab/gitlab-ci.yml": ".gitlab-ci.yml"},
}
"""By whose it is, the pipeline."""

KEPT = "README.md"
"""What stays as it is where it is there already; it says nothing that anything needs."""

GROWN = (".gitignore", ".gitattributes")
"""Lists of lines: those that are missing are put behind what is there."""

SHADOWS = {"Makefile": ("GNUmakefile", "makefile")}
"""What make reads in place of ours, by ours. Source: GNU make 4.4 manual, What Name to Give Your Makefile."""


@dataclass(frozen=True, slots=True)
class Answers:
    """What a repository is to be."""

    wheel: Wheel
    live: bool
    repo_url: str
    revision: str
    path: str
    """Where the generated tree is in the Git repository."""
    registry: str
    cluster: str
    team: str
    ci: str | None
    """One of CI, or None."""
    empty: bool
    """Whether the example is left out."""
    makefile: str | None = MAKEFILE
    """Name of the makefile, None for none."""

    @property
    def teams(self) -> tuple[str, ...]:
        """Return the teams that are there."""
        return () if self.empty else (self.team,)


@dataclass(slots=True)
class Skeleton:
    """What `init` does to a folder."""

    write: dict[str, bytes] = field(default_factory=dict)
    """By path: new files, and those that grow, whole."""
    grown: dict[str, int] = field(default_factory=dict)
    """How many lines each of those gets."""
    kept: list[str] = field(default_factory=list)
    """What is there and stays as it is."""
    taken: list[str] = field(default_factory=list)
    """What is there and would be lost."""


def files(answers: Answers) -> Iterator[tuple[str, bytes]]:
    """Yield path and content of every file."""
    words = {
        "@LIVE@": str(answers.live).lower(),
        "@REPO_URL@": answers.repo_url,
        "@REVISION@": answers.revision,
        "@PATH@": answers.path,
        "@REGISTRY@": answers.registry,
        "@CLUSTER@": answers.cluster,
        "@TEAM@": answers.team,
    }
    chosen = {**BASE, **({} if answers.empty else EXAMPLE), **CI.get(answers.ci or "", {})}
    for source, target in chosen.items():
        text = (PACKAGE / "faces/drafts/skeleton" / source).read_text(encoding="utf-8")
        if target != MAKEFILE:
            yield replaced(target, words), called(replaced(text, words), answers.makefile).encode()
        elif answers.makefile is not None:
            own = answers.makefile == MAKEFILE
            yield answers.makefile, (text if own else included(text, answers.makefile)).encode()
    yield from pinned(answers.wheel)
    if answers.empty:
        yield f"{CLUSTERS}/.gitkeep", b""  # a repository is what has this folder, and Git keeps none that is empty
    if answers.ci is not None:
        yield PLACES[answers.ci][0], owners(organisation(answers.repo_url), answers.teams).encode()


def pinned(wheel: Wheel) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a release: the wheel, its requirements, and the editor schemas."""
    yield f"{FOLDER}/trainyard.txt", wheel.pin.encode()
    yield f"{FOLDER}/requirements.txt", (PACKAGE / "faces/drafts/skeleton/base/install/requirements.txt").read_bytes()
    if wheel.copied is not None:
        yield wheel.place.removeprefix("./"), wheel.copied.read_bytes()
    yield from editor_schemas()


def replaced(text: str, words: Mapping[str, str]) -> str:
    """Return a text with what was answered."""
    for word, value in words.items():
        text = text.replace(word, value)
    return text


def planned(folder: Path, wanted: Mapping[str, bytes], ci: str | None) -> Skeleton:
    """Return the files to write to a folder, beside those that it holds."""
    skeleton = Skeleton()
    owning = PLACES[ci] if ci is not None else ()
    for path, data in wanted.items():
        there = next((item for item in owning if path in owning and os.path.lexists(folder / item)), path)
        blocked = in_the_way(folder, path)
        if blocked:
            skeleton.taken += [item for item in blocked if item not in skeleton.taken]
        elif not os.path.lexists(folder / there):
            skeleton.write[path] = data
        elif path in GROWN and (folder / path).is_file():
            grow(skeleton, path, (folder / path).read_bytes(), data)
        elif path == KEPT or there in owning or same(folder / path, data):
            skeleton.kept.append(there)
        else:
            skeleton.taken.append(path)
    return skeleton


def in_the_way(folder: Path, path: str) -> list[str]:
    """Return the files in the way of folders, and other makefiles that make would read first."""
    above = [parent.as_posix() for parent in Path(path).parents if parent != Path()]
    links = [item for item in (*above, *({path} & set(GROWN))) if (folder / item).is_symlink()]
    files = links or [item for item in above if os.path.lexists(folder / item) and not (folder / item).is_dir()]
    return files + [item for item in SHADOWS.get(path, ()) if os.path.lexists(folder / item)]


def same(path: Path, data: bytes) -> bool:
    """Say whether a file is there already as it would be written."""
    return path.is_file() and path.read_bytes() == data


def grow(skeleton: Skeleton, path: str, there: bytes, data: bytes) -> None:
    """Put the lines that are missing behind those that are there."""
    known = {line.strip() for line in there.splitlines()}
    missing = [line for line in data.splitlines() if line.strip() not in known]
    if not missing:
        skeleton.kept.append(path)
        return
    end = b"" if not there or there.endswith(b"\n") else b"\n"
    skeleton.write[path] = there + end + b"".join(line + b"\n" for line in missing)
    skeleton.grown[path] = len(missing)
