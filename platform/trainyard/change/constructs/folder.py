"""One folder of `generated/<cluster>/` is one chart, and its constructs are the objects in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import cdk8s
from constructs import Construct


class Folder(cdk8s.Chart):
    """A chart that writes nothing by itself: the tree is ours to write. Names are what we say, without a hash."""

    def __init__(self, scope: Construct, path: str) -> None:
        super().__init__(scope, path, disable_resource_name_hashes=True)
        self.path = path

    def objects(self) -> Iterator[dict[str, Any]]:
        """Yield every object of it."""
        yield from self.to_json()


def new_app() -> cdk8s.App:
    """Return the cdk8s app that folders are made in."""
    return cdk8s.App()
