"""Builds the program that answers for an older Kueue, from the project's history.

    .venv/bin/python tools/oracles/older.py 0.16.2
    .venv/bin/python tools/oracles/older.py 0.18.6 --history path/of/a/clone/of/kueue

The oracle's sources are turned to what that release exports by `kueue/older/<release>.patch`. A release with a file
`<release>.mod` is built as the Go module that it is, with its own libraries. Others are built against the sources of
their tag, and libraries stay those of the newest oracle. The last line printed is the path of the program.
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
    module = patch.with_suffix(".mod")
    libraries = (module,) if module.exists() else oracle.glob("go.*")
    sources = (*oracle.glob("*.go"), *libraries, *oracle.glob("*.s"), patch)
    text = b"".join(path.name.encode() + b"\0" + path.read_bytes() for path in sorted(sources))
    return paths.BIN / f"{oracle.name}-oracle-{release}-{hashlib.sha256(text).hexdigest()[:8]}"


def build(release: str, history: Path | None) -> Path:
    """Build a release's program, from a clone of Kueue's repository where it is no Go module that is named.

    Raises CalledProcessError where git or Go fails.
    """
    target = program(release)
    if target.exists():
        return target
    module = OLDER / f"{release}.mod"
    with tempfile.TemporaryDirectory(prefix="kueue-") as name:
        upstream, sources = Path(name, "upstream"), Path(name, "oracle")
        shutil.copytree(KUEUE, sources, ignore=shutil.ignore_patterns("*_test.go", "older", "README.md"))
        if module.exists():
            shutil.copyfile(module, sources / "go.mod")
            (sources / "go.sum").unlink()
            library = ["go", "mod", "tidy"]
        else:
            unpack(release, history, upstream)
            library = ["go", "mod", "edit", "-replace", f"sigs.k8s.io/kueue={upstream}"]
        for command in (
            ["git", "apply", str(OLDER / f"{release}.patch")],
            library,
            ["go", "build", "-mod=mod", "-p", "2", "-ldflags", "-s -w", "-o", str(target), "."],
        ):
            subprocess.run(command, check=True, cwd=sources)
    return target


def unpack(release: str, history: Path | None, folder: Path) -> None:
    """Put the sources of a release's tag into a folder."""
    archive = ["git", "-C", str(history), "archive", f"v{release}", "--", *FOLDERS]
    with tarfile.open(fileobj=BytesIO(subprocess.run(archive, check=True, capture_output=True).stdout)) as tar:
        tar.extractall(folder, filter="data")


def main() -> None:
    """Build a release, and print where its program is."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("release", choices=releases())
    parser.add_argument("--history", type=Path, metavar="FOLDER", help="a clone of Kueue's repository")
    given = parser.parse_args()
    if given.history is None and not (OLDER / f"{given.release}.mod").exists():
        parser.error(f"Kueue {given.release} is built from a clone: name it with --history")
    print(build(given.release, given.history and given.history.resolve()))


if __name__ == "__main__":
    main()
