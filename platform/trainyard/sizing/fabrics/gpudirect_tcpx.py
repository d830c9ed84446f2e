"""GPUDirect-TCPX of Google Kubernetes Engine; pods are not attached to it yet."""

from trainyard.sizing.fabrics.unused import Unused


class Tcpx(Unused):
    """Nothing to attach to."""

    name = "gpudirect-tcpx"


FABRIC = Tcpx()
