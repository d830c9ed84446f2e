"""Two learning rates."""

from trainyard.specs import Job

IMAGE = "registry.example.com/nlp/llm@sha256:4f0c7e2ab95d81364f0c7e2ab95d81364f0c7e2ab95d81364f0c7e2ab95d8136"


def jobs():
    """Yield a job for each rate."""
    for name, rate in (("low", "1e-5"), ("high", "1e-4")):
        yield (
            f"sweep-{name}",
            Job(
                cluster="roce",
                launcher="torchrun",
                image=IMAGE,
                program="train.py",
                args=("--lr", rate),
                pool="gpu",
                gpus_per_node=1,
                queue="research",
            ),
        )
