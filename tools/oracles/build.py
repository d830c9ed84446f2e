"""Builds the oracles: real programs of Kubernetes, Kueue and others, whose answers ours are held against.

Each is built from Go modules into $ORACLES_HOME (by default ~/.cache/trainyard-oracles), and left alone if it is there
already. Without a name, the table is printed: what there is, what it needs, and how long it takes.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path += [str(HERE), str(HERE / "cluster"), str(ROOT / "tools")]

import charts  # noqa: E402 - stands beside this file
from oracle import building, components, paths  # noqa: E402

import schemas  # noqa: E402 - these stand in folders that are no packages
import schemas_crds  # noqa: E402
from schemas_yaml import dump, load_all  # noqa: E402

MODULES = {
    "kueue": "sigs.k8s.io/kueue",
    "kubelet": "k8s.io/kubernetes",
    "helm": "helm.sh/helm/v3",
    "promtool": "github.com/prometheus/prometheus",
}
"""The programs that answer cases without a cluster, and the Go module whose release each answers for."""

TOOLS = {"promtool": "github.com/prometheus/prometheus/cmd/promtool"}
"""Programs that are a project's own, and their package."""

RELEASES = ROOT / "platform" / "trainyard" / "specs" / "releases"
"""A file for each operator."""


@dataclass(frozen=True)
class Oracle:
    """One thing to build: what it answers, what its first build takes, and whether it is there."""

    what: str
    minutes: int
    mebibytes: int
    missing: Callable[[], Sequence[str]]
    build: Callable[[bool], None]


def release(name: str) -> str:
    """Return the release that a program answers for, which its go.mod names."""
    found = re.search(
        rf"^\s*{re.escape(MODULES[name])} v(\S+)(?: // indirect)?$", (HERE / name / "go.mod").read_text(), re.MULTILINE
    )
    assert found, f"{name}/go.mod names no release of {MODULES[name]}"
    return found[1]


def program(name: str) -> Path:
    """Return the path of a program that answers cases; its name tells the sources it was built from, if it is ours."""
    if name in TOOLS:
        return paths.BIN / f"{name}-{release(name)}"
    digest = hashlib.sha256()
    for path in sorted((HERE / name).iterdir()):
        if path.suffix in {".go", ".mod", ".s", ".sum"} and not path.name.endswith("_test.go"):
            digest.update(f"{path.name}\0".encode() + path.read_bytes())
    return paths.BIN / f"{name}-oracle-{release(name)}-{digest.hexdigest()[:8]}"


def of_cases(name: str, what: str, minutes: int, mebibytes: int) -> Oracle:
    """Return a program that answers cases."""

    def build(force: bool) -> None:
        building.build(
            building.Program(program(name).name, HERE / name, TOOLS.get(name, "."), program(name)), force=force
        )

    return Oracle(what, minutes, mebibytes, lambda: [] if program(name).exists() else [program(name).name], build)


def of_cluster(what: str, minutes: int, mebibytes: int, *components: str) -> Oracle:
    """Return components of a cluster."""

    def build(force: bool) -> None:
        for name in building.components(components):
            for one_program in building.programs(name):
                building.build(one_program, force=force)

    return Oracle(what, minutes, mebibytes, lambda: building.missing(components), build)


def fetch_crds(force: bool) -> None:
    """Fetch the CRDs that schemas/lock.yaml pins."""
    if force or not any(paths.CRDS.glob("*/*/*.yaml")):
        projects = schemas.read(ROOT / "schemas" / schemas.LOCK)["projects"]
        part = paths.CRDS.with_name(paths.CRDS.name + ".part")
        shutil.rmtree(part, ignore_errors=True)
        write_crds(projects, schemas.fetcher(schemas.UPSTREAM), part)
        shutil.rmtree(paths.CRDS, ignore_errors=True)
        part.replace(paths.CRDS)


def write_crds(projects: Mapping[str, Mapping[str, Any]], fetch: Callable[[str], bytes], folder: Path) -> None:
    """Write the CRDs of each release, a file each, when their file has the hash that the lock names."""
    for project, release, lock in ((project, *pair) for project, locked in projects.items() for pair in locked.items()):
        target = folder / project / release
        target.mkdir(parents=True)
        for entry in lock["files"]:
            data = fetch(f"{lock['repository']}/{lock.get('commit', lock['tag'])}/{entry['path']}")
            schemas_crds.check(data, entry, f"{project} {release} {entry['path']}")
            for document in filter(schemas_crds.is_crd, load_all(data.decode())):
                name = document["metadata"]["name"]
                if name in entry.get("crds", (name,)):
                    (target / f"{name}.yaml").write_text(dump(document), encoding="utf-8")


