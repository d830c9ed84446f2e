"""horovod: ranks over ssh from one pod; of a fixed size by mpirun, and elastic by horovodrun and gloo.

Mpirun starts ranks in the order of the hostfile, and Horovod's controller is MPI. An elastic job has horovodrun's own
driver in the pod that mpirun would have: it asks a script of ours which workers run, starts a rank a slot over ssh, and
goes on with those that are left when one is lost. Ranks have the environment of their container, as mpirun's have.
Facts: horovod v0.28.1 horovod/runner/launch.py, gloo_run.py, elastic/driver.py, elastic/discovery.py, docs/mpi.rst;
mpi-operator v0.8.2 pkg/controller/mpi_job_controller.go updateDiscoverHostsInConfigMap.
"""

from __future__ import annotations

import posixpath

from trainyard.render.launchers.base import bounds
from trainyard.render.launchers.commands import program
from trainyard.render.launchers.launch import Launch, Role, Wiring
from trainyard.render.launchers.mpirun import (
    CLIENT,
    END,
    ENVIRONMENT,
    PATIENCE,
    RANK,
    SERVER,
    STARTER,
    WAIT,
    Mpirun,
    network,
    of_ranks,
    path,
    ssh,
)
from trainyard.render.sizing import Sized, Sizing
from trainyard.specs.run import Run

DISCOVER = "discover.sh"

SCRIPT = "discover_hosts.sh"
"""The operator's script beside the hostfile, which names the workers whose pods run."""

COOLDOWN = (30, 600)
"""Seconds for which a worker gets no rank after one of its has failed: first and most; for ever, unless it is said."""

ALIVE = """\
  ServerAliveInterval 15
  ServerAliveCountMax 4
"""
"""Ends the session of a rank whose node has died, which says nothing: else the driver waits for that rank for hours."""

REVEAL = """\
# The workers that run, in the order of the hostfile, and at each call one more of them.
# Horovod numbers ranks by how long it has known their hosts, so that they lie as the pods' indices do.
running=" $(echo $(sh {script})) "
known=0
[ -f /tmp/.known ] && read -r known < /tmp/.known
known=$((known + 1)) left=$known
echo $known > /tmp/.known
while read -r host rest; do
  case "$running" in *" $host "*) [ $left -gt 0 ] && echo "$host:{slots}" && left=$((left - 1)) ;; esac
done < {hosts}
exit 0
"""
"""What horovodrun asks once a second; of the lines of one answer it forgets the order."""

ENTERED = f"""\
# A rank, in the environment of its container: horovodrun would have it in that of its own.
. {ENVIRONMENT}
: > "/dev/shm/.rank-$$"
exec "$@"
"""

TELL = """\
# Tells the ranks in this container to end, once, however many ask for it; fails while there are any.
# Kills what is still there so many seconds later as its argument says.
left=0
for file in /dev/shm/.rank-*; do
  id=${file##*-}
  [ -d "/proc/$id" ] || { rm -rf "$file" "/dev/shm/.ending-$id"; continue; }
  mkdir "/dev/shm/.ending-$id" && kill -TERM "$id"
  [ "$1" ] && [ $(($(date +%s) - $(stat -c %Y "/dev/shm/.ending-$id"))) -ge "$1" ] && kill -KILL "$id"
  left=1
done 2>/dev/null
exit $left
"""

