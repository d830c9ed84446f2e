"""Where specs lie: which file is which spec, told from its path alone, and which paths are refused."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from trainyard.base.findings import Finding, Location
from trainyard.base.system.files import Found
from trainyard.base.system.repository import CLUSTERS, EXTRA, JOBS, SETTINGS, SPECS, TEAMS
from trainyard.specs.models.base import JOB_NAME, LABEL
from trainyard.specs.reading.rules import RULES

MAX_BYTES = 2**20
"""Largest spec that is read."""

LONGEST_JOB_NAME = 30
LONGEST_NAME = 63
LABEL_NAME = re.compile(LABEL)

RESERVED_TEAMS = frozenset({"programs", "default"})
"""Folders and namespaces that are no team's."""

SPELLINGS = (".yml", ".json")
"""Endings that look like a spec's but are none."""


OTHER_ENDINGS = frozenset({"", ".txt", ".yam", ".yalm", ".ymal", ".yamll", ".yaml1", ".ym"})
"""Endings that a job's file gets by a slip: it is read to see whether it is one."""

LARGEST_OTHER = 2**16
"""Bytes of the largest such file that is read."""


@dataclass(frozen=True, slots=True)
class Place:
    """A file that may be a spec: its path in the repository, its folder's name and its own, without the ending."""

    path: str
    folder: str
    name: str
    size: int
    """Bytes."""

    @property
    def is_python(self) -> bool:
        """Whether the file is a program that yields jobs."""
        return self.path.endswith(".py")


def problem(rule: str, path: str, message: str) -> Finding:
    """Return a finding about a file as a whole."""
    return RULES[rule].of(Location(path, 1, 1), message)


def text(path: str) -> str:
    """Return a path as UTF-8, whatever bytes its file system allows."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def visible(found: Iterable[Found]) -> Iterator[Found]:
    """Yield files that are not hidden and not in a hidden folder or a cache of Python's."""
    for file in found:
        if not any(part.startswith(".") or part == "__pycache__" for part in file.path.split("/")):
            yield file


def refuse_file(file: Found, path: str) -> Finding | None:
    """Return the problem with a path that no spec may have: a link, a pipe, a name of odd bytes."""
    if text(file.path) != file.path:
        return problem("file-name", path, "file name is not UTF-8; rename the file")
    if stat.S_ISLNK(file.stat.st_mode):
        return problem("symbolic-link", path, "file is a symbolic link; put the file itself here")
    if not file.regular:
        return problem("not-a-file", path, "path is neither a file nor a folder; remove it")
    return None


def too_large(path: str, size: int) -> Finding | None:
    """Return the problem with a spec of that many bytes."""
    if size <= MAX_BYTES:
        return None
    return problem("file-size", path, f"file has {size / 2**20:.1f} MiB, but a spec has at most 1 MiB; split it")


def misspelt(path: str, paths: frozenset[str] = frozenset()) -> Finding | None:
    """Return the problem with the ending of a file that looks like a spec; `paths` are all files."""
    stem, dot, ending = path.rpartition(".")
    name, right = stem.rpartition("/")[2], ending.lower()
    if not dot or (f".{right}" not in SPELLINGS and (right == ending or right not in {"yaml", "py"})):
        return None
    right = "yaml" if f".{right}" in SPELLINGS else right
    if f"{stem}.{right}" in paths:
        return problem(
            "duplicate-job", path, f"job {name!r} is already defined in {name}.{right}; delete one of the two files"
        )
    return problem("file-ending", path, f"file ends in .{ending}; rename it to {name}.{right}")


ELSEWHERE = frozenset({"spec/file-ending", "spec/folder"})
"""Rules of files that would be a spec with another ending, or in another folder."""


def meant_name(path: str) -> str:
    """Return the name of the spec that a file would be with the right ending, in the right folder.

    >>> meant_name("platform/clusters/kind.yml"), meant_name("platform/teams/old/nlp.yaml")
    ('kind', 'nlp')
    """
    return path.rpartition("/")[2].partition(".")[0]


def links(root: Path) -> Iterator[Finding]:
    """Yield the folders of specs that are links, or lie behind one, and the teams' folders among the jobs' that are."""
    teams = sorted(path.name for path in (root / JOBS).glob("*")) if not (root / JOBS).is_symlink() else []
    for path in (*dict.fromkeys((CLUSTERS.partition("/")[0], *SPECS)), *(f"{JOBS}/{team}" for team in teams)):
        if (root / path).is_symlink() and (path == SETTINGS or not path.endswith((".yaml", ".py"))):
            yield problem("symbolic-link", path, "symbolic links are not followed; put the folder itself here")


def flat(folder: str, found: Iterable[Found]) -> tuple[list[Place], list[Finding]]:
    """Return the specs of a folder without subfolders: clusters or teams."""
    places: list[Place] = []
    findings: list[Finding] = []
    for file in visible(found):
        path = text(f"{folder}/{file.path}")
        if wrong := misspelt(path):
            findings.append(wrong)
        elif not path.endswith(".yaml"):
            continue
        elif "/" in file.path:
            findings.append(problem("folder", path, f"file is in a subfolder; move it to {folder}/"))
        else:
            name, size = file.path.removesuffix(".yaml"), file.stat.st_size
            wrong = refuse_file(file, path) or too_large(path, size) or check_name(path, folder, name)
            findings += [wrong] if wrong else []
            places += [] if wrong else [Place(path, folder, name, size)]
    return places, findings


