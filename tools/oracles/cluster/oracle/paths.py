"""Where things are."""

import os
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
MODULES = HERE / "modules"
HOME = Path(os.environ.get("ORACLES_HOME") or Path.home() / ".cache/trainyard-oracles")
BIN = HOME / "bin"
MANIFESTS = HOME / "manifests"
CACHE = HOME / "cache"
CRDS = Path(os.environ.get("ORACLES_CRDS") or HOME / "crds")
"""Upstream's CRDs: `<project>/<release>/*.yaml`."""

CHARTS = Path(os.environ.get("ORACLES_CHARTS") or HOME / "charts")
"""Upstream's charts: `<name>/<release>/Chart.yaml`."""


def run_dir(name: str) -> Path:
    """Return the folder of the cluster of that name."""
    return HOME / ("run" if name == "default" else f"run-{name}")
