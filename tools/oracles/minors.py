"""Builds the program that answers for the kubelet of another minor of Kubernetes, from its Go modules.

    .venv/bin/python tools/oracles/minors.py 1.37.2

The oracle's sources are turned to what that release exports by `kubelet/older/<release>.patch`; they may reach code by
its name, so a new release needs a look at `linkname.go`. The last line printed is the path of the program.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE))

import older  # noqa: E402 - stands beside this file

KUBELET = HERE / "kubelet"
PATCHES = KUBELET / "older"


def releases() -> list[str]:
    """Return the releases that can be built."""
    return older.releases(KUBELET)


def build(release: str) -> Path:
    """Build a release's program; raises CalledProcessError where git or Go fails."""
    target = older.program(release, KUBELET)
    if target.exists():
        return target
    with tempfile.TemporaryDirectory(prefix="kubelet-") as name:
        sources = Path(name, "oracle")
        shutil.copytree(KUBELET, sources, ignore=shutil.ignore_patterns("*_test.go", "older", "README.md"))
        modules = sources / "go.mod"
        modules.write_text(of_release(modules.read_text("utf-8"), release), "utf-8")
        for command in (
            ["git", "apply", str(PATCHES / f"{release}.patch")],
            ["go", "mod", "tidy"],
            ["go", "build", "-p", "2", "-ldflags", "-s -w", "-o", str(target), "."],
        ):
            subprocess.run(command, check=True, cwd=sources)
    return target


def of_release(modules: str, release: str) -> str:
    """Return a go.mod with Kubernetes and its libraries, which go with it as v0, of another release."""
    found = re.search(r"k8s\.io/kubernetes v1\.(\S+)", modules)
    assert found, "go.mod names no release of Kubernetes"
    wanted = release.partition(".")[2]
    return re.sub(rf"(?<= v)([01])\.{re.escape(found[1])}$", rf"\1.{wanted}", modules, flags=re.MULTILINE)


def main() -> None:
    """Build a release, and print where its program is."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("release", choices=releases())
    print(build(parser.parse_args().release))


if __name__ == "__main__":
    main()
