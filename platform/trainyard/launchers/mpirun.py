"""mpirun: one pod starts all ranks over ssh, one a slot; Open MPI 4 and 5.

The workers run sshd as the user that they are, below port 1024's mark and with keys that the kind mounts. Ranks start
in a session of ssh, which has none of the container's variables, so mpirun hands on those that the job and its fabric
want. When pods have to end, the ranks are told at once and once, so that they have the pods' grace to save.
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

SERVER, CLIENT, END = "sshd_config", "ssh_config", "end.sh"
"""Files of ours in every pod."""

TELL = """\
# Tells the ranks in this container to end, once, however many ask for it.
for daemon in /proc/[0-9]*; do
  read -r name < "$daemon/comm" || continue
  case $name in orted|prted)
    mkdir "/dev/shm/.ending-${daemon#/proc/}" && kill -TERM $(cat "$daemon"/task/*/children)
  esac
done 2>/dev/null
"""

WAIT = """\
rm -rf /dev/shm/.ending-*
/usr/sbin/sshd -De -f {server} -o "SetEnv=PATH=$PATH${{LD_LIBRARY_PATH:+ LD_LIBRARY_PATH=$LD_LIBRARY_PATH}}" &
trap 'ending=1' TERM
wait $!; code=$?
[ "$ending" ] || exit $code
sh {end}
while cat /proc/[0-9]*/comm 2>/dev/null | grep -qx 'orted\\|prted'; do sleep 1; done
"""
"""What a worker runs: sshd with the container's own search paths; sshd alone would end at once when it is told to, and
with it the container and whatever a rank is saving."""

START = """\
trap 'ending=1; for host in $hosts; do ssh -F {client} "$host" sh {end} & done' TERM
hosts=$(cut -d" " -f1 {hosts})
for host in $hosts; do
  until ssh -F {client} "$host" true 2>/dev/null; do [ "$ending" ] && exit 143; sleep 2; done
done
mpirun "$@" &
started=$!
wait $started; code=$?
while kill -0 $started 2>/dev/null; do wait $started; code=$?; done
[ "$ending" ] && exit 143
exit $code
"""
"""What the starting pod runs: it waits for every worker, since a queued job gets its launcher at once, whatever its
launcherCreationPolicy says (mpi-operator v0.8.2 under kueue v0.19.2, seen). Told to end, it tells the ranks: mpirun by
itself would kill them after a second. Then it fails whatever they end with, since such a run is not done.
"""

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
        return frozenset({*TORCH, *settings("")})

    def implied(self, _run: Run) -> Mapping[str, Implied]:
        """Return the pod that starts the ranks."""
        return {STARTER: Implied("launcher mpirun starts the ranks from it", cpus=1, memory="2Gi")}

    def launch(self, run: Run, sizing: Sizing, wiring: Wiring) -> Launch:
        """Return workers that wait for ranks, and the pod that starts them and whose end is the run's."""
        worker, starter = sizing.worker, sizing.role(STARTER)
        wait = Role(worker, ("sh", "-c", WAIT.format(server=path(SERVER), end=path(END))))
        ranks = worker.nodes.value * worker.processes.value
        shared = handed_on(run, sizing, wiring)
        options = ("-np", str(ranks), "--hostfile", wiring.hostfile, "--map-by", "slot", "--bind-to", "none")
        names = [part for name in ("PATH", *forwarded(run, shared)) for part in ("-x", name)]
        script = START.format(hosts=wiring.hostfile, client=path(CLIENT), end=path(END))
        arguments = (*options, *names, "python", *program(run))
        start = Role(starter, ("sh", "-c", script, "mpirun"), arguments, {**shared, **settings(network(run))})
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


def settings(eth: str) -> dict[str, Sized[str]]:
    """Return Open MPI's parameters by the names that releases 4 and 5 read; of several interfaces it tries all."""
    agent = Sized(f"ssh -F {path(CLIENT)}", "ssh as the workers' sshd wants it")
    near = Sized(eth, f"{eth}: the cluster network; rails of the fabric have no routes to each other")
    return {
        "OMPI_MCA_plm_rsh_agent": agent,
        "PRTE_MCA_plm_ssh_agent": agent,
        "OMPI_MCA_oob_tcp_if_include": near,
        "PRTE_MCA_oob_tcp_if_include": near,
        "OMPI_MCA_btl_tcp_if_include": near,
    }


def path(name: str) -> str:
    """Return where a file of ours is in every pod."""
    return posixpath.join(LAUNCH_FOLDER, name)


def ssh(wiring: Wiring) -> dict[str, str]:
    """Return what is for all pods: both ends of ssh, with one key that only pods of the run have, and no passwords.

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
        "  ConnectTimeout 10",
        "  StrictHostKeyChecking no",
        "  UserKnownHostsFile /dev/null",
        "  LogLevel ERROR",
    ]
    return {SERVER: "\n".join(server) + "\n", CLIENT: "\n".join(client) + "\n", END: TELL}


LAUNCHER = Mpirun()
