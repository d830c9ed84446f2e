"""What a storage class lacks, and the access modes it offers, from the facts about storage drivers."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.manifests import Manifest, strings


def lacking(storage: Manifest) -> Iterator[tuple[str, str]]:
    """Yield the parameters that a class lacks and the driver that needs them; nothing for an unknown driver.

    The facts are imported here: few foreign files have a storage class, and reading models takes long.
    """
    from trainyard.specs.drivers import driver

    known = driver(storage.text("provisioner"))
    if known is None:
        return
    given = strings(storage.get("parameters"))
    yield from ((name, known.title) for name in known.missing(given))
    stages = known.without_secret(given)
    if stages:
        yield f"the secrets of {', '.join(stages)}", known.title


def access_modes(storage: Manifest) -> tuple[str, tuple[str, ...]] | None:
    """Return the title of a class's driver and the access modes that it has; None for an unknown driver."""
    from trainyard.specs.drivers import driver

    known = driver(storage.text("provisioner"))
    return None if known is None else (known.title, known.access)
