"""Where schemas and policies are: the repository's own folders first, the wheel's copies elsewhere."""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent
"""The installed package `trainyard`."""


def find(name: str, root: Path | None) -> Path:
    """Return the folder `name` of the repository at `root`, or the package's, or the source checkout's."""
    candidates = [PACKAGE / "data" / name, PACKAGE.parent.parent / name]
    if root is not None:
        candidates.insert(0, root / name)
    return next((path for path in candidates if path.is_dir()), candidates[-1]).resolve()


def schemas_dir(root: Path | None = None) -> Path:
    """Return the folder of API types, in the layout `<project>/<release>/<group>/<kind>_<version>.json`."""
    return find("schemas", root)


def policies_dir(root: Path | None = None) -> Path:
    """Return the folder of policies, one file each."""
    return find("policies", root)
