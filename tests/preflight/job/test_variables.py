"""What follows from a job and its cluster is not said again, and otherwise."""

from __future__ import annotations

import pytest

from make import CLUSTER, make_cluster, make_run
from trainyard.judge.preflight.job import variables
from trainyard.judge.preflight.jobs import check_run

OPERATORS = {name: {"version": version} for name, version in (
    ("sriov-network-operator", "1.6.0"), ("multus", "4.3.0"), ("whereabouts", "0.9.4"))}  # fmt: skip
ROCE = {"type": "roce", "attach": "sriov", "addresses": "10.56.0.0/16", "trafficClass": 106, "serviceLevel": 3}
FABRIC = make_cluster(fabric=ROCE, operators={**CLUSTER["operators"], **OPERATORS})
RDMA = {"cluster": FABRIC, "fabric": "rdma"}

MPI = {"launcher": "mpirun", "kind": "MPIJob"}

CASES = {
    "more threads than CPUs": ({"env": {"OMP_NUM_THREADS": "999"}}, ["run/threads env.OMP_NUM_THREADS"]),
    "more in all processes": ({"env": {"OMP_NUM_THREADS": "27"}}, ["run/threads env.OMP_NUM_THREADS"]),
    "of another library": ({"env": {"MKL_NUM_THREADS": "999"}}, ["run/threads env.MKL_NUM_THREADS"]),
    "as many as there are": ({"env": {"OMP_NUM_THREADS": "26"}}, []),
    "fewer": ({"env": {"OMP_NUM_THREADS": "4"}}, []),
    "a number of nested threads": ({"env": {"OMP_NUM_THREADS": "4,3"}}, []),
    "all CPUs of one process": ({"env": {"OMP_NUM_THREADS": "200"}, "processes_per_node": 1}, []),
    "another service level": ({**RDMA, "env": {"NCCL_IB_SL": "5"}}, ["run/network-variable env.NCCL_IB_SL"]),
    "the same service level": ({**RDMA, "env": {"NCCL_IB_SL": "3"}}, []),
    "another class": ({**RDMA, "env": {"NCCL_IB_TC": "0"}}, ["run/network-variable env.NCCL_IB_TC"]),
    "one adapter": ({**RDMA, "env": {"NCCL_IB_HCA": "mlx5_0"}}, ["run/network-variable env.NCCL_IB_HCA"]),
    "exactly one adapter": ({**RDMA, "env": {"NCCL_IB_HCA": "=mlx5_0:1"}}, ["run/network-variable env.NCCL_IB_HCA"]),
    "all adapters of a kind": ({**RDMA, "env": {"NCCL_IB_HCA": "mlx5"}}, []),
    "all adapters but one": ({**RDMA, "env": {"NCCL_IB_HCA": "^mlx5_9"}}, []),
    "adapters where none are attached": ({"env": {"NCCL_IB_HCA": "mlx5_0"}}, []),
    "a class that nothing derives": ({"env": {"NCCL_IB_TC": "0"}}, []),
    "more words of NCCL": ({**RDMA, "env": {"NCCL_DEBUG": "INFO", "NCCL_ALGO": "Ring"}}, []),
    "nodes for torchrun": ({"args": ["--nnodes=2"]}, ["run/launcher-option args[0]"]),
    "processes for torchrun": ({"args": ["a", "--nproc_per_node", "8"]}, ["run/launcher-option args[1]"]),
    "an address for torchrun": ({"args": ["--master-addr", "x"]}, ["run/launcher-option args[0]"]),
    "processes for accelerate": (
        {"launcher": "accelerate", "args": ["--num_processes", "8"]},
        ["run/launcher-option args[0]"],
    ),
    "processes for mpirun": (
        {"launcher": "mpirun", "kind": "MPIJob", "args": ["-np", "8"]},
        ["run/launcher-option args[0]"],
    ),
    "a variable for mpirun": (
        {**MPI, "args": ["-x", "NCCL_DEBUG=INFO", "--lr", "1"]},
        ["run/launcher-option args[0]"],
    ),
    "a variable of the launcher's for mpirun": ({**MPI, "args": ["-x", "PATH"]}, ["run/launcher-option args[0]"]),
    "a parameter for mpirun": (
        {**MPI, "args": ["--mca", "btl", "tcp,self", "-mca", "pml", "ob1"]},
        ["run/launcher-option args[0]", "run/launcher-option args[3]"],
    ),
    "hosts for mpirun": ({**MPI, "args": ["-H", "one:8,two:8"]}, ["run/launcher-option args[0]"]),
    "a program's own -x and -H": ({**MPI, "args": ["-x", "0.5", "-H", "12", "-x", "data.csv", "-x"]}, []),
    "-x of a program of another launcher": ({"args": ["-x", "NCCL_DEBUG=INFO"]}, []),
    "a program's own -n": ({"launcher": "mpirun", "kind": "MPIJob", "args": ["-n", "8"]}, []),
    "processes for horovod": (
        {"launcher": "horovod", "kind": "MPIJob", "args": ["-np", "8"]},
        ["run/launcher-option args[0]"],
    ),
    "another launcher's option": ({"args": ["--num_processes", "8"]}, []),
    "an option that begins so": ({"args": ["--nnodes-in-graph=2", "--lr", "1", "nnodes"]}, []),
}


@pytest.mark.parametrize(("job", "expected"), CASES.values(), ids=CASES)
def test_what_follows_is_not_said_again(job, expected):
    """A warning stands at the job's own line, and whatever says the same or something else is left alone."""
    rules = {item.id for item in (variables.THREADS, variables.NETWORK, variables.OPTION)}
    found = [item for item in check_run(make_run(**job))[1] if item.rule in rules]
    assert [f"{item.rule} {item.path}" for item in found] == expected
    assert not any(item.is_error for item in found)
