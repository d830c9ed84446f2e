"""MPIJobs as the operator makes their pods, for tests that run them in namespaces of Linux."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from conftest import ROOT
from pods import Pod, Pods
from trainyard.render.kinds import Resolved, build

PAGE = (ROOT / "docs/launchers.md").read_text()
PROGRAMS = re.findall(r"`(\w+)`", re.findall(r"^- (`sh`.*), of any kind", PAGE, re.MULTILINE)[0])
"""What the page says that an image needs beside Open MPI, OpenSSH and Python: here it has nothing else."""


def keys(folder: Path) -> dict[str, str]:
    """Return a key pair by the names that the operator mounts it under (newSSHAuthSecret: ECDSA P-521, PEM)."""
    path = folder / "key"
    command = ["ssh-keygen", "-q", "-t", "ecdsa", "-b", "521", "-m", "PEM", "-N", "", "-C", "", "-f", str(path)]
    subprocess.run(command, check=True)
    public = path.with_suffix(".pub").read_text()
    return {"id_rsa": path.read_text(), "id_rsa.pub": public, "authorized_keys": public}


def image(folder: Path, mpirun: str) -> dict[str, str]:
    """Return what the image's ENV says; its programs are not where sshd's own search path looks."""
    (tools := folder / "bin").mkdir()
    for name in ("ssh", *PROGRAMS):
        (tools / name).symlink_to(shutil.which(name, path="/usr/bin:/bin") or "absent")
    python = shutil.which("python3", path="/usr/bin:/usr/local/bin:/bin") or sys.executable
    (tools / "python").symlink_to(python)
    own = Path(mpirun).parent
    for name in ("mpirun", "orted", "prted", "prterun", "prte"):
        if (own / name).exists():
            (tools / name).symlink_to(own / name)
    near = own.parent / "lib" / "libmpi.so.40"
    return {
        "PATH": str(tools),
        "LIBMPI": str(near) if near.exists() else "libmpi.so.40",
        "OF_THE_IMAGE": "a b",
    }


def of_operator(run: Resolved) -> dict[str, str]:
    """Return what the operator sets in the launcher (mpi-operator v0.8.2 newLauncherPodTemplate)."""
    return {
        "K_MPI_JOB_ROLE": "launcher",
        "OMPI_MCA_orte_keep_fqdn_hostnames": "true",
        "OMPI_MCA_orte_default_hostfile": "/etc/mpi/hostfile",
        "OMPI_MCA_plm_rsh_args": "-o ConnectionAttempts=10",
        "OMPI_MCA_orte_set_default_slots": str(run.roles[0].processes),
        "NVIDIA_VISIBLE_DEVICES": "",
        "NVIDIA_DRIVER_CAPABILITIES": "",
    }


def deploy(world: Pods, run: Resolved, mpirun: str) -> tuple[Pod, list[Pod]]:
    """Return the launcher and the workers as the operator would make them, not started."""
    job, config = (item.value() for item in build(run))
    name, replicas = job["metadata"]["name"], job["spec"]["mpiReplicaSpecs"]
    count, slots = replicas["Worker"]["replicas"], job["spec"]["slotsPerWorker"]
    workers = [f"{name}-worker-{index}" for index in range(count)]
    hostfile = "".join(f"{worker}.{name}.nlp.svc slots={slots}\n" for worker in workers)
    env, pair = image(world.folder, mpirun), keys(world.folder)

    def add(host: str, template: Mapping[str, Any], own: Mapping[str, str], **files: Mapping[str, str]) -> Pod:
        (launch,) = (volume for volume in template["spec"]["volumes"] if volume["name"] == "launch")
        ours = {item["path"]: config["data"][item["key"]] for item in launch["configMap"]["items"]}
        hosts = [f"{host}.{name}.nlp.svc", f"{host}.{name}"]
        found = {"trainyard": ours, "ssh-keys": pair, **files}
        return world.add(host, template, hosts=hosts, files=found, env={**env, **own})

    launcher = replicas["Launcher"]["template"]
    hosts = {"hostfile": hostfile, "discover_hosts.sh": discovered(name, workers)}
    first = add(f"{name}-launcher", launcher, of_operator(run), mpi=hosts)
    return first, [add(worker, replicas["Worker"]["template"], {"K_MPI_JOB_ROLE": "worker"}) for worker in workers]


def discovered(name: str, workers: list[str]) -> str:
    """Return the operator's script of workers that run (updateDiscoverHostsInConfigMap), by their names as text."""
    return "#!/bin/sh\n" + "".join(f"echo {worker}.{name}.nlp.svc\n" for worker in sorted(workers))
