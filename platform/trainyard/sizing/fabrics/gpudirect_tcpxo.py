"""GPUDirect-TCPXO of Google Kubernetes Engine; pods are not attached to it yet."""

from trainyard.sizing.fabrics.unused import Unused


class Tcpxo(Unused):
    """Nothing to attach to."""

    name = "gpudirect-tcpxo"


FABRIC = Tcpxo()