def check_name(path: str, folder: str, name: str) -> Finding | None:
    """Return the problem with the name of a cluster or a team, whose name is its namespace's too."""
    if LABEL_NAME.fullmatch(name) is None or len(name) > LONGEST_NAME:
        message = f"file name {text(name)!r} must be lower-case letters, digits and inner '-', at most {LONGEST_NAME}"
        return problem("file-name", path, message)
    if folder == TEAMS and (name in RESERVED_TEAMS or is_of_system(name)):
        return problem("team-name", path, f"team name {name!r} is taken by the system; choose another")
    return None


def is_of_system(namespace: str) -> bool:
    """Say whether a namespace is of Kubernetes, or of a component that keeps to its convention of names."""
    return namespace == "default" or namespace.startswith("kube-") or namespace.endswith("-system")


def job_name(path: str, name: str) -> Finding | None:
    """Return the problem with a job's name."""
    if JOB_NAME.fullmatch(name) and not name.endswith("-") and len(name) <= LONGEST_JOB_NAME:
        return None
    if len(name) > LONGEST_JOB_NAME:
        message = f"job name {name[:40]!r} has {len(name)} characters; at most {LONGEST_JOB_NAME} are allowed"
    else:
        message = (
            f"job name {text(name)!r} must begin with a letter, and have only lower-case letters, digits and inner '-'"
        )
    return problem("job-name", path, message)


def jobs(found: Iterable[Found]) -> tuple[list[Place], list[Finding]]:
    """Return the files that may be jobs, and findings on paths below `jobs/`; training programs are left alone.

    Whether a file is a job or a small file that a job names is told from the jobs, so names are judged later.
    """
    places, findings = [], []
    files = list(visible(found))
    paths = frozenset(text(f"{JOBS}/{file.path}") for file in files)
    for file in files:
        parts = file.path.split("/")
        path = text(f"{JOBS}/{file.path}")
        linked = len(parts) == 1 and stat.S_ISLNK(file.stat.st_mode)
        if (parts[0] == "programs" and len(parts) > 1) or (linked and not path.endswith((".yaml", ".py"))):
            continue  # what links a team's folder is told by `links`
        if wrong := refuse_file(file, path) or (misspelt(path, paths) if len(parts) == 2 else None):
            findings.append(wrong)
        elif len(parts) == 1 and path.endswith((".yaml", ".py", *SPELLINGS)):
            findings.append(problem("folder", path, f"file is in {JOBS}/ itself; move it to {JOBS}/<team>/"))
        elif len(parts) == 2 and path.endswith((".yaml", ".py")):
            places.append(Place(path, parts[0], parts[1].rpartition(".")[0], file.stat.st_size))
    return places, findings


def nested_files(found: Iterable[Found]) -> Iterator[Place]:
    """Yield YAML files in subfolders of teams, where small files are and no job is."""
    for file in visible(found):
        team, _, rest = file.path.partition("/")
        if team != "programs" and "/" in rest and rest.endswith(".yaml") and file.regular:
            path = text(f"{JOBS}/{file.path}")
            yield Place(path, team, rest.rpartition("/")[2].removesuffix(".yaml"), file.stat.st_size)


def other_files(found: Iterable[Found]) -> Iterator[Place]:
    """Yield small files beside jobs that no ending makes a job."""
    for file in visible(found):
        team, slash, name = file.path.partition("/")
        ending = PurePosixPath(name).suffix.lower()
        small = file.regular and file.stat.st_size <= LARGEST_OTHER
        if slash and "/" not in name and team != "programs" and ending in OTHER_ENDINGS and small:
            yield Place(text(f"{JOBS}/{file.path}"), team, name, file.stat.st_size)


def own_objects(found: Iterable[Found]) -> tuple[list[tuple[str, Place]], list[Finding]]:
    """Return objects and programs of one's own with their cluster; the folder is `platform` or `teams/<team>`."""
    places, findings = [], []
    for file in visible(found):
        path = text(f"{EXTRA}/{file.path}")
        cluster, *parts = file.path.split("/")
        name = parts.pop() if parts else ""
        folder = "/".join(parts)
        if wrong := misspelt(path):
            findings.append(wrong)
        elif not path.endswith((".yaml", ".py")):
            continue
        elif folder != "platform" and not (len(parts) == 2 and parts[0] == "teams"):
            message = f"file must be in {EXTRA}/<cluster>/platform/ or {EXTRA}/<cluster>/teams/<team>/"
            findings.append(problem("folder", path, message))
        elif wrong := refuse_file(file, path) or too_large(path, file.stat.st_size):
            findings.append(wrong)
        else:
            places.append((cluster, Place(path, folder, name.rpartition(".")[0], file.stat.st_size)))
    return places, findings
