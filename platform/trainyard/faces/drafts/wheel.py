"""Where a repository of one's own gets Trainyard from: one wheel, by its hash, from a file or an address."""

from __future__ import annotations

import hashlib
import re
import zipfile
from dataclasses import dataclass
from email.parser import HeaderParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from trainyard import __version__
from trainyard.base.credentials import shapes_in
from trainyard.base.errors import SpecError
from trainyard.base.system.distribution import NAME, Origin, origin
from trainyard.base.system.files import require_file

FOLDER = "install"
"""Where a repository keeps what it is installed from."""

SHA256 = re.compile(r"sha256=([0-9a-f]{64})")
PRINTED = re.compile(r"[\w.~:/?@!&'()*+,;=%\[\]-]+", re.ASCII)
"""What an address in a file that pip reads may hold: no space, no line end, and no `$`, which pip takes for a variable.

Source: pip 23.2 src/pip/_internal/req/req_file.py ENV_VAR_RE, COMMENT_RE; RFC 3986 section 2.
"""

NO_WHEEL = "--wheel is missing: name the file of the wheel, or its address with #sha256=HASH at the end"
IN_CHECKOUT = "--wheel is missing: this is a checkout; run `make dist` and name the wheel in dist/"


@dataclass(frozen=True, slots=True)
class Wheel:
    """A wheel that is pinned."""

    place: str
    """What pip installs: an address, or a path below the repository."""
    sha256: str
    copied: Path | None = None
    """The file that is put there; None for what is there, or is downloaded."""

    @property
    def pin(self) -> str:
        """Return the requirement, as pip checks it by `--require-hashes`."""
        return f"{self.place} --hash=sha256:{self.sha256}\n"


def wheel_of(named: str | None, folder: Path) -> Wheel:
    """Return the wheel that is named, or the one that this Trainyard was installed from.

    Raises SpecError where there is none, or it is no wheel of this release.
    """
    require_file(named or "", "--wheel")
    if named is None:
        named = recorded(origin())
    return downloaded(named) if re.match(r"https?://", named, re.IGNORECASE) else lying(named, folder)


def recorded(where: Origin | None) -> str:
    """Return pip's record of this installation; raises SpecError where it is not from a wheel."""
    if where is not None and where.folder:
        raise SpecError(IN_CHECKOUT)
    if where is None or where.sha256 is None:
        raise SpecError(NO_WHEEL)
    return f"{where.path or where.url}#sha256={where.sha256}"


def downloaded(address: str) -> Wheel:
    """Return a wheel that pip downloads; nothing is fetched here, so that its hash has to be known."""
    place, _, fragment = address.partition("#")
    try:
        parts = urlsplit(place)
        host = parts.hostname
    except ValueError:
        host = None
    if host is None or PRINTED.fullmatch(place) is None:
        raise SpecError(f"{place[:60]!r} is not an address; write https://, a host and the path of the wheel")
    if parts.username or parts.password or any(shapes_in(unquote(place))):
        raise SpecError("the wheel's address contains a password or token; remove it, pip reads it from ~/.netrc")
    check_name(unquote(parts.path).rpartition("/")[2])
    match = SHA256.fullmatch(fragment)
    if match is None:
        raise SpecError(f"{place} has no hash; end it with #sha256= and the 64 digits of SHA256SUMS")
    return Wheel(place, match[1])


def lying(path: str, folder: Path) -> Wheel:
    """Return a wheel on this machine; one outside the repository is to be copied into it, where CI finds it."""
    written, _, fragment = path.partition("#sha256=")
    file = Path(written)
    if (scheme := re.match(r"([a-z][-+.a-z0-9]*)://", written, re.IGNORECASE)) is not None:
        raise SpecError(f"wheel begins with {scheme[0]}, but must be a file, or an address with https://")
    if not file.is_file():
        raise SpecError(f"{written} does not exist; name the file of the wheel, or its address")
    check_name(file.name)
    data = file.read_bytes()
    inside(file)
    sha256 = hashlib.sha256(data).hexdigest()
    if fragment not in {"", sha256}:
        raise SpecError(f"{written} has sha256 {sha256}, but must have {fragment}")
    if file.resolve().is_relative_to(folder.resolve()):
        below = file.resolve().relative_to(folder.resolve()).as_posix()
        if not re.search(r"[\s$]", below):
            return Wheel(f"./{below}", sha256)
    return Wheel(f"./{FOLDER}/{file.name}", sha256, copied=file)


def check_name(name: str) -> None:
    """Refuse a file that is called as no wheel of this release is."""
    distribution, _, rest = name.removesuffix(".whl").partition("-")
    if not name.endswith(".whl") or distribution != NAME.replace("-", "_"):
        raise SpecError(f"{name} is not a wheel of {NAME}, which is named {NAME.replace('-', '_')}-<release>-….whl")
    release = rest.partition("-")[0]
    if release != __version__:
        raise SpecError(f"{name} is release {release}, but this is {__version__}; run `init` of the same release")


def inside(file: Path) -> None:
    """Refuse a file that is no whole wheel of ours."""
    try:
        with zipfile.ZipFile(file) as archive:
            (metadata,) = [name for name in archive.namelist() if re.fullmatch(r"[^/]+\.dist-info/METADATA", name)]
            found = HeaderParser().parsestr(archive.read(metadata).decode("utf-8"))["Name"]
    except (zipfile.BadZipFile, ValueError, OSError):
        raise SpecError(f"{file} cannot be read as a wheel; download it again") from None
    if found != NAME:
        raise SpecError(f"{file} is a wheel of {found}, but must be one of {NAME}")
