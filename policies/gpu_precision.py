"""GPUs must support the precision and the kernels of a program: bf16, flash attention 2, FP8.

Why: Otherwise the program fails at its first step, or emulates bf16 at a fraction of the speed.
Fix: use fp16 and another attention, or newer GPUs: bf16 and flash attention 2 from A100 on, FP8 from H100 on.
Source: NVIDIA/TransformerEngine transformer_engine/pytorch/quantization.py; Dao-AILab/flash-attention v2.8 README.md;
 huggingface/accelerate 1.15.0.dev0 src/accelerate/commands/launch.py; CUDA C++ programming guide 13.0;
 huggingface/trl trl/trainer/model_config.py (dtype); pytorch/torchtitan v0.2.2 torchtitan/config/job_config.py Training
"""

from collections.abc import Iterator

from trainyard.checks import Problem, Severity, World, arguments, generation, is_gpu

OFF = {"false", "no", "0", "none", "off"}
"""Values by which a switch is off."""

BF16 = {"bf16", "bfloat16", "bf16-mixed", "bf16-true", "torch.bfloat16"}
FLASH = {"flash_attention_2", "flash_attention_3"}
FP8 = {"fp8", "e4m3", "hybrid"}

WANTS: dict[str, tuple[str, set[str] | None, Severity]] = {
    "--bf16": ("bf16", None, Severity.WARNING),
    "--amp-dtype": ("bf16", BF16, Severity.WARNING),
    "--dtype": ("bf16", BF16, Severity.WARNING),
    "--torch-dtype": ("bf16", BF16, Severity.WARNING),
    "--training.dtype": ("bf16", BF16, Severity.WARNING),
    "--training.mixed-precision-param": ("bf16", BF16, Severity.WARNING),
    "--precision": ("bf16", BF16, Severity.WARNING),
    "--trainer.precision": ("bf16", BF16, Severity.WARNING),
    "trainer.precision": ("bf16", BF16, Severity.WARNING),
    "--mixed-precision": ("bf16", BF16, Severity.WARNING),
    "--attn-implementation": ("flash attention 2", FLASH, Severity.ERROR),
    "--use-flash-attn": ("flash attention 2", None, Severity.WARNING),
    "--fp8-format": ("FP8", FP8, Severity.ERROR),
}
"""By option: the feature that a program uses, the values that ask for it (None: any that is not off), the severity.

`--bf16` is of Transformers and Megatron-LM, `--amp-dtype` of timm, `--precision` of Lightning, `--mixed-precision` of
Accelerate, `--dtype`, `--torch-dtype` and `--attn-implementation` of TRL, `--training.` of torchtitan, the others of
Megatron-LM.
"""

FP8_PRECISION = "--mixed-precision"
"""Accelerate's option, which has one more value."""


def check(world: World) -> Iterator[Problem]:
    """Look at the arguments of containers with GPUs, where the kind of their GPUs is known."""
    for job in world.training_jobs():
        for pods in job.pod_sets():
            gpus = generation(world, pods) if any(map(is_gpu, pods.needs)) else None
            if gpus is not None:
                for _, options in arguments(pods):
                    for name, (place, value) in options.items():
                        for wanted, severity in features(name, value):
                            if wanted in gpus.lacks:
                                message = (
                                    f"{name} uses {wanted}, which {gpus.called} GPUs lack; remove it, or use other GPUs"
                                )
                                yield Problem(place, message, severity=severity)


def features(name: str, value: str) -> Iterator[tuple[str, Severity]]:
    """Yield the features that an option asks for, with the severity where GPUs lack them."""
    if name == FP8_PRECISION and value == "fp8":
        yield "FP8", Severity.WARNING
    elif name in WANTS:
        wanted, values, severity = WANTS[name]
        if value.lower() in values if values is not None else value.lower() not in OFF:
            yield wanted, severity
