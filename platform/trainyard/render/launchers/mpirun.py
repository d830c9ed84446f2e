"""mpirun: one pod starts all ranks over ssh, one a slot; Open MPI 4 and 5.

The workers run sshd as the user that they are, below port 1024's mark and with keys that the kind mounts. A session of
ssh has the container's own environment, so ranks have what they would have without mpirun: the image's variables, the
job's and the fabric's. When pods have to end, the ranks are told at once and once, so that they have the pods' grace to
save.
Facts: Open MPI v4.1 and v5.0 mpirun(1); openssh-portable V_9_6 sshd_config(5); mpi-operator v0.8.2 pkg/controller.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping

from trainyard.base.findings import Finding
from trainyard.base.rules import Rule
from trainyard.render.launchers.base import Launcher
from trainyard.render.launchers.commands import start_command, threads
from trainyard.render.launchers.launch import Launch, Role, Wiring
from trainyard.render.parts.storage import LAUNCH_FOLDER
from trainyard.render.sizing import Implied, RoleSize, Sized, Sizing
from trainyard.render.sizing.environment import interface
from trainyard.specs.run import Run

STARTER = "launcher"
PORT = 2222
"""Where sshd listens: ports below 1024 are the root user's."""

PATIENCE = 1800
"""Seconds for all workers to come up, big images and new nodes included; then the launcher fails, and frees the rest.

A worker that its node evicts is never made anew (mpi-operator v0.8.2 getOrCreateWorker), so waiting has to end.
"""

SERVER, CLIENT, SESSION, RANK, END = "sshd_config", "ssh_config", "session.sh", "rank.sh", "end.sh"
"""Files of ours in every pod."""

ENVIRONMENT = "/dev/shm/.environment"  # noqa: S108 - memory of the pod, which its user alone may read
"""Where a worker keeps its container's variables."""

TELL = """\
# Tells the ranks in this container to end, once, however many ask for it; fails while there are any.
# Kills what is still there so many seconds later as its argument says.
daemon() {
  read -r name < "/proc/$1/comm" && [ "$name" = orted -o "$name" = prted ]
}
left=0
for folder in /proc/[0-9]*; do
  id=${folder#/proc/} ranks=
  daemon "$id" || continue
  for child in $(cat "$folder"/task/*/children); do
    daemon "$child" || ranks="$ranks $child $(cat "/proc/$child/task/"*/children)"
  done
  mkdir "/dev/shm/.ending-$id" && kill -TERM $ranks
  [ "$1" ] && [ $(($(date +%s) - $(stat -c %Y "/dev/shm/.ending-$id"))) -ge "$1" ] && kill -KILL $ranks "$id"
  left=1
done 2>/dev/null
[ "$1" ] && rm -rf /dev/shm/.done-*
exit $left
"""
"""Ranks are what Open MPI's daemons have started: orted of release 4, and the second of two prted of release 5."""

RUN = """\
# A rank, which leaves word if it ends well, and not because it was told to.
trap 'told=1' TERM
"$@"
code=$?
[ "$told" ] || [ $code -ne 0 ] || mkdir "/dev/shm/.done-$OMPI_COMM_WORLD_RANK"
exit $code
"""

ENTER = f"""\
# A session of ssh: what it is asked to run, in the environment of the container.
. {ENVIRONMENT}
exec sh -c "$SSH_ORIGINAL_COMMAND"
"""

WAIT = f"""\
(umask 077; export -p > {ENVIRONMENT})
rm -rf /dev/shm/.ending-* /dev/shm/.done-* /dev/shm/.rank-*
/usr/sbin/sshd -De -f {{server}} &
trap 'ending=1' TERM
wait $!; code=$?
[ "$ending" ] || exit $code
until sh {{end}}; do sleep 1; done
"""
"""What a worker runs; sshd alone would end at once when it is told to, and with it the container and whatever a rank is
saving.
"""

START = f"""\
ssh -V || exit 1
trap 'ending=1; for host in $hosts; do ssh -F {{client}} "$host" sh {{end}} & done' TERM
hosts=$(cut -d" " -f1 {{hosts}})
late=$(($(date +%s) + {PATIENCE} + {{grace}}))
for host in $hosts; do
  until ssh -F {{client}} "$host" sh {{end}} {{grace}} 2>/dev/null; do
    [ "$ending" ] && exit 143
    [ "$(date +%s)" -ge $late ] && echo "$host is not ready, or its old ranks do not end" >&2 && exit 1
    sleep 2
  done
done
mpirun "$@" &
started=$!
wait $started; code=$?
while kill -0 $started 2>/dev/null; do wait $started; code=$?; done
[ "$ending" ] && exit 143
[ $code -eq 0 ] || exit $code
for host in $hosts; do
  ssh -F {{client}} "$host" 'set -- /dev/shm/.done-*; [ -d "$1" ] && [ $# -eq {{ranks}} ]' && continue
  echo "not all ranks of $host have ended well" >&2
  exit 1
done
"""
"""What the starting pod runs; an image without ssh, or without a name for its user, ends it at once.

It waits for every worker, since a queued job gets its launcher at once, whatever its launcherCreationPolicy says
(mpi-operator v0.8.2 under kueue v0.19.2, seen), and for ranks that a launcher before it left there, which have the
pods' grace, so that no two attempts train at once. Told to end, it tells the ranks: mpirun by itself would kill them
after a second. Then it fails whatever they end with, since such a run is not done; and so it does where mpirun says
that all is well and ranks do not: release 5 may end with 0 when it has lost a worker (5.0.11, seen).
"""

