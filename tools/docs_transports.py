"""The page on transports of NCCL: the name that NCCL_NET takes on each fabric, and why some have none."""

from __future__ import annotations

from collections.abc import Iterator

from docs_fields import cell
from trainyard.specs.transports import Transport, transports

INTRODUCTION = """\
Transports and plugins of NCCL and RCCL, by the names that NCCL_NET takes. `make docs` writes this page from
`platform/trainyard/specs/transports`. NCCL uses the one that NCCL_NET names, in any case of letters. Where it is
missing, every rank fails with *Failed to initialize any NET plugin* (older releases: *network … not found*), and never
trains over TCP. A plugin of another name is loaded and never used (`nccl-net-plugin`)."""

COLUMNS = ("transport", "names", "comes from", "set for pods on", "source")


def page() -> Iterator[str]:
    """Yield the page."""
    yield from ("# Transports", "", *INTRODUCTION.splitlines(), "")
    yield f"| {' | '.join(COLUMNS)} |"
    yield "|---" * len(COLUMNS) + "|"
    for row in transports().values():
        yield f"| {' | '.join(map(cell, cells(row)))} |"


def cells(row: Transport) -> tuple[str, ...]:
    """Return the cells of a transport, by column."""
    given = ", ".join(f"`{fabric}`" for fabric in row.pods) or f"none: {row.unset}"
    library = f", `NCCL_NET_PLUGIN={row.library}`" if row.library else ""
    brought = "NCCL itself" if row.brought == "NCCL" else f"the {row.brought}{library}"
    sources = "; ".join(dict.fromkeys(row.sources.values()))
    return row.title, ", ".join(f"`{name}`" for name in row.names), brought, given, sources
