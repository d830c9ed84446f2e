"""mpirun: one pod starts all ranks over ssh, one a slot; Open MPI 4 and 5.

The workers run sshd as the user that they are, below port 1024's mark and with keys that the kind mounts. Ranks start
in a session of ssh, which has none of the container's variables, so mpirun hands on those that the job and its fabric
want. When the run has to end, mpirun tells its ranks and gives them the pod's grace to save.
Facts: Open MPI v4.1 and v5.0 mpirun(1); openssh-portable V_9_6 sshd_config(5); mpi-operator v0.8.2 pkg/controller.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping

from trainyard.launchers.base import Launch, Launcher, Role, Wiring, program, threads
from trainyard.parts.storage import LAUNCH_FOLDER, environment
from trainyard.sizing import Implied, RoleSize, Sized, Sizing
from trainyard.specs.run import Run

STARTER = "launcher"
PORT = 2222
"""Where sshd listens: ports below 1024 are the root user's."""

OWN_END = 5
"""Seconds that mpirun and its daemons take to end when their ranks have ended."""

SERVER, CLIENT = "sshd_config", "ssh_config"

WAIT = """\
/usr/sbin/sshd -De -f {config} -o "SetEnv=PATH=$PATH${{LD_LIBRARY_PATH:+ LD_LIBRARY_PATH=$LD_LIBRARY_PATH}}" &
trap 'ending=1' TERM
wait $!; code=$?
[ "$ending" ] || exit $code
while cat /proc/[0-9]*/comm 2>/dev/null | grep -qx 'orted\\|prted'; do sleep 1; done
"""
"""What a worker runs: sshd with the container's own search paths; told to end, it waits until its ranks have saved."""

TORCH = ("MASTER_ADDR", "MASTER_PORT")


class Mpirun(Launcher):
    """Start the program with mpirun, from a pod of its own."""

    name = "mpirun"
    needs = frozenset({"ssh", "hosts"})
    alone = frozenset({"ssh", "hosts"})
    role_names = frozenset({STARTER})

    @property
    def variables(self) -> frozenset[str]:
        """Variables of Open MPI that are set here, and those by which torch.distributed finds its store."""
        return frozenset({*TORCH, *settings(eth="", grace=0)})

    def implied(self, _run: Run) -> Mapping[str, Implied]:
        """Return the pod that starts the ranks."""
        return {STARTER: Implied("launcher mpirun starts the ranks from it", cpus=1, memory="2Gi")}

    def launch(self, run: Run, sizing: Sizing, wiring: Wiring) -> Launch:
        """Return workers that wait for ranks, and the pod that starts them and whose end is the run's."""
        worker, starter = sizing.worker, sizing.role(STARTER)
        configuration = posixpath.join(LAUNCH_FOLDER, SERVER)
        wait = Role(worker, ("sh", "-c", WAIT.format(config=configuration)))
        ranks = worker.nodes.value * worker.processes.value
        shared = handed_on(run, sizing, wiring)
        options = ("-np", str(ranks), "--hostfile", wiring.hostfile, "--map-by", "slot", "--bind-to", "none")
        names = [part for name in ("PATH", *forwarded(run, shared)) for part in ("-x", name)]
        eth = network(run)
        env = {**shared, **settings(eth=eth, grace=sizing.grace.value)}
        start = Role(starter, ("mpirun",), (*options, *names, "python", *program(run)), env)
        return Launch((wait, start), ends=(STARTER,), files=ssh(wiring))


def network(run: Run) -> str:
    """Return the interface by which ranks meet: the cluster network's, since rails have no routes to each other."""
    return (run.cluster.fabric.interface if run.cluster.fabric else None) or "eth0"


def handed_on(run: Run, sizing: Sizing, wiring: Wiring) -> dict[str, Sized[str]]:
    """Return what the ranks are told beside the job's own variables: the workers' fabric, threads, and rank 0."""
    worker: RoleSize = sizing.worker
    why = "the first worker, for programs that meet by torch.distributed"
    return {
        **worker.env,
        **{name: Sized(value, "checkpoint.mountPath of the job") for name, value in environment(run).items()},
        "OMP_NUM_THREADS": threads(worker.cpus.value, worker.processes.value),
        "MASTER_ADDR": Sized(wiring.master, why),
        "MASTER_PORT": Sized(str(wiring.port), "the port of torch.distributed"),
    }


def forwarded(run: Run, shared: Mapping[str, Sized[str]]) -> list[str]:
    """Return the names of the variables that mpirun hands on; those of the container runtime are the pod's own."""
    names = dict.fromkeys(("HOME", "USER", "PYTHONUNBUFFERED", *shared, *run.job.env, *run.job.secrets))
    return [name for name in names if not name.startswith("NVIDIA_")]


def settings(*, eth: str, grace: int) -> dict[str, Sized[str]]:
    """Return Open MPI's parameters, each by the names that releases 4 and 5 read.

    Interfaces are named, since of several it would try all; between the signal to end and the kill the ranks get the
    pod's grace instead of a second.
    """
    client = f"ssh -F {posixpath.join(LAUNCH_FOLDER, CLIENT)}"
    seconds = str(max(1, grace - OWN_END))
    agent = Sized(client, "ssh as the workers' sshd wants it")
    near = Sized(eth, f"{eth}: the cluster network; rails of the fabric have no routes to each other")
    patience = Sized(seconds, f"{seconds} = grace of {grace} - {OWN_END} for mpirun itself")
    return {
        "OMPI_MCA_plm_rsh_agent": agent,
        "PRTE_MCA_plm_ssh_agent": agent,
        "OMPI_MCA_oob_tcp_if_include": near,
        "PRTE_MCA_oob_tcp_if_include": near,
        "OMPI_MCA_btl_tcp_if_include": near,
        "OMPI_MCA_odls_base_sigkill_timeout": patience,
        "PRTE_MCA_odls_base_sigkill_timeout": patience,
    }


def ssh(wiring: Wiring) -> dict[str, str]:
    """Return the configuration of both ends: one key, which only pods of the run have, and no passwords.

    The key belongs to root and its group may read it, so what looks at the modes of files is off.
    """
    key, allowed = (posixpath.join(wiring.keys, name) for name in ("id_rsa", "authorized_keys"))
    server = [
        f"Port {PORT}",
        f"HostKey {key}",
        f"AuthorizedKeysFile {allowed}",
        "AuthenticationMethods publickey",
        "PidFile none",
        "StrictModes no",
        "UsePAM no",
        "X11Forwarding no",
    ]
    client = [
        "Host *",
        f"  Port {PORT}",
        f"  IdentityFile {key}",
        "  IdentitiesOnly yes",
        "  BatchMode yes",
        "  StrictHostKeyChecking no",
        "  UserKnownHostsFile /dev/null",
        "  LogLevel ERROR",
    ]
    return {SERVER: "\n".join(server) + "\n", CLIENT: "\n".join(client) + "\n"}


LAUNCHER = Mpirun()
