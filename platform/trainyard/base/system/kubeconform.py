"""The second schema engine: where its program is, and how it is installed, by Go or from the pinned release.

`python -m trainyard.base.system.kubeconform FOLDER` installs it.
"""

from __future__ import annotations

import hashlib
import io
import os
import platform
import shutil
import sys
import tarfile
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from trainyard.base.errors import ToolError
from trainyard.base.system import files, process, reads
from trainyard.base.system.git import top

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

MISSING = f"{NAME}, the second schema engine, is not installed; `make setup` installs it into .tools/"
PROCESSORS = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}
FOLDER = Path(".tools") / "bin"
RECORD = Path(sys.prefix) / "share" / "trainyard" / "programs.sha256"
"""Hashes of the programs that were installed: in Python's own environment, which is trusted as Python is."""

BUILD_SECONDS = 600
FETCH_SECONDS = 120

Fetch = Callable[[str], bytes]


def find(root: Path | None) -> Path:
    """Return the program that was installed into the repository, else the one on the PATH.

    One that lies in the checkout is run only if it is what `install` put there, by its hash: a branch may bring
    another. Raises ToolError where there is none.
    """
    if (why := missing_program(root)) is not None:
        raise ToolError(why)
    found = installed_program(root)
    assert found is not None
    return found


def missing_program(root: Path | None) -> str | None:
    """Return the sentence on a program that is not installed, or is another than that; None where it is."""
    if installed_program(root) is not None:
        return None
    own = None if root is None else root / FOLDER / NAME
    return (
        f"{FOLDER / NAME} is not the {NAME} that was installed, by its hash; remove .tools, then run `make setup`"
        if (own is not None and own.is_file())
        else MISSING
    )


def installed_program(root: Path | None) -> Path | None:
    """Return the program, or None where there is none that may be run."""
    reads.ask(NAME, "" if root is None else reads.absolute(root))
    return _installed(root)


@reads.answer(NAME)
def program_digest(root: str, _: reads.Digests) -> str:
    """Return a digest of the program that judges a repository's objects, an empty one where there is none."""
    found = _installed(Path(root) if root else None)
    if found is None:
        return reads.ABSENT
    status = found.stat()
    return f"{VERSION} {found} {status.st_size} {status.st_mtime_ns}"


def _installed(root: Path | None) -> Path | None:
    if root is not None and (own := (root / FOLDER / NAME).resolve()).is_file() and is_recorded(own):
        return own
    found = shutil.which(NAME)
    if found is None or (root is not None and Path(found).resolve().is_relative_to(top(root))):
        return None
    return Path(found)


def is_recorded(program: Path) -> bool:
    """Say whether a file is what was installed from this environment."""
    try:
        status = program.stat()
        return digest(program, status.st_mtime_ns, status.st_ctime_ns) in RECORD.read_text(encoding="utf-8").split()
    except OSError:
        return False


@lru_cache(maxsize=8)
def digest(program: Path, _modified: int, _changed: int) -> str:
    """Return the SHA-256 of a file of these times."""
    with program.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def record(program: Path) -> None:
    """Remember the hash of what was installed, where nobody writes but who installs into this environment."""
    status = program.stat()
    known = RECORD.read_text(encoding="utf-8").split() if RECORD.is_file() else []
    hashes = dict.fromkeys([*known, digest(program, status.st_mtime_ns, status.st_ctime_ns)])
    files.write(RECORD, "".join(f"{hash_}\n" for hash_ in hashes))


def fetch_address(address: str) -> bytes:
    """Return the bytes that an address serves."""
    import urllib.error  # which take long to import, and are asked for once
    import urllib.request

    try:
        with urllib.request.urlopen(address, timeout=FETCH_SECONDS) as answer:  # noqa: S310  # the pinned release
            data: bytes = answer.read()
            return data
    except (urllib.error.URLError, TimeoutError) as error:
        raise ToolError(f"{address} cannot be fetched: {error}") from error


def install(folder: Path, *, fetch: Fetch = fetch_address) -> Path:
    """Put the pinned release into a folder, where it is not there already, and return the program."""
    program, mark = folder / NAME, folder / f"{NAME}.version"
    marked = mark.is_file() and mark.read_text(encoding="utf-8").strip() == VERSION
    if marked and program.is_file() and is_recorded(program.resolve()):
        return program
    folder.mkdir(parents=True, exist_ok=True)
    if not build_program(folder):
        unpack(program, fetch)
    record(program.resolve())
    files.write(mark, f"{VERSION}\n")
    return program


def build_program(folder: Path) -> bool:
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
        raise ToolError(f"{address} has sha256 {found}, but must have {SHA256[machine]}")
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        member = archive.extractfile(NAME)
        if member is None:
            raise ToolError(f"{address} contains no program {NAME}")
        files.write(program, member.read())
    program.chmod(program.stat().st_mode | 0o111)


if __name__ == "__main__":
    try:
        install(Path(sys.argv[1] if len(sys.argv) > 1 else os.curdir))
    except ToolError as error:
        raise SystemExit(str(error)) from error
