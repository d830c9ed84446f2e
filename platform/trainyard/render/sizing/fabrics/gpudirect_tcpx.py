"""GPUDirect-TCPX of A3 High: a daemon in the pod moves data between four NICs and the GPUs."""

from __future__ import annotations

from dataclasses import replace

from trainyard.render.sizing.base import Attached, Sized
from trainyard.render.sizing.fabrics.base import Share
from trainyard.render.sizing.fabrics.daemon import daemon, devices
from trainyard.render.sizing.fabrics.gke import Gke, host_path

DAEMON = "tcpx-daemon"
SOCKET = "/run/tcpx"
COMMAND = (
    "/tcpgpudmarxd/build/app/tcpgpudmarxd",
    "--gpu_nic_preset",
    "a3vm",
    "--gpu_shmem_type",
    "fd",
    "--uds_path",
    SOCKET,
    "--setup_param",
    "--verbose 128 2 0",
)

SETTINGS = {
    "NCCL_GPUDIRECTTCPX_CTRL_DEV": "eth0",
    "NCCL_GPUDIRECTTCPX_TX_BINDINGS": "eth1:8-21,112-125;eth2:8-21,112-125;eth3:60-73,164-177;eth4:60-73,164-177",
    "NCCL_GPUDIRECTTCPX_RX_BINDINGS": "eth1:22-35,126-139;eth2:22-35,126-139;eth3:74-87,178-191;eth4:74-87,178-191",
    "NCCL_GPUDIRECTTCPX_PROGRAM_FLOW_STEERING_WAIT_MICROS": "500000",
    "NCCL_GPUDIRECTTCPX_UNIX_CLIENT_PREFIX": SOCKET,
    "NCCL_CROSS_NIC": "0",
    "NCCL_ALGO": "Ring,Tree",
    "NCCL_PROTO": "Simple",
    "NCCL_NSOCKS_PERTHREAD": "4",
    "NCCL_SOCKET_NTHREADS": "1",
    "NCCL_DYNAMIC_CHUNK_SIZE": "524288",
    "NCCL_P2P_NET_CHUNKSIZE": "524288",
    "NCCL_P2P_PCI_CHUNKSIZE": "524288",
    "NCCL_P2P_NVL_CHUNKSIZE": "1048576",
    "NCCL_BUFFSIZE": "4194304",
    "NCCL_NET_GDR_LEVEL": "PIX",
    "NCCL_P2P_PXN_LEVEL": "0",
}
"""Settings of the plugin (gpudirect-tcpx/nccl-config.yaml, README.md of 2026-06-22, v3.1.12).

Bindings are CPUs of a3-highgpu-8g, and no CPU both sends and receives. The socket's folder is ours.
"""


class Tcpx(Gke):
    """The plugin speaks with the daemon by a socket, in a folder that both have."""

    name = "gpudirect-tcpx"
    accelerators = ("nvidia-h100-80gb",)
    has_daemon = True

    def attached(self, share: Share) -> Attached:
        """Return interfaces, libraries, the daemon with its devices, and the plugin's settings."""
        base = super().attached(share)
        shared = {"name": "fabric-socket", "mountPath": SOCKET}
        why = "fabric: rdma; as in Google's example for this machine"
        names = {"NCCL_GPUDIRECTTCPX_SOCKET_IFNAME": self.interfaces(share.cluster)}
        return replace(
            base,
            annotations={**base.annotations, f"devices.gke.io/container.{DAEMON}": devices(share)},
            env={
                **base.env,
                **self.transport,
                **{name: Sized(value, why) for name, value in {**names, **SETTINGS}.items()},
            },
            sidecars=(daemon(share, DAEMON, COMMAND, ("NET_ADMIN",), shared),),
            volumes=(
                *base.volumes,
                host_path("fabric-sys", "/sys"),
                host_path("fabric-proc-sys", "/proc/sys"),
                {"name": "fabric-socket", "emptyDir": {}},
            ),
            mounts=(*base.mounts, shared),
        )


FABRIC = Tcpx()
