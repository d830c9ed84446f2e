"""What a release consists of: wheel, sdist, bill of materials, provenance, hashes; made of the last commit alone.

    python tools/dist.py [--out dist]

Two clones of a commit give the same bytes: files come from Git, their times are the commit's, and the backend is
pinned. Python and its zlib have to be the same, too.
"""

from __future__ import annotations

import argparse
import io
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Mapping
from pathlib import Path

from provenance import LOCK, digest, statement
from sbom import bill

ROOT = Path(__file__).resolve().parent.parent
NAME = "trainyard-gitops"
LEFT_OUT = (":!generated", ":!tests", ":!jobs", ":!docs")
"""What no package holds, and what takes most of the time."""


def git(*arguments: str) -> bytes:
    """Return the output of Git; exits where it fails."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, check=False)
    if done.returncode:
        sys.exit(f"git {arguments[0]}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout


def exported(folder: Path) -> None:
    """Write the last commit into a folder."""
    with tarfile.open(fileobj=io.BytesIO(git("archive", "--format=tar", "HEAD", "--", ".", *LEFT_OUT))) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # 3.11.0 to 3.11.3 have none
        archive.extractall(folder)


def built(source: Path, out: Path, seconds: int, *targets: str) -> None:
    """Build packages of a folder by the pinned backend."""
    env: Mapping[str, str] = {**os.environ, "SOURCE_DATE_EPOCH": str(seconds), "PYTHONHASHSEED": "0", "TZ": "UTC"}
    chosen = [word for target in targets for word in ("-t", target)]
    command = [sys.executable, "-P", "-m", "hatchling", "build", *chosen, "-d", str(out)]
    done = subprocess.run(command, cwd=source, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)


def sums(files: list[Path]) -> str:
    """Return hashes and names as `sha256sum --check` reads them."""
    return "".join(f"{digest(file.read_bytes())}  {file.name}\n" for file in sorted(files))


def main() -> None:
    """Make all of it, and say what there is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    out: Path = parser.parse_args().out.resolve()
    if git("status", "--porcelain", "--untracked-files=no"):
        print("what is not committed is not in it", file=sys.stderr)
    seconds = int(git("log", "-1", "--format=%ct"))
    with tempfile.TemporaryDirectory() as folder:
        exported(Path(folder))
        built(Path(folder), Path(folder) / "dist", seconds, "wheel", "sdist")
        made = sorted((Path(folder) / "dist").iterdir())
        out.mkdir(parents=True, exist_ok=True)
        files = [out / artifact.name for artifact in made]
        for source, target in zip(made, files, strict=True):
            target.write_bytes(source.read_bytes())
    (wheel,) = (file for file in files if file.suffix == ".whl")
    name, release = wheel.name.split("-")[:2]
    (out / f"{name}-{release}.cdx.json").write_text(bill(wheel, NAME, release, seconds=seconds), encoding="utf-8")
    files.append(out / f"{name}-{release}.cdx.json")
    commit = git("rev-parse", "HEAD").decode().strip()
    (out / f"{name}-{release}.intoto.json").write_text(statement(files, commit, git("show", f"HEAD:{LOCK}")), "utf-8")
    files.append(out / f"{name}-{release}.intoto.json")
    (out / "SHA256SUMS").write_text(sums(files), encoding="utf-8")
    print((out / "SHA256SUMS").read_text(encoding="utf-8"), end="")


if __name__ == "__main__":
    main()
