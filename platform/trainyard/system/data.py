"""Where schemas and policies are: Trainyard's own, as package data or in its checkout, and those of a repository."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from trainyard.system import files, trust

PACKAGE = Path(__file__).resolve().parent.parent
"""The installed package `trainyard`."""

WRITTEN = ("cluster", "job", "repository", "team")
"""What people write: editors complete and check it by a schema for each."""


def own(name: str) -> Path:
    """Return the folder `name` that comes with Trainyard: of the wheel, or of the source checkout."""
    candidates = [PACKAGE / "data" / name, PACKAGE.parent.parent / name]
    return next((path for path in candidates if path.is_dir()), candidates[-1]).resolve()


@cache
def minors() -> tuple[str, ...]:
    """Return the minor versions of Kubernetes whose API types come with Trainyard, oldest first."""
    listed = (path.name for path in (own("schemas") / "kubernetes").iterdir() if path.is_dir())
    return tuple(sorted(listed, key=lambda name: [int(part) for part in name.split(".")]))


def minors_in_words(mark: str = "") -> str:
    """Return the same as a sentence lists them, `1.34, 1.35 or 1.36`, each between two marks."""
    *others, last = (f"{mark}{name}{mark}" for name in minors())
    return f"{', '.join(others)} or {last}" if others else last


def schemas_dir(root: Path | None = None) -> Path:
    """Return the folder of API types, in the layout `<project>/<release>/<group>/<kind>_<version>.json`.

    A repository's own folder counts where it holds API types, which its `lock.yaml` says, and is trusted.
    """
    if root is None or not (root / trust.SCHEMAS / "lock.yaml").is_file():
        return own("schemas")
    folder = (root / trust.SCHEMAS).resolve()
    held = trust.checkout(root) if folder != own("schemas") else None
    return folder if held is None or held.schemas() else own("schemas")


def policy_id(path: Path) -> str:
    """Return the id of the policy in a file; modules of Python spell it with underscores."""
    return path.stem.replace("_", "-")


def policy_files(root: Path | None = None) -> list[Path]:
    """Return every policy's file, sorted by id: Trainyard's own and the repository's, which win by their id."""
    ours = own("policies")
    listed = [list(ours.glob("*"))]
    if root is not None and (root / trust.POLICIES).resolve() != ours:
        listed.append(trust.policies(root))
    found: dict[str, dict[str, Path]] = {}
    for paths in listed:
        here: dict[str, dict[str, Path]] = {}
        for path in (each for each in paths if each.suffix in {".yaml", ".py"} and each.stem != "__init__"):
            here.setdefault(policy_id(path), {})[path.name] = path
        found |= here
    return [path for _, paths in sorted(found.items()) for _, path in sorted(paths.items())]


def write_editor_schemas(root: Path) -> list[Path]:
    """Write `schemas/trainyard/<name>.json` of this release into a repository, and return the files."""
    for path, data in editor_schemas():
        files.write(root / path, data)
    return [root / path for path, _ in editor_schemas()]


def editor_schemas() -> Iterator[tuple[str, bytes]]:
    """Yield path in a repository and content of each schema that editors read."""
    for name in WRITTEN:
        yield f"schemas/trainyard/{name}.json", (own("schemas") / "trainyard" / f"{name}.json").read_bytes()


if __name__ == "__main__":
    write_editor_schemas(Path(sys.argv[1]))
