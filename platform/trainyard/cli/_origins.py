"""Where in the specs a generated file comes from, by the indexes that synth writes."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from trainyard.findings import Location
from trainyard.specs.run import Source
from trainyard.synth import index
from trainyard.system import files


class Origins:
    """Looks spec lines up; specs and indexes are read when a finding first asks for them."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._folder = lru_cache(maxsize=256)(self._load_folder)
        self._source = lru_cache(maxsize=256)(self._load_source)

    def line(self, file: str) -> Location | None:
        """Return the spec line of `generated/<cluster>/<folder>/<name>`, or None for a file that no index lists."""
        parts = file.split("/")
        if len(parts) < 4:
            return None
        cluster, name = parts[1], parts[-1]
        entry = self._folder(cluster, "/".join(parts[2:-1])).get(name)
        if entry is None:
            return None
        source = self._source(entry.spec)
        return source.location(entry.field) if source else Location(entry.spec, 1, 1)

    def _load_folder(self, cluster: str, folder: str) -> dict[str, index.Entry]:
        data = files.read(self._root / "generated" / cluster / index.place(folder))
        return (index.load(data, folder) if data else None) or {}

    def _load_source(self, path: str) -> Source | None:
        from trainyard.documents import load

        data = files.read(self._root / path)
        documents = load(data, file=path)[0] if data and not path.endswith(".py") else []
        return Source(path, documents[0]) if documents else None
