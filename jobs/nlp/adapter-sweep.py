"""Learning rates and ranks of the adapters: six jobs of two GPUs each."""

from collections.abc import Iterator
from itertools import product

from trainyard.specs import Job

RATES = ("1e-4", "3e-4")
RANKS = (8, 16, 64)


def jobs() -> Iterator[tuple[str, Job]]:
    """Yield a job for every pair, named by it."""
    for rate, rank in product(RATES, RANKS):
        yield (
            f"adapter-sweep-{rate.replace('-', '')}-r{rank}",
            Job(
                cluster="atlas",
                launcher="torchrun",
                image="registry.example.com/nlp/llm@sha256:"
                "33cec2493d1a8b8e890d689a8365d06748076a1c8c326069a85300e49bc887c4",
                module="llm.finetune",
                args=("--rank", rank, "--learning-rate", rate),
                pool="h100",
                gpus_per_node=2,
                queue="research",
                priority="low",
                secrets={"HF_TOKEN": "hugging-face/token"},
                scratch="100Gi",
                max_hours=8,
            ),
        )
