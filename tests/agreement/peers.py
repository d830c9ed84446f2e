"""What another engine says of the same cases, so that the table has somebody to compare with."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from agreement.verdicts import Case, Ours
from trainyard.api import kubeconform
from trainyard.api.catalog import Catalog
from trainyard.system import kubeconform as program


def kubeconform_verdicts(cases: Sequence[Case], known: Catalog, root: Path) -> list[Ours]:
    """Return kubeconform's verdict on each case: strict, on the schemas that we use."""
    with tempfile.TemporaryDirectory(prefix="kubeconform-") as scratch:
        places = kubeconform.locations(known, Path(scratch) / "schemas")
        engine = kubeconform.Engine(program.find(root), places, Path(scratch) / "files")
        found = engine.run({index: case.source for index, case in enumerate(cases)})
    return [
        Ours(not found[index], "schema" if found[index] else "", "; ".join(each["msg"] for each in found[index])[:200])
        for index in range(len(cases))
    ]
