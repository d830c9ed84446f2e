"""Compares `trainyard admit` with what becomes of the rendered runs on a running cluster, and prints what differs.

Needs a cluster to throw away with kube-scheduler, KWOK, Kueue and the operators of jobs, and without nodes of its own.
Asked are the clusters of this repository as they are (seed 0), and with small changes by chance: of quotas, limits,
preemption, nodes, priorities and jobs. Each is rendered, synced and left alone until nothing moves. A cluster that does
something else is asked again, with fresh nodes: where it does now this, now that with a job, as pods of several jobs
come to nodes and preempted ones end in any order, neither is right or wrong, and the job is counted apart. Exit code 1
where anything else differs.
"""

from __future__ import annotations

import argparse
import gzip
import json
import shlex
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "platform"), str(ROOT / "tests")]

from admission.compare import disagreements  # noqa: E402 - tests/ is no package that is installed
from admission.oracle import Object, Oracle  # noqa: E402
from admission.variations import CLUSTERS, NATIVE, case, gangs  # noqa: E402
from trainyard.faces.cli.admit import document  # noqa: E402
from trainyard.judge.admission.site import site  # noqa: E402
from trainyard.judge.admission.verdicts import Verdict, verdicts  # noqa: E402

OFTEN = 4
"""How often a cluster is asked that does something else."""


class Asked:
    """What the cluster was asked, and how often it agreed."""

    def __init__(self, kubeconfig: Path, configure: str | None) -> None:
        self.oracle, self.configure = Oracle(kubeconfig), configure
        self.configured: Object = {}
        self.said: Counter[str] = Counter()
        self.differ = self.unstable = 0
        self.lines: list[str] = []

    def ask(self, cluster: str, seed: int) -> None:
        """Render one case, have the cluster decide, and print what it did otherwise than is said."""
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder) / "repository"
            drawn = gangs(root, seed) if cluster == NATIVE else case(root, cluster, seed)
            checked = drawn.written(root)
            subprocess.run([sys.executable, "-m", "trainyard", "synth", "--quiet"], cwd=root, check=True)
            where = site(checked.specs, cluster)
            self.restart(dict(where.config))
            found = [verdict for verdict in verdicts(checked, clusters=[cluster]) if not verdict.ask.why]
            bids = [verdict.ask for verdict in found]
            every: list[Object] = []
            while not every or (len(every) < OFTEN and any(wrongs(found, every[-1]).values())):
                every.append(self.oracle.answer(root / "generated" / cluster, where, bids))
        said = [wrongs(found, answers) for answers in every]
        for verdict in found:
            mine = [wrong[verdict.ask.name] for wrong in said]
            self.said[verdict.word] += 1
            self.differ += all(mine)
            self.unstable += any(mine) and not all(mine)
            for one in dict.fromkeys(one for wrong in mine for one in wrong):
                often = f"{sum(one in wrong for wrong in mine)} of {len(mine)} times"
                print(f"{cluster} {seed}: {verdict.ask.name} {verdict.word}: {often} {one}", flush=True)
        drawing = {"cluster": cluster, "fields": drawn.fields, "jobs": drawn.jobs}
        self.lines.append(json.dumps({**drawing, "answers": every}))

    def restart(self, config: Object) -> None:
        """Have Kueue configured as the cluster's is, where that is another configuration than before."""
        if self.configure and config != self.configured:
            subprocess.run(shlex.split(self.configure), input=json.dumps(config), text=True, check=True)
        self.configured = config


def wrongs(found: Sequence[Verdict], answers: Object) -> dict[str, list[str]]:
    """Return the differences between a cluster's answers and ours, by job."""
    return {
        verdict.ask.name: [*disagreements(json.loads(json.dumps(document(verdict, {}))), answers[verdict.ask.name])]
        for verdict in found
    }


def main() -> int:
    """Compare, and print what differs."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--kubeconfig", type=Path, required=True, help="of a cluster to throw away")
    parser.add_argument("--configure", help="command that restarts Kueue with the configuration on its standard input")
    parser.add_argument("--cluster", action="append", choices=(*CLUSTERS, NATIVE), help="only this one; repeatable")
    parser.add_argument("--count", type=int, default=10, help="how many cases of each cluster")
    parser.add_argument("--start", type=int, default=0, help="the first seed")
    parser.add_argument("--answers", type=Path, help="write every case and answer there, a line each, compressed")
    given = parser.parse_args()
    asked, begun = Asked(given.kubeconfig, given.configure), time.monotonic()
    for cluster in given.cluster or CLUSTERS:
        for seed in range(given.start, given.start + given.count):
            asked.ask(cluster, seed)
            if given.answers:
                given.answers.write_bytes(gzip.compress("\n".join(asked.lines).encode(), mtime=0))
    total = asked.said.total()
    chance = f"{asked.differ} differ, {asked.unstable} become now this, now that"
    print(f"{len(asked.lines)} clusters, {total} jobs, {chance}; {time.monotonic() - begun:.0f} s")
    for name, count in asked.said.most_common():
        print(f"{count:6} {name}")
    return int(asked.differ > 0)


if __name__ == "__main__":
    sys.exit(main())
