"""Forks interpreters that have torch already: `python server.py SOCKET`, of which `python.py` is the client.

An interpreter takes seconds to import torch, and a test of a gang that is killed starts a dozen of them. Each child
enters the namespaces of the client that asked, has its arguments, variables, folder and streams, and lives as long.
Facts: setns(2), unix(7) (SO_PEERCRED has the process as this server's namespace numbers it).
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import struct
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

NAMESPACES = ("pid", "net", "uts", "ipc", "mnt", "user")
"""In the order to enter them: whoever is in another user's namespace may enter no other."""

MODULES = (
    "torch",
    "torch._dynamo",
    "torch.distributed.checkpoint",
    "torch.distributed.fsdp",
    "torch.distributed.run",
    "torch.utils.data",
)
"""What programs import, and what takes long."""

DEATH_SIGNAL = 1
"""PR_SET_PDEATHSIG of prctl(2)."""

LIBC = ctypes.CDLL(None, use_errno=True)


def enter(process: int) -> None:
    """Enter the namespaces of a process that are not this one's; processes that are forked from now on are in them."""
    handles = []
    for name in NAMESPACES:
        there, here = f"/proc/{process}/ns/{name}", f"/proc/self/ns/{name}"
        if os.readlink(there) != os.readlink(here):
            handles.append(os.open(there, os.O_RDONLY))
    for handle in handles:
        if LIBC.setns(handle, 0):
            number = ctypes.get_errno()
            raise OSError(number, f"setns: {os.strerror(number)}")
        os.close(handle)


def asked(client: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """Receive what a client wants: its words, and its three streams."""
    _, streams, _, _ = socket.recv_fds(client, 1, 3)
    (size,) = struct.unpack("!I", client.recv(4, socket.MSG_WAITALL))
    return json.loads(client.recv(size, socket.MSG_WAITALL)), streams


def become(request: dict[str, Any], streams: list[int]) -> None:
    """Be the interpreter that was asked for, as far as a program can see."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    sys.executable = request["executable"]
    sys.argv = request["argv"]
    at_once = request["unbuffered"] or bool(os.environ.get("PYTHONUNBUFFERED"))
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(write_through=at_once)  # type: ignore[union-attr]
    import torch

    if (threads := os.environ.get("OMP_NUM_THREADS", "")).isdigit():
        torch.set_num_threads(int(threads))


def program(request: dict[str, Any]) -> None:
    """Run the program, and end as it does; what was imported for it is not taken apart, which takes longer."""
    sys.path[0:1] = [request["path"], *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    code = 0
    try:
        if request["module"]:
            sys.modules.pop(request["module"], None)
            runpy.run_module(request["module"], run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(request["argv"][0], run_name="__main__")
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        if isinstance(end.code, str):
            sys.stderr.write(f"{end.code}\n")
    except BaseException:  # noqa: BLE001 - the program's own, whatever it is
        code = 1
        sys.excepthook(*sys.exc_info())
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):
            stream.flush()
    os._exit(code % 256)


def watch(client: socket.socket, child: int) -> None:
    """Hand signals to a child until it has ended, say how; it does not outlive its client."""
    ended = os.pidfd_open(child)
    while True:
        ready, _, _ = select.select([client, ended], [], [])
        if ended in ready:
            _, status = os.waitpid(child, 0)
            with suppress(OSError):
                client.sendall(struct.pack("!i", os.waitstatus_to_exitcode(status)))
            return
        told = client.recv(1)
        os.kill(child, told[0] if told else signal.SIGKILL)
        if not told:
            return


def serve(client: socket.socket) -> dict[str, Any] | None:
    """Fork an interpreter for a client and look after it; return what to run where this is the interpreter."""
    (process,) = struct.unpack("3i", client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[:1]
    request, streams = asked(client)
    enter(process)
    child = os.fork()
    if child == 0:
        client.close()
        become(request, streams)
        return request
    for stream in streams:
        os.close(stream)
    watch(client, child)
    os._exit(0)


def main(place: str) -> dict[str, Any]:
    """Listen until killed; a child returns what it is to run."""
    for module in MODULES:
        importlib.import_module(module)
    LIBC.prctl(DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    server = socket.socket(socket.AF_UNIX)
    server.bind(place)
    Path(place).chmod(0o777)
    server.listen(64)
    while True:
        client, _ = server.accept()
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            server.close()
            request = serve(client)
            if request is not None:
                return request
        client.close()


if __name__ == "__main__":
    program(main(sys.argv[1]))
