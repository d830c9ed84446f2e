"""Stop every process that `up` started."""

import argparse
import shutil

from . import paths
from .procs import Processes
from .standins import OWN


def main() -> int:
    """Stop a cluster, and delete its folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", default="default")
    parser.add_argument("--keep", action="store_true", help="keep the run folder: logs, data, certificates")
    args = parser.parse_args()
    run = paths.run_dir(args.name)
    stopped = Processes(run).stop() + Processes(run / OWN).stop() if run.exists() else 0
    print(f"stopped {stopped} processes")
    if not args.keep:
        shutil.rmtree(run, ignore_errors=True)
    return 0