TORCH = ("MASTER_ADDR", "MASTER_PORT")


KEY = Rule(
    id="run/mpirun-root",
    title="Ranks that mpirun starts over ssh do not run as root.",
    why="the mounted key belongs to root and is readable by others, which ssh and sshd refuse",
    fix="set runAsUser to another user, or use torchrun",
    source="openssh-portable authfile.c sshkey_perm_ok; mpi-operator v0.8.2 pkg/controller/mpi_job_controller.go",
    layer="run",
)


class Mpirun(Launcher):
    """Start the program with mpirun, from a pod of its own."""

    name = "mpirun"
    needs = frozenset({"ssh", "hosts"})
    alone = frozenset({"ssh", "hosts"})
    role_names = single = frozenset({STARTER})
    takes = frozenset({"program", "module", "command"})
    own_end = 2

    @property
    def variables(self) -> frozenset[str]:
        """Variables of Open MPI that are set here, and those by which torch.distributed finds its store."""
        return frozenset({*TORCH, *settings("")})

    def check(self, run: Run) -> Iterator[Finding]:
        """Yield the findings of every launcher, and one on root, whose ssh refuses the key that the operator mounts."""
        yield from super().check(run)
        said = run.job.run_as_user if run.job.run_as_user is not None else run.team.run_as_user
        if said == 0:
            message = "runAsUser is 0, but root's ssh refuses the key that the operator mounts; use another user"
            yield KEY.at(run.source, ("runAsUser",) if run.job.run_as_user is not None else ("launcher",), message)

    def ports(self, wiring: Wiring) -> Mapping[int, str]:
        """Return where sshd listens, and where ranks meet that PyTorch runs."""
        return {**super().ports(wiring), PORT: "sshd listens"}

    def implied(self, _run: Run) -> Mapping[str, Implied]:
        """Return the pod that starts the ranks."""
        return {STARTER: Implied(f"launcher {self.name} starts the ranks from it", cpus=1, memory="2Gi")}

    def settings(self, run: Run, _sizing: Sizing) -> dict[str, Sized[str]]:
        """Return Open MPI's parameters for the pod that starts the ranks."""
        return settings(network(run))

    def launch(self, run: Run, sizing: Sizing, wiring: Wiring) -> Launch:
        """Return workers that wait for ranks, and the pod that starts them and whose end is the run's."""
        worker, starter = sizing.worker, sizing.role(STARTER)
        wait = WAIT.format(server=path(SERVER), end=path(END))
        here = {"hosts": wiring.hostfile, "client": path(CLIENT), "end": path(END)}
        start = START.format(**here, grace=sizing.grace.value, ranks=worker.processes.value)
        ranks = worker.nodes.value * worker.processes.value
        options = ("-np", str(ranks), "--hostfile", wiring.hostfile, "--map-by", "slot", "--bind-to", "none")
        rank = ("sh", path(RANK), *start_command(run))
        roles = (
            Role(worker, ("sh", "-c", wait), env=of_ranks(worker, wiring)),
            Role(starter, ("sh", "-c", start, "mpirun"), (*options, *rank), self.settings(run, sizing)),
        )
        return Launch(roles, ends=(STARTER,), files=ssh(wiring))


def network(run: Run) -> str:
    """Return the interface by which ranks meet: the cluster network's, since rails have no routes to each other."""
    return interface(run.cluster)


def of_ranks(worker: RoleSize, wiring: Wiring) -> dict[str, Sized[str]]:
    """Return the variables of the ranks beyond those of all of the job's containers: threads, and rank 0."""
    why = "the first worker, for programs that use torch.distributed"
    return {
        "OMP_NUM_THREADS": threads(worker.cpus.value, worker.processes.value),
        "MASTER_ADDR": Sized(wiring.master, why),
        "MASTER_PORT": Sized(str(wiring.port), "the port of torch.distributed"),
    }


def settings(eth: str) -> dict[str, Sized[str]]:
    """Return Open MPI's parameters by the names that releases 4 and 5 read; of several interfaces it tries all."""
    agent = Sized(f"ssh -F {path(CLIENT)}", "SSH settings that the workers' sshd needs")
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
    """Return the ssh files of all pods: both ends, with one key that only pods of the run have, and no passwords.

    The key belongs to root and its group may read it, so what looks at the modes of files is off.
    """
    key, allowed = (posixpath.join(wiring.keys, name) for name in ("id_rsa", "authorized_keys"))
    server = [
        f"Port {PORT}",
        f"HostKey {key}",
        f"AuthorizedKeysFile {allowed}",
        "AuthenticationMethods publickey",
        f"ForceCommand sh {path(SESSION)}",
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
    texts = {SERVER: "\n".join(server) + "\n", CLIENT: "\n".join(client) + "\n"}
    return {**texts, SESSION: ENTER, RANK: RUN, END: TELL}


LAUNCHER = Mpirun()
