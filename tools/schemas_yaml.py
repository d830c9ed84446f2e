"""YAML as the importer reads and writes it: no dates, `=` is text, keys in their order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

Base = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Loader(Base):  # type: ignore[misc, valid-type]  # the C loader where libyaml is present
    """Reads dates and `=` as the text they are to Kubernetes."""


DATES_AND_VALUES = ("tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:value")
Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag not in DATES_AND_VALUES]
    for first, resolvers in Base.yaml_implicit_resolvers.items()
}


def load(text: str) -> Any:
    """Return the value of one document."""
    return yaml.load(text, Loader)


def load_all(text: str) -> Iterator[Any]:
    """Yield the value of every document of a stream."""
    yield from yaml.load_all(text, Loader)


class Line(dict[str, Any]):
    """A mapping that is written on one line."""


class Dumper(yaml.SafeDumper):
    """Writes a `Line` on one line, and never an anchor."""

    def ignore_aliases(self, _data: Any) -> bool:
        """Write a value again rather than refer to it."""
        return True


def one_line(dumper: Dumper, value: Line) -> yaml.Node:
    """Represent a mapping in flow style."""
    return dumper.represent_mapping("tag:yaml.org,2002:map", value, flow_style=True)


Dumper.add_representer(Line, one_line)


def dump(value: Any) -> str:
    """Return block YAML with long lines kept whole."""
    return yaml.dump(value, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=2**31)
