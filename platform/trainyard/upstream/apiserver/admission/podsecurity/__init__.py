"""Pod Security admission: what a pod may not have in a namespace that enforces a level, restated from its plugin.

The rules are imported when some namespace among the objects enforces a level; until then this costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trainyard.upstream.apiserver.admission.podsecurity.plugin import Admission

LABEL = "pod-security.kubernetes.io/enforce"
"""The label of a Namespace that says which level its pods must keep to."""


def admission(values: Iterable[Any], *, kubernetes: str) -> Admission | None:
    """Return the Pod Security admission of the Namespaces among some objects; None where none enforces a level."""
    values = list(values)
    labelled = [value for value in values if is_labelled(value)]
    if not labelled:
        return None
    from trainyard.upstream.apiserver.admission.podsecurity.levels import enforced_level
    from trainyard.upstream.apiserver.admission.podsecurity.plugin import Admission
    from trainyard.upstream.apiserver.admission.podsecurity.settings import settings

    levels = {
        str(value["metadata"].get("name")): level for value in labelled if (level := enforced_level(value)) is not None
    }
    return Admission(levels, kubernetes, settings(values)) if levels else None


def is_labelled(value: Any) -> bool:
    """Whether an object is a Namespace that names a level."""
    if not isinstance(value, dict) or value.get("kind") != "Namespace" or value.get("apiVersion") != "v1":
        return False
    metadata = value.get("metadata")
    labels = metadata.get("labels") if isinstance(metadata, dict) else None
    return isinstance(labels, dict) and LABEL in labels
