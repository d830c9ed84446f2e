"""The kinds that a cluster serves: of its Kubernetes release, of its operators, and of CRDs among the inputs.

Releases and their schemas are read from the folder `schemas/`.
"""

from trainyard.upstream.apiserver.catalog.catalog import Catalog, Missing, load
from trainyard.upstream.apiserver.catalog.served import Kind

__all__ = ["Catalog", "Kind", "Missing", "load"]
