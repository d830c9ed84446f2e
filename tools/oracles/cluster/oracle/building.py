"""Build the control plane and the operators from their Go modules into $ORACLES_HOME."""

import argparse
import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from . import paths, releases
from .components import (
    ARGOCD,
    ARGOCD_NEW,
    ARGOCDS,
    CONTROL_PLANE,
    ETCD,
    KUBERNETES,
    KUBERNETES_DEFAULT,
    KWOK,
    OPERATORS,
    binary,
)

GROUPS = {
    "apiserver": ("etcd", *CONTROL_PLANE[:1]),
    "scheduler": ("etcd", "kube-apiserver", "kube-scheduler"),
    "controlplane": ("etcd", *CONTROL_PLANE, "kwok"),
    "operators": tuple(OPERATORS),
}
ARGO = {"argocd": ARGOCD, "argocd-new": ARGOCD_NEW}
"""Components that are Argo CD, each with its release."""
WRAPPER = "hack/git-verify-wrapper.sh"
"""What Argo CD's repo server finds in its image."""
NAMES = ("etcd", *CONTROL_PLANE, "kwok", *ARGO, *OPERATORS)


@dataclass(frozen=True)
class Program:
    """A program to compile: from a package, in the folder of a Go module, with files copied from the module."""

    label: str
    folder: Path
    package: str
    out: Path
    flags: tuple[str, ...] = ()
    linked: str = ""
    """What the linker sets: the version that a server tells."""
    module: str = ""
    manifests: tuple[str, ...] = ()
    copied: str = ""
    """The folder of `manifests/` that they are copied to."""
    toolchain: str = ""
    """The Go that is needed, empty for the one that is installed."""


def programs(name: str, kubernetes: str = KUBERNETES_DEFAULT) -> Iterator[Program]:
    """Yield the programs of a component."""
    folder = paths.MODULES / name
    if name == "etcd":
        yield Program(f"etcd {ETCD}", folder, ".", paths.BIN / "etcd")
    elif name in CONTROL_PLANE:
        yield control_plane(name, kubernetes)
    elif name == "kwok":
        module, label = "sigs.k8s.io/kwok", f"kwok-{KWOK}"
        stages = ("kustomize/stage", "kustomize/crd")
        yield Program(label, folder, f"{module}/cmd/kwok", paths.BIN / label, (), "", module, stages, label)
    elif name in ARGO:
        yield from argo_cd(ARGO[name])
    else:
        op, label, folder = OPERATORS[name], binary(name), releases.folder(name)
        yield Program(label, folder, op.package, paths.BIN / label, (), "", op.module, op.manifests, label)
        for process, package, _ in op.also:
            yield Program(f"{process} {op.version}", folder, package, paths.BIN / f"{process}-{op.version}")


def argo_cd(release: str) -> Iterator[Program]:
    """Yield Argo CD, and the Redis that it needs."""
    module, label, folder = "github.com/argoproj/argo-cd/v3", f"argocd-{release}", paths.MODULES / "argocd"
    flags, go = (f"-modfile={release}.mod",), ARGOCDS[release]
    copied = ("manifests/crds", WRAPPER)
    yield Program(label, folder, f"{module}/cmd", paths.BIN / label, flags, "", module, copied, label, go)
    yield Program("redis for argocd", folder, "./cmd/redis", paths.BIN / "argocd-redis", flags, toolchain=go)


def control_plane(name: str, version: str) -> Program:
    """Return a program of Kubernetes, which tells its version as a release does."""
    variable = "-X k8s.io/component-base/version."
    minor = version.split(".")[1]
    linked = " ".join(
        f"{variable}{key}={value}"
        for key, value in {
            "gitVersion": f"v{version}",
            "gitMajor": "1",
            "gitMinor": minor,
            "gitTreeState": "clean",
        }.items()
    )
    out = paths.BIN / f"kubernetes-{version}" / name
    flags = (f"-modfile={version}.mod",)
    return Program(f"{name} {version}", paths.MODULES / "kubernetes", f"./cmd/{name}", out, flags, linked)


def components(what: Sequence[str]) -> list[str]:
    """Return the components that names and names of groups mean, each once."""
    found = [one_name for name in what for one_name in (NAMES if name == "all" else GROUPS.get(name, (name,)))]
    return list(dict.fromkeys(found))


