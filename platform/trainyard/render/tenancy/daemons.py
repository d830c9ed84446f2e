"""What the daemon of a fabric is, as lists: each field in which it could do something else, as it is rendered."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

LINES = "\n"
"""Between the words of a command line, and in none of them."""


def line(value: Any) -> str:
    """Return a command line as a text, an empty one of what is none."""
    return LINES.join(map(str, value)) if isinstance(value, list) else ""


def describe_volume(volume: Mapping[str, Any]) -> str:
    """Return a volume as the list has it: its name, and the path of the node or that it is an empty folder."""
    path = volume.get("hostPath")
    what = path.get("path") if isinstance(path, Mapping) else "emptyDir" if "emptyDir" in volume else ""
    return f"{volume.get('name')}={what}"


def lists(
    sidecars: Iterable[Mapping[str, Any]], volumes: Iterable[Mapping[str, Any]], mounted: Collection[str]
) -> Iterator[tuple[str, Iterable[str]]]:
    """Yield the lists of what the fabric's containers are, by name: every field in which they could do something else.

    `volumes` are all of the fabric; those that its containers mount are looked at. `mounted` are those of the program.
    """
    found = list(sidecars)
    mounts = {
        (str(volume_mount["name"]), str(volume_mount["mountPath"]))
        for part in found
        for volume_mount in part.get("volumeMounts", ())
    }
    used = {name for name, _ in mounts}
    yield "daemons", sorted({str(daemon["name"]) for daemon in found})
    yield "images", sorted({str(daemon.get("image")) for daemon in found})
    yield "commands", sorted({line([*daemon.get("command", ()), *daemon.get("args", ())]) for daemon in found})
    yield "daemonprobes", sorted({line(words) for daemon in found for words in probes(daemon)})
    yield (
        "daemonenv",
        sorted({f"{one['name']}={one.get('value', '')}" for daemon in found for one in daemon.get("env", ())}),
    )
    yield "daemonmounts", sorted(f"{name}={path}" for name, path in mounts)
    yield "daemononly", sorted(used - set(mounted))
    yield "daemonvolumes", sorted({describe_volume(volume) for volume in volumes if volume["name"] in used})
    yield "needs", sorted({need for daemon in found for need in daemon["securityContext"]["capabilities"]["add"]})


def probes(sidecar: Mapping[str, Any]) -> Iterator[list[str]]:
    """Yield the command lines by which a container of the fabric is probed."""
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        if probe in sidecar:
            yield list(sidecar[probe]["exec"]["command"])
