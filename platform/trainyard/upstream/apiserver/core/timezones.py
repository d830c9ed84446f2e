"""Names of time zones, as Go's database has them.

Source: the IANA time zone database, through Python's zoneinfo.
"""

from __future__ import annotations

from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError


@lru_cache(maxsize=256)
def is_zone(name: str) -> bool:
    """Whether a time zone of that name exists; empty means UTC. Without a database every name does."""
    return name in {"", "UTC"} or _loads(name) or not _loads("Etc/UTC")


def _loads(name: str) -> bool:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True
