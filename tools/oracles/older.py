"""Builds the program that answers for an older Kueue, from the project's history.

    .venv/bin/python tools/oracles/older.py 0.18.6 --history path/of/a/clone/of/kueue

The oracle's sources are turned to what that release exports by `kueue/older/<release>.patch`, and built against the
sources of its tag; libraries stay those of the newest oracle. The last line printed is the path of the program.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
from io import BytesIO
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path += [str(HERE), str(HERE / "cluster")]

from oracle import paths  # noqa: E402 - stands in a folder that is no package

KUEUE = HERE / "kueue"
OLDER = KUEUE / "older"
FOLDERS = ("apis", "client-go", "cmd", "hack", "internal", "pkg", "go.mod", "go.sum")
"""Parts of Kueue's repository that its packages are in."""


def releases(oracle: Path = KUEUE) -> list[str]:
    """Return the releases that an oracle has a patch for, which can be built."""
    return sorted(path.stem for path in (oracle / "older").glob("*.patch"))


def program(release: str, oracle: Path = KUEUE) -> Path:
    """Return the path of a release's program; its name tells the sources it was built from."""
    patch = oracle / "older" / f"{release}.patch"
    sources = (*oracle.glob("*.go"), *oracle.glob("go.*"), *oracle.glob("*.s"), patch)
    text = b"".join(path.name.encode() + b"\0" + path.read_bytes() for path in sorted(sources))
    return paths.BIN / f"{oracle.name}-oracle-{release}-{hashlib.sha256(text).hexdigest()[:8]}"


def build(release: str, history: Path) -> Path:
    """Build a release's program from a clone of Kueue's repository; raises CalledProcessError where git or Go fails."""
    target = program(release)
    if target.exists():
        return target
    with tempfile.TemporaryDirectory(prefix="kueue-") as name:
        upstream, sources = Path(name, "upstream"), Path(name, "oracle")
        archive = ["git", "-C", str(history), "archive", f"v{release}", "--", *FOLDERS]
        with tarfile.open(fileobj=BytesIO(subprocess.run(archive, check=True, capture_output=True).stdout)) as tar:
            tar.extractall(upstream, filter="data")
        shutil.copytree(KUEUE, sources, ignore=shutil.ignore_patterns("*_test.go", "older", "README.md"))
        for command in (
            ["git", "apply", str(OLDER / f"{release}.patch")],
            ["go", "mod", "edit", "-replace", f"sigs.k8s.io/kueue={upstream}"],
            ["go", "build", "-mod=mod", "-p", "2", "-ldflags", "-s -w", "-o", str(target), "."],
        ):
            subprocess.run(command, check=True, cwd=sources)
    return target


def main() -> None:
    """Build a release, and print where its program is."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("release", choices=releases())
    parser.add_argument("--history", type=Path, required=True, metavar="FOLDER", help="a clone of Kueue's repository")
    given = parser.parse_args()
    print(build(given.release, given.history.resolve()))


if __name__ == "__main__":
    main()
