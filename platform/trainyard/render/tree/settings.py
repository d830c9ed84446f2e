"""What decides on the base of a change, of a `repository.yaml` that need not be valid."""

from __future__ import annotations

from typing import Any

from trainyard.base.documents import load
from trainyard.base.system.repository import SETTINGS


def settings(data: bytes) -> tuple[bool, str]:
    """Return `live` and `revision` from the text of a `repository.yaml`, which need not be valid.

    What does not say `false` is taken as live: a slip in this file must not thaw what clusters run.
    """
    documents, _ = load(data, file=SETTINGS)
    value: Any = documents[0].value if documents else None
    found = value if isinstance(value, dict) else {}
    return found.get("live") is not False, str(found.get("revision") or "main")
