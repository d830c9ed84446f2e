"""Say what runs: version, pid, memory, last line of the log of what died."""

from . import paths
from .procs import Processes, memory_mib


def main() -> int:
    """Print every cluster with its processes; return 3 where none runs."""
    found = False
    for run in sorted(paths.HOME.glob("run*")):
        procs = Processes(run)
        if not procs.state["processes"]:
            continue
        found = True
        print(
            f"{run.name}: Kubernetes {procs.state.get('kubernetes')} at {procs.state.get('server')}, "
            f"up in {procs.state.get('seconds', '?')} s, KUBECONFIG={run}/kubeconfig"
        )
        for name, p in procs.state["processes"].items():
            if procs.alive(name):
                print(f"  {name:26} pid {p['pid']:<8} {memory_mib(p['pid']):5d} MiB")
            else:
                print(f"  {name:26} DEAD; {procs.tail(name, 1)}")
    if not found:
        print("nothing runs")
    return 0 if found else 3
