"""What `--help` shows below the options: examples that work as they stand, and the exit codes."""

from __future__ import annotations

from collections.abc import Mapping

EXAMPLES: Mapping[str, tuple[str, ...]] = {
    "admit": ("trainyard admit", "trainyard admit nlp/llama3-8b -v", "trainyard admit --replay cases.jsonl"),
    "check": (
        "trainyard check",
        "trainyard check jobs/nlp/llama3-8b.yaml",
        "trainyard check jobs/nlp --fix --diff",
        "trainyard check --format github",
    ),
    "completion": (
        'eval "$(trainyard completion bash)"',
        "trainyard completion zsh > ~/.zfunc/_trainyard",
        "trainyard completion fish > ~/.config/fish/completions/trainyard.fish",
    ),
    "explain": (
        "trainyard explain nlp/llama3-8b",
        "trainyard explain nlp/llama3-8b --kind JobSet",
        "trainyard explain kinds",
    ),
    "init": (
        "trainyard init training --wheel trainyard_gitops-0.1.0-py3-none-any.whl",
        "trainyard init . --ci github --repo-url https://git.example.com/platform/training.git",
    ),
    "live verify": ("trainyard live verify --context atlas",),
    "new cluster": ("trainyard new cluster eos", "trainyard new cluster eos --shape dgx-h100 --nodes 16 --teams nlp"),
    "new job": ("trainyard new job", "trainyard new job nlp/first --cluster atlas --pool h100 --program train.py"),
    "new team": ("trainyard new team", "trainyard new team speech --queues atlas/research --size 5Ti"),
    "node replay": ("trainyard node replay cases.jsonl",),
    "pipeline": ("trainyard pipeline nlp/eval --output pipeline.yaml",),
    "plan": ("trainyard plan", "trainyard plan --base origin/main --format markdown"),
    "releases": ("trainyard releases", "trainyard releases kueue"),
    "rename": ("trainyard rename nlp/llama3-8b llama3",),
    "rerun": ("trainyard rerun nlp/llama3-8b",),
    "retire": ("trainyard retire nlp/llama3-8b", "trainyard retire --finished --context atlas --dry-run"),
    "rule": ("trainyard rule kq-max-quota", "trainyard rule checkpoint"),
    "run": ("trainyard run vision/vit-large --nodes 2 --processes 1", "trainyard run job.yaml --show"),
    "synth": ("trainyard synth", "trainyard synth --check --base origin/main"),
    "validate": (
        "trainyard validate",
        "trainyard validate deploy/ --with kueue=0.19.2",
        "trainyard validate --format sarif > trainyard.sarif",
        "helm template chart | trainyard validate -",
    ),
}
"""By the words of a command."""

CODES = "Exit codes: 0 clean, 1 findings, 2 could not finish."


def epilog(name: str) -> str:
    """Return what stands below the options of a command; the mark keeps its lines as they are."""
    examples = "\n".join(f"  {line}" for line in EXAMPLES.get(name, ()))
    return f"\b\nExamples:\n{examples}\n\n{CODES}" if examples else CODES
