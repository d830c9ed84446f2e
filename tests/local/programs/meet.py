"""Works out from what it was told who is first, how many there are and which it is, and meets all others there."""

import json
import os
import socket
import sys
import time


def told():
    """Return address, port, rank and number of all, from the variables of whoever set them."""
    env = os.environ
    if "LWS_LEADER_ADDRESS" in env:
        return env["LWS_LEADER_ADDRESS"], 4000, env["LWS_WORKER_INDEX"], env["LWS_GROUP_SIZE"]
    if "PET_RDZV_ENDPOINT" in env:
        host, port = env["PET_RDZV_ENDPOINT"].split(":")
        return host, port, env["HOSTNAME"][-1], sys.argv[1]
    if "RANK" in env and "MASTER_ADDR" in env:
        return env["MASTER_ADDR"], env["MASTER_PORT"], env["RANK"], env["WORLD_SIZE"]
    if "PET_MASTER_ADDR" in env:
        return env["PET_MASTER_ADDR"], env["PET_MASTER_PORT"], env["PET_NODE_RANK"], env["PET_NNODES"]
    if "DMLC_TRACKER_URI" in env:
        return env["DMLC_TRACKER_URI"], env["DMLC_TRACKER_PORT"], env["DMLC_TASK_ID"], sys.argv[1]
    if "JAX_COORDINATOR_ADDRESS" in env:
        host, port = env["JAX_COORDINATOR_ADDRESS"].split(":")
        return host, port, env["JAX_PROCESS_ID"], env["JAX_NUM_PROCESSES"]
    if "COORDINATOR_ADDRESS" in env:
        return env["COORDINATOR_ADDRESS"], env["COORDINATOR_PORT"], env["PROCESS_ID"], env["NUM_PROCESSES"]
    if "PADDLE_MASTER" in env:
        host, port = env["PADDLE_MASTER"].split(":")
        return host, port, int("POD_IP_DUMMY" not in env), env["PADDLE_NNODES"]
    if "TF_CONFIG" in env:
        config = json.loads(env["TF_CONFIG"])
        tasks = [(kind, index) for kind, there in config["cluster"].items() for index in range(len(there))]
        task = (config["task"]["type"], config["task"]["index"])
        kind, index = tasks[0]
        host, port = config["cluster"][kind][index].split(":")
        return host, port, tasks.index(task), len(tasks)
    return sys.argv[2], 4000, env["JOB_COMPLETION_INDEX"], sys.argv[1]


host, port, rank, world = told()
if int(rank) == 0:
    server = socket.create_server(("", int(port)), backlog=64)
    server.settimeout(20)
    print("waits", flush=True)
    others = [server.accept()[0] for _ in range(int(world) - 1)]
    print(f"met {len(others) + 1}", flush=True)
    for other in others:
        other.sendall(b"go")
else:
    end = time.monotonic() + 20
    while True:
        try:
            with socket.create_connection((host, int(port)), timeout=20) as there:
                there.settimeout(20)
                assert there.recv(2) == b"go"
            break
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)
