"""A small job for every launcher and kind that go together, to copy and to execute: `trainyard run templates/run-…`."""

from collections.abc import Iterator

from trainyard.specs import Job

DIGEST = "0b7f3d1e6c2a49588d7c1f0e9b3a5d6472c8e1f09a4b6d3c5e7f8091a2b3c4d5"


GANGS = ("accelerate", "deepspeed", "exec", "jax", "paddle", "python", "tensorflow", "torchrun", "xgboost")
NAMED = ("JAXJob", "Job", "JobSet", "LeaderWorkerSet", "PaddleJob", "TFJob", "TrainJob")
NUMBERED = ("PyTorchJob", "XGBoostJob")  # Workers have no names of their own that TF_CONFIG could tell.

PAIRS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(NAMED, GANGS),
    **dict.fromkeys(NUMBERED, tuple(name for name in GANGS if name != "tensorflow")),
    "RayCluster": ("ray",),
    "RayJob": ("ray",),
    "TrainJob": (*GANGS, "horovod", "mpirun"),
}

FRAMEWORKS = {"jax": "jax", "paddle": "paddle", "tensorflow": "tensorflow", "xgboost": "xgboost"}
"""By launcher; the others start PyTorch."""


def jobs() -> Iterator[tuple[str, Job]]:
    """Yield a gang of two pods for every pair."""
    for kind, launchers in PAIRS.items():
        for launcher in launchers:
            yield f"run-{launcher}-{kind.lower()}", job(launcher, kind)


def job(launcher: str, kind: str) -> Job:
    """Return the job of a pair."""
    framework = FRAMEWORKS.get(launcher, "torch")
    script = "recommender_ray.py" if launcher == "ray" else "roll_call.py"
    args = ("--made", "200", "--out", "/scratch") if launcher == "ray" else (framework,)
    start = (
        {"command": ("python", f"/workspace/{script}")} if launcher == "exec" else {"program": f"/workspace/{script}"}
    )
    ends: dict[str, object] = {"max_hours": 1} if kind in {"LeaderWorkerSet", "RayCluster"} else {}
    if launcher == "ray":
        ends["scratch"] = "1Gi"
    return Job(
        cluster="kind",
        launcher=launcher,
        kind=kind,
        image=f"registry.example.com/templates/roll-call@sha256:{DIGEST}",
        **start,
        args=args,
        pool="cpu",
        nodes=2,
        cpus_per_node=2,
        memory_per_node="2Gi",
        queue="laptop",
        **ends,
    )
