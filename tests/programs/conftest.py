"""What tests of training programs share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ranks import Launcher


@pytest.fixture
def train(tmp_path: Path) -> Iterator[Launcher]:
    """Start training programs on a folder of checkpoints of their own."""
    launcher = Launcher(tmp_path / "checkpoints", tmp_path / "errors")
    yield launcher
    launcher.end()
