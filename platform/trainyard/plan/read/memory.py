"""What plans found out before, kept where no checkout can write."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from trainyard.system.cache import Cache, key


@dataclass(frozen=True)
class Memory:
    """Values under everything that they follow from; without a store, or a key of the code, nothing is remembered."""

    store: Cache | None = None
    code: str = ""
    """A key of the code that finds them out."""

    def get(self, *parts: str | bytes) -> Any:
        """Return what was kept, None where nothing was."""
        data = self.store.get(key(self.code, *parts)) if self.store and self.code else None
        return json.loads(data) if data else None

    def put(self, value: Any, *parts: str | bytes) -> None:
        """Keep a value, which JSON can hold."""
        if self.store and self.code:
            self.store.put(key(self.code, *parts), json.dumps(value, separators=(",", ":")).encode())
