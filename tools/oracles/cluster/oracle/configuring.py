"""Restart Kueue with another configuration, read from standard input as YAML or JSON.

Fields that tie Kueue to this machine (addresses, ports, certificates) stay as they are.
"""

import argparse
import sys

import yaml

from . import paths
from .operators import merged_configuration
from .procs import Processes


def main() -> int:
    """Write the configuration, and start Kueue anew with it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--name", default="default", help="of the cluster")
    args = parser.parse_args()
    run = paths.run_dir(args.name)
    procs = Processes(run)
    if not procs.alive("kueue"):
        print(f"cluster {args.name!r} runs no Kueue: start one with ./up --operators kueue", file=sys.stderr)
        return 2
    given = yaml.safe_load(sys.stdin.read()) or {}
    first, file = run / "kueue" / "config.first.yaml", run / "kueue" / "config.yaml"
    if not first.exists():
        first.write_text(file.read_text())
    file.write_text(yaml.safe_dump(merged_configuration(yaml.safe_load(first.read_text()), given)))
    procs.restart("kueue")
    procs.wait("kueue", 120)
    return 0
