"""AppWrapper: several objects that are queued, start and end as one, by the manifests of its release."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.render.operators.base import Operator, Site


class AppWrapperOperator(Operator):
    """The operator from the manifests of its tag, whose pod Pod Security restricted takes as it is."""

    name = "appwrapper"

    def changes(self, _site: Site) -> Iterator[Mapping[str, Any]]:
        """Yield the removal of its Namespace, by the name that it has before the kustomization gives it another.

        Kustomize applies patches before it sets namespaces (kustomize v5.5.0 api/internal/builtins), so a patch of
        `appwrapper-system` finds nothing, and two Applications would own the Namespace.
        """
        yield {"$patch": "delete", "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "system"}}


OPERATOR = AppWrapperOperator()
