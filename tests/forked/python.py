"""Stands in for an interpreter with torch: asks the server beside it for one, and ends as that one does.

Called `python` or `torchrun`, in a folder with the server's socket. Whatever else an interpreter can do, and where no
server answers, the real one does. Facts: the forms of a command line in `python --help`.
"""

import json
import os
import signal
import socket
import struct
import sys
import time

FOLDER = os.path.dirname(os.path.abspath(__file__))
SLOWLY = 2
"""Seconds before an agent begins, which is less than it takes to import torch.

One that begins at once, after a gang has failed, meets the agent of another node that is about to end; then both wait.
"""

TOLD = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGQUIT)


def wanted(name, words):
    """Return what is asked for, or None where the real interpreter has to do it."""
    if name == "torchrun":
        time.sleep(SLOWLY)
        return {"module": "torch.distributed.run", "argv": [name, *words], "unbuffered": False}
    unbuffered = bool(words) and words[0] == "-u"
    if unbuffered:
        words = words[1:]
    if len(words) > 1 and words[0] == "-m":
        return {"module": words[1], "argv": words[1:], "unbuffered": unbuffered}
    if words and not words[0].startswith("-"):
        return {"module": "", "argv": words, "unbuffered": unbuffered}
    return None


def asked(server, name, words):
    """Send what is asked for; return whether it was."""
    request = wanted(name, words)
    if request is None:
        return False
    path = os.getcwd() if request["module"] else os.path.dirname(os.path.abspath(request["argv"][0]))
    request |= {"path": path, "cwd": os.getcwd(), "env": dict(os.environ), "executable": f"{FOLDER}/python"}
    text = json.dumps(request).encode()
    try:
        server.connect(f"{FOLDER}/socket")
    except OSError:
        return False
    socket.send_fds(server, [b"!"], [0, 1, 2])
    server.sendall(struct.pack("!I", len(text)) + text)
    return True


def main(name, words):
    """Be the interpreter."""
    server = socket.socket(socket.AF_UNIX)
    if not asked(server, name, words):
        with open(f"{FOLDER}/real", encoding="utf-8") as file:
            real = file.read()
        start = [real, "-m", "torch.distributed.run"] if name == "torchrun" else [real]
        os.execv(real, [*start, *words])
    for number in TOLD:
        signal.signal(number, lambda told, _: server.send(bytes([told])))
    said = server.recv(4, socket.MSG_WAITALL)
    code = struct.unpack("!i", said)[0] if len(said) == 4 else 70
    if code < 0:
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code % 256 if code >= 0 else 128 - code)


main(os.path.basename(__file__), sys.argv[1:])