def fetch_charts(force: bool) -> None:
    """Fetch the charts of operators, in the releases that schemas/lock.yaml pins."""
    if force or charts_missing():
        part = paths.CHARTS.with_name(paths.CHARTS.name + ".part")
        shutil.rmtree(part, ignore_errors=True)
        projects = frozenset(file.stem for file in RELEASES.glob("*.yaml"))
        charts.fetch(schemas.read(ROOT / "schemas" / schemas.LOCK)["charts"], projects, part)
        shutil.rmtree(paths.CHARTS, ignore_errors=True)
        part.replace(paths.CHARTS)


def charts_missing() -> list[str]:
    """Return the name of what is to be fetched, unless it is there."""
    return [] if any(paths.CHARTS.glob("*/*/Chart.yaml")) else ["charts"]


def crds_missing() -> list[str]:
    """Return the name of what is to be fetched, unless it is there."""
    return [] if any(paths.CRDS.glob("*/*/*.yaml")) else ["crds"]


ORACLES: Mapping[str, Oracle] = {
    "kueue": of_cases(
        "kueue", f"Kueue {release('kueue')}: its scheduler, webhooks and integrations answer cases", 8, 59
    ),
    "kubelet": of_cases("kubelet", f"kubelet {release('kubelet')}: its managers and admission answer cases", 7, 58),
    "helm": of_cases("helm", f"Helm {release('helm')}: what a chart makes of values", 2, 37),
    "promtool": of_cases(
        "promtool",
        f"Prometheus {release('promtool')}: parses rules, and evaluates them over series",
        7,
        81,
    ),
    "apiserver": of_cluster("etcd and kube-apiserver judge objects, with the CRDs that are there", 4, 123, "apiserver"),
    "scheduler": of_cluster("etcd, kube-apiserver and kube-scheduler place pods", 5, 191, "scheduler"),
    "cluster": of_cluster("the control plane, KWOK and nine operators run jobs", 30, 937, "controlplane", "operators"),
    "argocd": of_cluster(f"Argo CD {components.ARGOCD} syncs a repository to that cluster", 7, 192, "argocd"),
    "argocd-new": of_cluster(f"Argo CD {components.ARGOCD_NEW} does; Go fetches 1.27 for it", 10, 200, "argocd-new"),
    "crds": Oracle(
        "CRDs of all projects of schemas/, fetched from their repositories", 2, 50, crds_missing, fetch_crds
    ),
    "charts": Oracle("charts of operators, fetched from their repositories", 2, 50, charts_missing, fetch_charts),
}


def table() -> str:
    """Return a table of the oracles to build, and whether each is built."""
    lines = [f"{'':10} {'built':6} {'min':>4} {'MiB':>5}"]
    for name, oracle in ORACLES.items():
        lines.append(
            f"{name:10} {'no' if oracle.missing() else 'yes':6} {oracle.minutes:4} {oracle.mebibytes:5}  {oracle.what}"
        )
    return "\n".join(
        [
            *lines,
            "Minutes are those of a first build on two cores; needed are Go 1.26, its module proxy, 3 GB of memory,",
            "5 GB of disk for Go's caches and, to start a cluster, OpenSSL 3. make oracles O=<name> builds one.",
            f"They are built into {paths.HOME}; ORACLES_HOME names another folder.",
        ]
    )


def main() -> int:
    """Build what is named, or print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help=f"all, or any of: {', '.join(ORACLES)}")
    parser.add_argument("--force", action="store_true", help="build even what is there")
    given = parser.parse_args()
    if unknown := set(given.names) - {"all", *ORACLES}:
        parser.error(f"oracle {sorted(unknown)[0]!r} does not exist; there are {', '.join(ORACLES)}")
    if not given.names:
        print(table())
        return 0
    if not shutil.which("go"):
        print("the command go is missing; install Go 1.26 or newer", file=sys.stderr)
        return 2
    for name in ORACLES if "all" in given.names else given.names:
        oracle, begun = ORACLES[name], time.monotonic()
        if not oracle.missing() and not given.force:
            print(f"{name}: built already")
            continue
        print(
            f"{name}: {oracle.what}; about {oracle.minutes} minutes from empty caches, {oracle.mebibytes} MiB",
            flush=True,
        )
        try:
            oracle.build(given.force)
        except (subprocess.CalledProcessError, OSError) as error:
            print(f"{name}: {error}", file=sys.stderr)
            return 1
        print(f"{name}: built in {time.monotonic() - begun:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
