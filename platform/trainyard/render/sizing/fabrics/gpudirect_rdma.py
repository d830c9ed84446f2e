"""GPUDirect RDMA of A3 Ultra and A4: RoCE by eight further interfaces, and NCCL's plugin gIB from the node."""

from __future__ import annotations

from dataclasses import replace

from trainyard.render.sizing.base import Attached
from trainyard.render.sizing.fabrics.base import Share
from trainyard.render.sizing.fabrics.gke import Gke, host_path

GIB = "/usr/local/gib"


class GibRdma(Gke):
    """The first further interface is eth2: eth1 is left to a second network card (gpudirect-rdma/nccl-test.yaml)."""

    name = "gpudirect-rdma"
    accelerators = ("nvidia-h200-141gb", "nvidia-b200")
    device_mode = "RDMA"
    spare_networks = 1
    first = 2

    def attached(self, share: Share) -> Attached:
        """Return interfaces, libraries, the plugin, and the script that the installer's release set."""
        base = super().attached(share)
        return replace(
            base,
            env={**base.env, **self.transport},
            volumes=(*base.volumes, host_path("fabric-gib", "/home/kubernetes/bin/gib")),
            mounts=(*base.mounts, {"name": "fabric-gib", "mountPath": GIB, "readOnly": True}),
            profile=f"{GIB}/scripts/set_nccl_env.sh",
        )


FABRIC = GibRdma()
