"""GPUDirect-TCPXO of A3 Mega: a daemon in the pod moves data between eight NICs and the GPUs."""

from __future__ import annotations

from dataclasses import replace

from trainyard.render.sizing.base import Attached, Sized
from trainyard.render.sizing.fabrics.base import Share
from trainyard.render.sizing.fabrics.daemon import LOG, daemon, devices
from trainyard.render.sizing.fabrics.gke import LIBRARIES, Gke, host_path

DAEMON = "tcpxo-daemon"
START = "chmod 755 /fts/entrypoint_rxdm_container.sh && exec /fts/entrypoint_rxdm_container.sh"
OPTIONS = "--num_hops=2 --num_nics=8 --uid= --alsologtostderr"
APERTURE = "/dev/aperture_devices"


class Tcpxo(Gke):
    """FasTrak, as NCCL's plugin calls itself."""

    name = "gpudirect-tcpxo"
    accelerators = ("nvidia-h100-mega-80gb",)
    has_daemon = True

    def attached(self, share: Share) -> Attached:
        """Return interfaces, libraries, the daemon with its devices, and the script of the node's installer."""
        base = super().attached(share)
        serve = daemon(share, DAEMON, ("/bin/sh", "-c", f"{START} {OPTIONS}"), ("NET_ADMIN", "NET_BIND_SERVICE"))
        serve["env"] = [*serve["env"], {"name": "HEALTH_CHECK_LOG_FILE", "value": LOG}]
        serve["startupProbe"] = {"exec": {"command": ["cat", LOG]}, "periodSeconds": 5, "failureThreshold": 24}
        env = {
            "NCCL_LIB_DIR": Sized(LIBRARIES, "path of the profile from the node's installer"),
            "NCCL_FASTRAK_LLCM_DEVICE_DIRECTORY": Sized(APERTURE, "fabric: rdma; the NICs' memory at this path"),
        }
        return replace(
            base,
            annotations={
                **base.annotations,
                f"devices.gke.io/container.{DAEMON}": devices(share, "/dev/dmabuf_import_helper"),
            },
            env={**base.env, **self.transport, **env},
            sidecars=(serve,),
            volumes=(
                *base.volumes,
                host_path("fabric-sys", "/sys"),
                host_path("fabric-proc-sys", "/proc/sys"),
                host_path("fabric-aperture", APERTURE),
            ),
            mounts=(*base.mounts, {"name": "fabric-aperture", "mountPath": APERTURE}),
            profile=f"{LIBRARIES}/nccl-env-profile.sh",
        )


FABRIC = Tcpxo()
