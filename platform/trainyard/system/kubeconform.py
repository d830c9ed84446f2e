"""The second schema engine: where its program is, and how it is installed, by Go or from the pinned release.

`python -m trainyard.system.kubeconform FOLDER` installs it.
"""

from __future__ import annotations

import hashlib
import io
import os
import platform
import shutil
import sys
import tarfile
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

from trainyard.errors import ToolError
from trainyard.system import files, process

VERSION = "0.8.0"
NAME = "kubeconform"
MODULE = f"github.com/yannh/{NAME}/cmd/{NAME}@v{VERSION}"
RELEASE = f"https://github.com/yannh/{NAME}/releases/download/v{VERSION}/"
SHA256 = {
    "darwin-amd64": "71dbc87ac9f24099a62b93570e65aa06312ba6ac8aea63b7f86e9d999edf5a92",
    "darwin-arm64": "f84f4dfbebf4a6b0b230385fa065a39ea35e02608c2b50d025dcf64775a69d67",
    "linux-amd64": "9bc2bffbf71f261128533edaf912153948b7ff238f9a531ae6d34466ec287883",
    "linux-arm64": "1f53fc8e81258197a35e8603054162a5af1de8c5af13746c71ab680d9534ed87",
}
"""Of the release's archives, by operating system and processor."""

MISSING = f"{NAME}, the second schema engine, is not installed; `make synth` installs it into .tools/"
PROCESSORS = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}
FOLDER = Path(".tools") / "bin"
BUILD_SECONDS = 600
FETCH_SECONDS = 120

Fetch = Callable[[str], bytes]


def find(root: Path | None) -> Path:
    """Return the program: the repository's own, else the one on the PATH; raises ToolError where there is none."""
    if (found := installed(root)) is None:
        raise ToolError(MISSING)
    return found


def missing(root: Path | None) -> str | None:
    """Return the sentence on a program that is not installed, None where it is."""
    return MISSING if installed(root) is None else None


def installed(root: Path | None) -> Path | None:
    """Return the program, or None where there is none."""
    if root is not None and (own := root / FOLDER / NAME).is_file():
        return own.resolve()
    found = shutil.which(NAME)
    return Path(found) if found else None


def fetched(address: str) -> bytes:
    """Return what an address serves."""
    try:
        with urllib.request.urlopen(address, timeout=FETCH_SECONDS) as answer:  # noqa: S310  # the pinned release
            data: bytes = answer.read()
            return data
    except (urllib.error.URLError, TimeoutError) as error:
        raise ToolError(f"{address} cannot be fetched: {error}") from error


def install(folder: Path, *, fetch: Fetch = fetched) -> Path:
    """Put the pinned release into a folder, where it is not there already, and return the program."""
    program, mark = folder / NAME, folder / f"{NAME}.version"
    if program.is_file() and mark.is_file() and mark.read_text(encoding="utf-8").strip() == VERSION:
        return program
    folder.mkdir(parents=True, exist_ok=True)
    if not built(folder):
        unpack(program, fetch)
    files.write(mark, f"{VERSION}\n")
    return program


def built(folder: Path) -> bool:
    """Build the program with Go; False where there is no Go, or it cannot."""
    if shutil.which("go") is None:
        return False
    settings = process.environment(GOBIN=str(folder.resolve()), CGO_ENABLED="0", GOFLAGS="-trimpath")
    done = process.run(["go", "install", MODULE], cwd=folder, env=settings, timeout_seconds=BUILD_SECONDS)
    return done.code == 0


def unpack(program: Path, fetch: Fetch) -> None:
    """Fetch the release's archive, compare it with its hash, and write the program that is in it."""
    machine = f"{platform.system().lower()}-{PROCESSORS.get(platform.machine().lower(), platform.machine())}"
    if machine not in SHA256:
        raise ToolError(f"no release of {NAME} {VERSION} is pinned for {machine}; install Go, then run `make synth`")
    address = f"{RELEASE}{NAME}-{machine}.tar.gz"
    data = fetch(address)
    if (found := hashlib.sha256(data).hexdigest()) != SHA256[machine]:
        raise ToolError(f"{address} has sha256 {found}, but should have {SHA256[machine]}")
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        member = archive.extractfile(NAME)
        if member is None:
            raise ToolError(f"{address} holds no program {NAME}")
        files.write(program, member.read())
    program.chmod(program.stat().st_mode | 0o111)


if __name__ == "__main__":
    try:
        install(Path(sys.argv[1] if len(sys.argv) > 1 else os.curdir))
    except ToolError as error:
        raise SystemExit(str(error)) from error
