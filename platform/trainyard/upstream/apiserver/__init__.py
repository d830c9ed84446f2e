"""What an API server would say of an object, told without a server.

A `Catalog` has the kinds that a server of one Kubernetes release with these operators serves; a `Judge` leads an object
through the layers of such a server and returns a `Judgement`, the verdict with a finding for each reason. A layer is a
folder: `catalog` finds the kind, `schema` decodes, defaults and merges, `meta` reads the metadata, `core` has the rules
of Kubernetes' own kinds, `validations` those that CRDs state in CEL (whose engine is `cel`), `webhooks` what operators
refuse, and `admission` the server's policies and Pod Security. `aware` tells a judge what objects that are judged
together mean for each other, and a `Rulebook` keeps compiled rules. Nothing here knows of specs, clusters or training.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trainyard.upstream.apiserver.catalog import Catalog, Kind, Missing
    from trainyard.upstream.apiserver.judge import Judge, Judgement, Verdict
    from trainyard.upstream.apiserver.neighbours import aware
    from trainyard.upstream.apiserver.problems import Problem
    from trainyard.upstream.apiserver.validations.kept import Rulebook
    from trainyard.upstream.apiserver.webhooks.around import Around

__all__ = ["Around", "Catalog", "Judge", "Judgement", "Kind", "Missing", "Problem", "Rulebook", "Verdict", "aware"]

_HOMES = {
    "Around": "webhooks.around",
    "Catalog": "catalog",
    "Judge": "judge",
    "Judgement": "judge",
    "Kind": "catalog",
    "Missing": "catalog",
    "Problem": "problems",
    "Rulebook": "validations.kept",
    "Verdict": "judge",
    "aware": "neighbours",
}


def __getattr__(name: str) -> Any:
    """Import the name that is asked for: whoever uses one layer does not pay for the others."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
