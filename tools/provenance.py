"""What a release was made from, as an in-toto statement with SLSA's provenance; unsigned, for whoever releases to sign.

Source: in-toto attestation v1 spec/v1/statement.md; slsa.dev/spec/v1.0/provenance.
"""

from __future__ import annotations

import hashlib
import json
import platform
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

BUILD = "https://trainyard.dev/make-dist/v1"
"""Names how it was built: by `make dist` in a checkout of the commit, which anybody may repeat and compare."""

LOCK = "tools/locks/develop.txt"
"""What builds, by hash."""


def statement(files: Iterable[Path], commit: str, lock: bytes) -> str:
    """Return the statement about files as JSON; `commit` is Git's id of what they were built from.

    It holds no time and no name of a machine, so that two builds of a commit by one Python say the same.
    """
    value: dict[str, Any] = {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": file.name, "digest": {"sha256": digest(file.read_bytes())}} for file in sorted(files)],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": BUILD,
                "externalParameters": {"commit": commit},
                "internalParameters": {"python": platform.python_version(), "zlib": zlib.ZLIB_RUNTIME_VERSION},
                "resolvedDependencies": [
                    {"name": "source", "digest": {"gitCommit": commit}},
                    {"name": LOCK, "digest": {"sha256": digest(lock)}},
                ],
            },
            "runDetails": {"builder": {"id": BUILD}},
        },
    }
    return json.dumps(value, indent=1) + "\n"


def digest(data: bytes) -> str:
    """Return the SHA-256 of bytes."""
    return hashlib.sha256(data).hexdigest()
