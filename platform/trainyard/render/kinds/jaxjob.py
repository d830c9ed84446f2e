"""JAXJob: workers alone, which find each other by a Service a pod.

Facts: training-operator v1.9.4 pkg/controller.v1/jax.
"""

from __future__ import annotations

from dataclasses import replace

from trainyard.render.kinds.replicated import Replicated
from trainyard.render.launchers import Wiring
from trainyard.specs.run import Run


class JAXJob(Replicated):
    """A JAXJob: containers that fail are restarted in their place, and it is done when all workers are.

    It does not restart a gang: JAX's coordinator ends all processes when one is gone, and each of them is restarted.
    """

    name = "JAXJob"
    gives = frozenset({"rank", "master", "hosts"})
    container = "jax"
    field = "jaxReplicaSpecs"
    port = 6666
    """Of the coordinator (pkg/apis/kubeflow.org/v1/jax_types.go)."""

    def wiring(self, run: Run) -> Wiring:
        """Return the same with the operator's own variable of the index."""
        return replace(super().wiring(run), rank="PROCESS_ID", fields={})


KIND = JAXJob()