START = """\
ssh -V || exit 1
trap 'ending=1; for host in $hosts; do ssh -F {client} "$host" sh {end} & done' TERM
hosts=$(cut -d" " -f1 {hosts})
late=$(($(date +%s) + {patience} + {grace})) ready=0
for host in $hosts; do
  until ssh -F {client} "$host" sh {end} {grace} 2>/dev/null; do
    [ "$ending" ] && exit 143
    [ "$(date +%s)" -ge $late ] && echo "$host is not ready, or its old ranks do not end" >&2 && continue 2
    sleep 2
  done
  ready=$((ready + 1))
done
[ $ready -ge {least} ] || {{ echo "$ready workers are ready, but {least} are needed" >&2; exit 1; }}
mkdir -p /tmp/.bin && rm -f /tmp/.known
printf '#!/bin/sh\\nexec %s -F {client} "$@"\\n' "$(command -v ssh)" > /tmp/.bin/ssh && chmod +x /tmp/.bin/ssh
env -i HOME="$HOME" USER="$USER" LANG="$LANG" LD_LIBRARY_PATH="$LD_LIBRARY_PATH" PYTHONPATH="$PYTHONPATH" \\
  PYTHONUNBUFFERED=1 PATH="/tmp/.bin:$PATH" horovodrun -np $((ready * {slots})) "$@" &
started=$!
wait $started; code=$?
while kill -0 $started 2>/dev/null; do wait $started; code=$?; done
[ "$ending" ] && exit 143
exit $code
"""
"""What the starting pod of an elastic job runs.

It waits for every worker as long as mpirun's does, and goes on with enough of them. Horovodrun gets none of the pod's
other variables, since it writes all that it has into the command lines of the ranks. Told to end, the pod tells the
ranks, and horovodrun ends with them: by itself it would kill them after 5 seconds
(runner/common/util/safe_shell_exec.py GRACEFUL_TERMINATION_TIME_S).
"""


class Horovod(Mpirun):
    """Start a program of Horovod: by mpirun, or by horovodrun where it may go on with fewer workers."""

    name = "horovod"
    elastic = True
    takes = frozenset({"program", "module"})

    def launch(self, run: Run, sizing: Sizing, wiring: Wiring) -> Launch:
        """Return workers that wait for ranks, and the pod that starts them and whose end is the run's."""
        return super().launch(run, sizing, wiring) if run.job.min_nodes is None else elastic(run, sizing, wiring)

    def settings(self, run: Run, sizing: Sizing) -> dict[str, Sized[str]]:
        """Return Open MPI's parameters: where ranks have GPUs, NCCL carries their data and TCP what is left."""
        found = super().settings(run, sizing)
        if sizing.worker.gpus.value:
            why = "TCP for traffic outside of NCCL, as Horovod recommends"
            found |= {"OMPI_MCA_pml": Sized("ob1", why), "OMPI_MCA_btl": Sized("^openib", why)}
        return found


def elastic(run: Run, sizing: Sizing, wiring: Wiring) -> Launch:
    """Return how a job starts that goes on with as few workers as minNodes."""
    worker, starter = sizing.worker, sizing.role(STARTER)
    (least, most), slots = bounds(run.job), worker.processes.value
    start = START.format(
        client=path(CLIENT),
        end=path(END),
        hosts=wiring.hostfile,
        grace=sizing.grace.value,
        patience=PATIENCE,
        least=least,
        slots=slots,
    )
    options = (
        f"--min-np={least * slots}",
        f"--max-np={most * slots}",
        f"--network-interfaces={network(run)}",
        f"--host-discovery-script=sh {path(DISCOVER)}",
        f"--elastic-timeout={PATIENCE}",
        f"--reset-limit={2 * sizing.restarts.value}",
        "--blacklist-cooldown-range",
        *map(str, COOLDOWN),
    )
    command = ("sh", path(RANK), "python", *program(run))
    roles = (
        Role(worker, ("sh", "-c", WAIT.format(server=path(SERVER), end=path(END))), env=of_ranks(worker, wiring)),
        Role(starter, ("sh", "-c", start, "horovodrun"), (*options, *command)),
    )
    script = posixpath.join(posixpath.dirname(wiring.hostfile), SCRIPT)
    reveal = REVEAL.format(script=script, slots=slots, hosts=wiring.hostfile)
    files = ssh(wiring)
    files |= {CLIENT: files[CLIENT] + ALIVE, RANK: ENTERED, END: TELL, DISCOVER: reveal}
    return Launch(roles, ends=(STARTER,), files=files)


LAUNCHER = Horovod()
