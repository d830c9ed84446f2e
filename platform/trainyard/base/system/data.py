"""Where schemas and policies are: Trainyard's own, as package data or in its checkout, and those of a repository."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from trainyard.base.system import files, reads, trust
from trainyard.base.system.git import blob_id

PACKAGE = Path(__file__).resolve().parents[2]
"""The installed package `trainyard`."""

TYPES, POLICIES = "types", "policies"
"""Sorts of reading: a repository's API types, and its policies with ours. What comes with Trainyard counts as code."""

LOCK = "lock.yaml"
"""The file of a folder of API types that changes whenever one of Trainyard's own does."""

WRITTEN = ("cluster", "job", "repository", "team")
"""What people write: editors complete and check it by a schema for each."""


def own_folder(name: str) -> Path:
    """Return the folder `name` that comes with Trainyard: of the wheel, or of the source checkout."""
    candidates = [PACKAGE / "data" / name, PACKAGE.parent.parent / name]
    return next((path for path in candidates if path.is_dir()), candidates[-1]).resolve()


@cache
def minors() -> tuple[str, ...]:
    """Return the minor versions of Kubernetes whose API types come with Trainyard, oldest first."""
    listed = (path.name for path in (own_folder("schemas") / "kubernetes").iterdir() if path.is_dir())
    return tuple(sorted(listed, key=lambda name: [int(part) for part in name.split(".")]))


def minors_in_words(mark: str = "") -> str:
    """Return the same as a sentence lists them, `1.34, 1.35 or 1.36`, each between two marks."""
    *others, last = (f"{mark}{name}{mark}" for name in minors())
    return f"{', '.join(others)} or {last}" if others else last


def schemas_dir(root: Path | None = None) -> Path:
    """Return the folder of API types, in the layout `<project>/<release>/<group>/<kind>_<version>.json`.

    A repository's own folder counts where it holds API types, which its `lock.yaml` says, and is trusted. Whoever asks
    is taken to read all of it.
    """
    if root is not None:
        reads.ask(TYPES, reads.absolute(root))
    return _schemas_dir(root)


def _schemas_dir(root: Path | None) -> Path:
    ours = own_folder("schemas")
    if root is None or not (root / trust.SCHEMAS / LOCK).is_file():
        return ours
    folder = (root / trust.SCHEMAS).resolve()
    held = trust.checkout(root) if folder != ours else None
    return folder if held is None or held.schemas() else ours


def policy_id(path: Path) -> str:
    """Return the id of the policy in a file; modules of Python spell it with underscores."""
    return path.stem.replace("_", "-")


def policy_files(root: Path | None = None) -> list[Path]:
    """Return every policy's file, sorted by id: Trainyard's own and the repository's, which win by their id.

    Whoever asks is taken to read all of them.
    """
    reads.ask(POLICIES, "" if root is None else reads.absolute(root))
    return _policy_files(root)


def _policy_files(root: Path | None) -> list[Path]:
    ours = own_folder("policies")
    listed = [list(ours.glob("*"))]
    if root is not None and (root / trust.POLICIES).resolve() != ours:
        listed.append(trust.policies(root))
    found: dict[str, dict[str, Path]] = {}
    for paths in listed:
        here: dict[str, dict[str, Path]] = {}
        for path in (
            one_path for one_path in paths if one_path.suffix in {".yaml", ".py"} and one_path.stem != "__init__"
        ):
            here.setdefault(policy_id(path), {})[path.name] = path
        found |= here
    return [path for _, paths in sorted(found.items()) for _, path in sorted(paths.items())]


@reads.answer(TYPES)
def types_digest(root: str, digests: reads.Digests) -> str:
    """Return a digest of the API types that count in a repository, whether its lock was edited or not."""
    folder = _schemas_dir(Path(root))
    return digest(digests.contents(folder)) if folder == (Path(root) / trust.SCHEMAS).resolve() else "own"


@reads.answer(POLICIES)
def policies_digest(root: str, digests: reads.Digests) -> str:
    """Return a digest of the policies that count in a repository, or of ours alone."""
    paths = _policy_files(Path(root) if root else None)
    return digest({path.name: digests.name_content(files.read_installed(path) or b"") for path in paths})


def digest(ids: Mapping[str, str | None]) -> str:
    """Return a digest of files, given by their paths with the digests of their contents."""
    return blob_id("\n".join(f"{path} {oid}" for path, oid in ids.items()).encode("utf-8", "surrogateescape"))


def write_editor_schemas(root: Path) -> list[Path]:
    """Write `schemas/trainyard/<name>.json` of this release into a repository, and return the files."""
    for path, data in editor_schemas():
        files.write(root / path, data)
    return [root / path for path, _ in editor_schemas()]


def editor_schemas() -> Iterator[tuple[str, bytes]]:
    """Yield path in a repository and content of each schema that editors read."""
    for name in WRITTEN:
        yield f"schemas/trainyard/{name}.json", (own_folder("schemas") / "trainyard" / f"{name}.json").read_bytes()


if __name__ == "__main__":
    write_editor_schemas(Path(sys.argv[1]))
