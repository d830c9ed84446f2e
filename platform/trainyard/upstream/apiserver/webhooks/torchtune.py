"""TrainJobs that run `tune run`: models, nodes and adapters that TorchTune supports."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.upstream.apiserver.core.amounts import NANO, nanos
from trainyard.upstream.apiserver.core.shapes import Object, inner, number, text, texts
from trainyard.upstream.apiserver.problems import Path, Problem, Rule

RULE = Rule(
    "webhook/trainjob-torchtune",
    "trainer v2.3.0 pkg/runtime/framework/plugins/torch/torchtune.go",
    title="A TrainJob for torchtune uses a model and settings that torchtune supports.",
    fix="use a runtime for one of the supported models; remove arguments that the runtime sets",
)

_MANY_NODES = "llama3_3/70B"
_NO_ADAPTER = "qwen2_5/1.5B"
_SMALL = ("llama3_2/1B", "llama3_2/3B")
_MODELS = (*_SMALL, _MANY_NODES, _NO_ADAPTER)
_FIXED = ("output_dir", "tokenizer.path", "checkpointer.checkpoint_dir", "tokenizer.merges_file")


def check_torchtune(spec: Object, trainer: Object, *, newer: bool = True) -> Iterator[Problem]:
    """Yield the settings that TorchTune cannot apply to the model that the runtime's name holds.

    Since Trainer 2.3, which `newer` says, LoRA on several nodes and settings of the runtime are refused, and a switch
    that is written as False is off.
    """
    runtime = text(inner(spec, "runtimeRef"), "name")
    model = model_of(runtime)
    path: Path = ("spec", "trainer")
    arguments = [argument for _, argument in texts(trainer, "args")]
    nodes = number(trainer, "numNodes")
    nodes = 1 if nodes is None else nodes
    if model not in _MODELS:
        yield RULE.invalid(("spec", "runtimeRef", "name"), runtime, f"{model!r} must be one of {', '.join(_MODELS)}")
    if nodes > 1 and model != _MANY_NODES:
        yield RULE.invalid((*path, "numNodes"), nodes, f"must be 1 for model {model!r}")
    enabled = _enabled if newer else _named
    quantized = enabled(arguments, "model.quantize_base") and not enabled(arguments, "model.use_dora")
    single = _is_single(trainer)
    if quantized and nodes == 1:
        if model == _NO_ADAPTER:
            yield RULE.invalid(("spec", "runtimeRef", "name"), runtime, "QLoRA is not supported for this model")
        if model in _SMALL and not single:
            yield RULE.invalid((*path, "numProcPerNode"), trainer.get("numProcPerNode"), "QLoRA needs one GPU here")
    if not newer:
        return
    if nodes > 1 and (quantized or any("model.lora_attn_modules" in argument for argument in arguments)):
        yield RULE.invalid((*path, "numNodes"), nodes, "LoRA is not supported on several nodes")
    for index, argument in texts(trainer, "args"):
        if argument.partition("=")[0] in _FIXED:
            yield RULE.invalid((*path, "args", index), argument, "is managed by the runtime")


def model_of(runtime: str) -> str:
    """The model in a runtime's name of three parts, such as `torchtune-llama3.2-1b`; otherwise empty."""
    parts = runtime.split("-")
    return f"{parts[1].replace('.', '_')}/{parts[2].upper()}" if len(parts) == 3 else ""


def _enabled(arguments: list[str], key: str) -> bool:
    pairs = (argument.partition("=") for argument in arguments)
    return any(equals and key in name and value.strip().lower() == "true" for name, equals, value in pairs)


def _named(arguments: list[str], key: str) -> bool:
    return any(key in argument for argument in arguments)


def _is_single(trainer: Object) -> bool:
    """Whether one process with one GPU trains; the runtime's own resources are not looked at."""
    return number(trainer, "numProcPerNode") == 1 or _gpus(trainer) == 1


def _gpus(trainer: Object) -> int:
    for kind in ("requests", "limits"):
        for name, amount in inner(trainer, "resourcesPerNode", kind).items():
            if "gpu" in name.lower() and (found := nanos(amount)):
                return -(-found // NANO)
    return 0