def missing(what: Sequence[str], kubernetes: str = KUBERNETES_DEFAULT) -> list[str]:
    """Return the programs of these components that are not built."""
    wanted = (program for name in components(what) for program in programs(name, kubernetes))
    return [program.label for program in wanted if not program.out.exists()]


def go(arguments: Sequence[str], program: Program) -> str:
    """Return the output of the Go command that a program needs, in the program's folder."""
    return in_folder(arguments, program.folder, program.toolchain)


def in_folder(arguments: Sequence[str], folder: Path, toolchain: str = "") -> str:
    """Return the output of the Go command, of another Go than the one that is installed if one is named."""
    env = {**os.environ, "GOWORK": "off", "GOFLAGS": "-buildvcs=false"}
    if toolchain:
        env["GOTOOLCHAIN"] = toolchain
    command, pipe = ["go", *arguments], subprocess.PIPE
    return subprocess.run(command, cwd=folder, env=env, check=True, stdout=pipe, text=True).stdout


def build(program: Program, *, force: bool = False) -> None:
    """Compile a program unless it is there, and copy the files of its module."""
    out, begin = program.out, time.monotonic()
    if out.exists() and not force:
        print(f"{program.label:32} {'there':>7} {out.stat().st_size >> 20:5d} MiB")
    else:
        out.parent.mkdir(parents=True, exist_ok=True)
        part = out.with_name(out.name + ".tmp")
        at_once = str(min(os.cpu_count() or 2, 2))
        link = ("-ldflags", f"-s -w {program.linked}".strip())
        go(["build", "-p", at_once, *program.flags, *link, "-o", str(part), program.package], program)
        part.replace(out)
        print(f"{program.label:32} {time.monotonic() - begin:6.0f}s {out.stat().st_size >> 20:5d} MiB", flush=True)
    if any(not (paths.MANIFESTS / program.copied / manifest).exists() for manifest in program.manifests) or force:
        copy_manifests(program)


def copy_manifests(program: Program) -> None:
    """Copy CRDs, webhooks and the like from the Go module, where they are read-only."""
    if not program.manifests:
        return
    target = paths.MANIFESTS / program.copied
    source = Path(json.loads(go(["list", *program.flags, "-m", "-json", program.module], program))["Dir"])
    for manifest in program.manifests:
        (target / manifest).parent.mkdir(parents=True, exist_ok=True)
        if (source / manifest).is_file():
            shutil.copyfile(source / manifest, target / manifest)
        else:
            shutil.copytree(source / manifest, target / manifest, dirs_exist_ok=True, copy_function=shutil.copyfile)
    for path in [target, *target.rglob("*")]:
        if path.is_dir():
            path.chmod(0o755)


def main() -> int:
    """Build what is asked for; return 1 where Go refuses."""
    parser = argparse.ArgumentParser(description=__doc__)
    names = f"all, {', '.join(GROUPS)}, or any of: {' '.join(NAMES)}"
    parser.add_argument("what", nargs="*", default=["all"], help=names)
    versions = f"versions, of {', '.join(KUBERNETES)} (default {KUBERNETES_DEFAULT})"
    parser.add_argument("--kubernetes", default=KUBERNETES_DEFAULT, metavar="V[,V]", help=versions)
    parser.add_argument("--force", action="store_true", help="build even what is there")
    args = parser.parse_args()
    if unknown := set(args.what) - {"all", *GROUPS, *NAMES}:
        parser.error(f"no such component: {', '.join(sorted(unknown))}")
    if unknown := set(args.kubernetes.split(",")) - set(KUBERNETES):
        parser.error(f"Kubernetes {', '.join(sorted(unknown))}: there are {', '.join(KUBERNETES)}")
    begin = time.monotonic()
    try:
        for name in components(args.what):
            for version in args.kubernetes.split(",") if name in CONTROL_PLANE else [KUBERNETES_DEFAULT]:
                if name in OPERATORS:
                    releases.write_module(name, in_folder)
                for program in programs(name, version):
                    build(program, force=args.force)
    except subprocess.CalledProcessError as e:
        print(f"go failed: {' '.join(e.cmd)}")
        return 1
    print(f"{'in all':32} {time.monotonic() - begin:6.0f}s, in {paths.HOME}")
    return 0
