"""Steps as a pipeline of Kubeflow Pipelines, compiled by its own SDK, which is imported here and nowhere else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from trainyard.base.errors import ToolError
from trainyard.base.system.distribution import remedy
from trainyard.faces.pipelines.steps import PROGRAM, Step
from trainyard.specs.models.pipelines import Pipelines

CPU, MEMORY = "100m", "128Mi"
"""What a step's own pod asks for: it waits."""


def write(name: str, steps: Sequence[Step], pipelines: Pipelines, file: Path) -> None:
    """Compile a pipeline into a file; raises ToolError where the SDK is missing."""
    try:
        from kfp import compiler, dsl
    except ImportError as error:
        raise ToolError(f"the SDK of Kubeflow Pipelines is missing; {remedy('pipelines')}") from error

    def pipeline() -> None:
        tasks: dict[tuple[str, str], Any] = {}
        for step in steps:
            task = component(step, pipelines.image)(pipeline=dsl.PIPELINE_JOB_ID_PLACEHOLDER)
            task.set_display_name(step.name).set_caching_options(enable_caching=False)
            task.set_cpu_request(CPU).set_memory_request(MEMORY).set_memory_limit(MEMORY)
            tasks[step.job] = task.after(*(tasks[before] for before in step.after))

    pipeline.__annotations__ = {}  # which the SDK would read as text, and take for results
    compiler.Compiler().compile(dsl.pipeline(name=name, description=described(steps))(pipeline), str(file))


def component(step: Step, image: str) -> Callable[..., Any]:
    """Return the component of a step: no result of an earlier run of it is ever taken for the next one's."""
    from kfp import dsl

    def run(pipeline: str) -> Any:
        return dsl.ContainerSpec(image=image, command=["python3", "-c", PROGRAM], args=[step.plan, pipeline])

    run.__name__ = "_".join(step.job).replace("-", "_")
    run.__annotations__ = {"pipeline": str}
    return dsl.container_component(run)  # type: ignore[no-any-return]


def described(steps: Sequence[Step]) -> str:
    """Return the description of the pipeline."""
    return "Training runs, each admitted by its queue: " + ", ".join(step.name for step in steps)
