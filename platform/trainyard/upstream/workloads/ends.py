"""How a kind says that it has ended, well or not: by a condition that is true, or by a word in its status."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from trainyard.base.findings import Path
from trainyard.base.manifests import value_at

Result = Literal["succeeded", "failed"]


@dataclass(frozen=True, slots=True)
class End:
    """How an object ended, and what it says of why."""

    result: Result
    why: str = ""


@dataclass(frozen=True, slots=True)
class Ending:
    """What a kind says at its end; nothing else that it may say is one."""

    done: str
    """Condition, or word, of a good end."""
    failed: tuple[str, ...] = ("Failed",)
    word: Path | None = None
    """The field that says it in a word; None where conditions do."""
    reason: Path | None = None
    """The field beside it that says why."""

    def of(self, value: Mapping[str, Any]) -> End | None:
        """Return the end of an object; None as long as it waits or runs."""
        if self.word is not None:
            said = value_at(value, self.word)
            why = str(value_at(value, self.reason) or "") if self.reason else ""
            return self._end(said, why)
        conditions = value_at(value, ("status", "conditions"))
        for condition in conditions if isinstance(conditions, list) else ():
            if isinstance(condition, Mapping) and condition.get("status") == "True":
                end = self._end(condition.get("type"), str(condition.get("reason") or ""))
                if end is not None:
                    return end
        return None

    def _end(self, said: object, why: str) -> End | None:
        if said == self.done:
            return End("succeeded", why)
        return End("failed", why) if said in self.failed else None
