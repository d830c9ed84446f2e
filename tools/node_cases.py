"""Compares our kubelet with the real one's code on thousands of drawn cases, and prints how far they agree.

Needs the oracle, a program that reads cases and answers with the kubelet's own managers, and can ask it several times
(`-repeat`): where its answer depends on the order of a Go map, the case is unstable and does not count. Exit code 1
where less than 99.9 % of the outcomes agree, or less than 99 % of what containers get.
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "platform"), str(ROOT / "tests")]

from kubelet.agreement import configurations, spread  # noqa: E402 - tests/ is no package that is installed
from kubelet.agreement.cases import cases  # noqa: E402
from kubelet.agreement.compare import Tally  # noqa: E402
from trainyard.base.documents import load  # noqa: E402
from trainyard.upstream.kubelet.answers import answer  # noqa: E402
from trainyard.upstream.kubelet.releases import MEASURED, RELEASE  # noqa: E402

AGREEMENT = ROOT / "tests" / "kubelet" / "agreement"
COMMENTED = ROOT / "tests" / "kubelet" / "cases"
"""Cases that people wrote, which stand there with their answers and are not recorded again."""

LONGEST_WALK = 200_000
"""Permutations of hints that the oracle may walk through for a pod; each takes it a microsecond."""

SPREADING = 20
"""For so many drawn cases, one whose kubelet spreads CPUs over NUMA nodes and aligns them by socket."""

BATCH = 250
BATCH_SECONDS = 300


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--oracle", required=True, help="the program that answers for the kubelet")
    parser.add_argument("--release", default=RELEASE, choices=MEASURED, help="the minor that the program is of")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--cases", type=int, default=10_000, help="cases to draw")
    parser.add_argument("--also", type=Path, help="a folder of cases of one's own, to compare too")
    parser.add_argument("--record", type=int, metavar="N", help="write N of the drawn cases to its recorded answers")
    parser.add_argument("--differences", type=Path, help="write every disagreement there, a line each")
    return parser.parse_args()


def main() -> int:
    """Run, print the table and the disagreements."""
    options = arguments()
    read = [*(written_cases(options.also) if options.also else ()), *written_cases(COMMENTED)]
    spreading = spread.cases(options.seed, options.cases // SPREADING)
    own = [*read, *configurations.cases(options.release), *spreading]
    drawn = [case for case in cases(options.seed, options.cases) if not walks_long(ours_of(case, options.release))]
    tally, unstable, kept = Tally(), 0, []
    for batch in batches([*own, *drawn]):
        for case, theirs in zip(batch, oracle_answers(options.oracle, batch), strict=True):
            ours = ours_of(case, options.release)
            if ours != theirs and oracle_answers(options.oracle, [case], "-repeat", "25")[0].get("unstable"):
                unstable += 1
                continue
            if case not in read or (options.release != RELEASE and theirs != ours_of(case, RELEASE)):
                kept.append({"case": case, "answer": theirs})
            tally.add(ours, theirs)
    print(f"{len(drawn)} drawn cases and {len(own)} written ones, {unstable} of them unstable")
    print(tally.table())
    print("\n".join(tally.differences[:20]))
    if options.differences:
        options.differences.write_text("".join(f"{difference}\n" for difference in tally.differences))
    if options.record is not None:
        record(kept[: len(kept) - len(drawn) + options.record], AGREEMENT / configurations.recorded(options.release))
    return int(tally.share("outcomes") < 0.999 or tally.share("assigned") < 0.99)


def ours_of(case: dict[str, Any], release: str) -> dict[str, Any]:
    """Return our answer to a case for a minor, as it is read back from JSON."""
    found: dict[str, Any] = plain(answer({**case, "kubernetes": release}))
    return found


def written_cases(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the cases of a folder's YAML files."""
    for path in sorted(folder.rglob("*.yaml")):
        documents, _ = load(path.read_bytes(), file=str(path))
        yield from (document.value for document in documents)


def walks_long(ours: dict[str, Any]) -> bool:
    """Whether the oracle would be busy for long with a case that it does walk through."""
    return any(pod.get("permutations", 0) > LONGEST_WALK for pod in ours.get("pods", ()))


def batches(items: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Yield the cases that are asked together."""
    iterator = iter(items)
    while batch := list(islice(iterator, BATCH)):
        yield batch


def oracle_answers(oracle: str, batch: Sequence[dict[str, Any]], *flags: str) -> list[dict[str, Any]]:
    """Return the oracle's answers."""
    text = "".join(json.dumps(case) + "\n" for case in batch)
    command = [oracle, *flags]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True, timeout=BATCH_SECONDS)
    return [json.loads(line) for line in done.stdout.splitlines()]


def plain(value: Any) -> Any:
    """Return a value as it is read back from JSON."""
    return json.loads(json.dumps(value))


def record(kept: Sequence[dict[str, Any]], path: Path) -> None:
    """Write cases with the oracle's answers, the same bytes each time."""
    lines = "".join(json.dumps(one_case, separators=(",", ":")) + "\n" for one_case in kept)
    path.write_bytes(gzip.compress(lines.encode(), mtime=0))


if __name__ == "__main__":
    sys.exit(main())
