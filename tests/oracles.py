"""The Python parts of tools/oracles, which is no package that is installed."""

from __future__ import annotations

import sys

from conftest import ROOT

sys.path += [str(ROOT / "tools" / "oracles")]

import agree
import build
import minors
import older
import questions
from oracle import certs, components, manifests, operators, paths, pools

__all__ = [
    "agree",
    "build",
    "certs",
    "components",
    "manifests",
    "minors",
    "older",
    "operators",
    "paths",
    "pools",
    "questions",
]
