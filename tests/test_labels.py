"""Labels and annotations are written once: who needs one names it."""

from __future__ import annotations

from sources import Read, package, read
from trainyard.base import labels

ELSEWHERE = ("base/labels.py", "upstream/apiserver/", "judge/checks/", "checks.py")
"""Where they may be spelled: their home, a package that could be one of its own, and for now the checks."""

ALONE = {"faces/pipelines/follow.py", "render/parts/snapshot_program.py"}
"""Programs that run elsewhere, without this package."""

WORDS = {value for name, value in vars(labels).items() if name.isupper() and isinstance(value, str)}


def spelled(text: str) -> set[str]:
    """Return the labels that a module spells out, docstrings apart."""
    return words(read(text))


def words(module: Read) -> set[str]:
    """Return the labels in the texts of a module."""
    return {word for word in WORDS for text in module.texts if word in text}


def test_labels_are_spelled_at_one_place():
    """A label that two modules spell is one that half of the code forgets to change."""
    found = {
        name: found
        for name, module in package().items()
        if name not in ALONE and not name.startswith(ELSEWHERE) and (found := words(module))
    }
    assert found == {}


def test_a_label_that_is_spelled_would_be_found():
    """In a constant or in a part of a text, but not in what a docstring explains."""
    assert spelled('A = "trainyard.dev/pool"\n') == {"trainyard.dev", "trainyard.dev/pool"}
    assert spelled('A = f"{x}: kueue.x-k8s.io/queue-name"\n') == {"kueue.x-k8s.io/queue-name"}
    assert spelled('"""About trainyard.dev/pool."""\n') == set()
