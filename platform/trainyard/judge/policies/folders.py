"""Folders that command lines name, by the options of usual trainers, and whether a volume holds them."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from trainyard.base.manifests import maps_in
from trainyard.upstream.trainers import saving

if TYPE_CHECKING:
    from trainyard.judge.policies.places import Place

LEFT = ("/tmp", "/dev", "/proc", "/var/tmp", "/scratch", "/root")  # noqa: S108 - only named to be left alone
"""Folders whose name says that what is in them need not last, and those that `run/folder` looks at."""

OPTION = re.compile(r"[-+~]{0,2}(?P<name>[A-Za-z_][\w.-]*)")
"""An option of argparse (`--output-dir`), or of Hydra (`+exp_manager.exp_dir`)."""

MOVES = re.compile(r"\b(?:rsync|rclone|gsutil|mount|ln|cp|mv|azcopy|s5cmd|s3fs|gcsfuse)\b|://")
"""What a script brings files elsewhere with, so that nothing follows from the folder's name."""


class Saved(NamedTuple):
    """A folder into which a program saves."""

    place: Place
    option: str
    folder: str


def key(option: str) -> str:
    """Return an option's or a variable's name as trainers are listed by it: `output_dir` of `--output-dir`."""
    found = OPTION.fullmatch(option)
    name = found["name"].replace("-", "_") if found else ""
    return name.lower() if name.isupper() else name


def folder_of(value: str) -> str:
    """Return the folder that a value is, empty where it is relative, has variables, or need not last."""
    path = posixpath.normpath(value) if value.startswith("/") and "$" not in value else ""
    return "" if any(within(path, top) for top in LEFT) else path


def mounted_at(path: str) -> str:
    """Return where a volume is mounted: a kubelet puts relative paths below / (kubernetes v1.35 kubelet_pods.go).

    >>> [mounted_at(path) for path in ("dev/shm", "/data/../corpus/")]
    ['/dev/shm', '/corpus']
    """
    return posixpath.normpath(posixpath.join("/", path))


def mounts(container: Mapping[str, Any]) -> dict[str, str]:
    """Return the folders that a container's volumes are mounted at, each with the volume's name."""
    found = [(mount.get("mountPath"), mount.get("name")) for mount in maps_in(container.get("volumeMounts"))]
    return {mounted_at(path): str(name) for path, name in found if isinstance(path, str)}


def held_by(folder: str, mounted: Mapping[str, str]) -> str | None:
    """Return the volume that a folder is on: that of the innermost mount around it; None where there is none."""
    around = max((path for path in mounted if within(folder, path)), key=len, default=None)
    return None if around is None else mounted[around]


def within(path: str, folder: str) -> bool:
    """Say whether a path is a folder, or below it."""
    return folder == "/" or path == folder or path.startswith(f"{folder}/")


def unheld(options: Mapping[str, tuple[Place, str]], mounted: Iterable[str]) -> Iterator[Saved]:
    """Yield the folders into which a program saves, by the options of usual trainers, and that no mount holds."""
    tops = [posixpath.normpath(path) for path in mounted]
    for option, (place, value) in options.items():
        folder = folder_of(value) if key(option) in saving() else ""
        if folder and not any(within(folder, top) for top in tops):
            yield Saved(place, option, folder)
