"""Rows say which variables operators set: all that real ones were seen to set, and none that nobody saw."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from trainyard.render.kinds import kinds
from trainyard.upstream.workloads import Carrier, carrier_of, carriers

FOLDER = Path(__file__).parents[1] / "local"
SENT = frozenset({"FIRST", "SECOND", "ZERO"})
"""Variables of the manifests that were sent, and of their runtimes."""

OLDER = "mpijob-v1"
"""MPIJob as the training operator has it, which is no version that is rendered or has a row of its own."""

VARIABLE = re.compile(r"^    env (\w+)[= ]")


def recorded() -> Iterator[tuple[str, Carrier, set[str]]]:
    """Yield every recording: its name, the row of its kind, and the variables that the operator set in any pod."""
    for path in sorted((FOLDER / "recorded").glob("*.txt")):
        values = [item for item in yaml.safe_load_all((FOLDER / "jobs" / f"{path.stem}.yaml").read_text()) if item]
        row = next(row for value in values if (row := carrier_of(value)) is not None and row.trains)
        names = {found[1] for line in path.read_text().splitlines() if (found := VARIABLE.match(line))}
        if path.stem != OLDER:
            yield path.stem, row, names - SENT


RECORDED = {name: (row, names) for name, row, names in recorded()}


@pytest.mark.parametrize(("row", "names"), RECORDED.values(), ids=RECORDED)
def test_a_row_has_all_that_its_operator_was_seen_to_set(row: Carrier, names: set[str]) -> None:
    """No variable of a real pod, beside those of its manifest, is unknown to the row of its kind."""
    assert row.variables is not None
    assert {name for name in names if not row.variables.may_be(name)} == set()


def test_a_row_has_no_variable_that_no_operator_was_seen_to_set() -> None:
    """Variables that a row names one by one were all seen in some pod of its kind."""
    seen: dict[str, set[str]] = {}
    for row, names in RECORDED.values():
        seen.setdefault(row.kind if row.group != "batch.volcano.sh" else "VolcanoJob", set()).update(names)
    for kind in kinds().values():
        known = kind.carrier.variables
        assert known is not None
        named = known.every.union(*known.by_role.values())
        assert named <= seen[kind.name], kind.name


def test_every_kind_that_trains_says_what_is_set() -> None:
    """Of a kind whose variables nobody knows, no reference in an argument is judged."""
    assert {row.kind for row in carriers().values() if row.trains and row.variables is None} == {"AppWrapper"}


ROLES = {
    ("PaddleJob", "master", "PADDLE_SERVER_NUM"): True,
    ("PaddleJob", "worker", "PADDLE_SERVER_NUM"): False,
    ("PaddleJob", "worker", "PADDLE_TRAINER_NUM"): True,
    ("MPIJob", "launcher", "NVIDIA_VISIBLE_DEVICES"): True,
    ("MPIJob", "worker", "NVIDIA_VISIBLE_DEVICES"): False,
    ("RayJob", "submitter", "RAY_ADDRESS"): False,
    ("RayJob", "head", "RAY_USAGE_STATS_EXTRA_TAGS"): True,
    ("TrainJob", "launcher", "OMPI_MCA_plm_rsh_args"): True,
}


@pytest.mark.parametrize(("case", "sets"), ROLES.items(), ids=[" ".join(case) for case in ROLES])
def test_roles_differ(case: tuple[str, str, str], sets: bool) -> None:
    """A kind of ours sets in a role's pods what its row says of the role."""
    kind, role, name = case
    assert (name in kinds()[kind].injected(role)) is sets
