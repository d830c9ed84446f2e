"""Write a new job, team or cluster that passes all checks."""

from __future__ import annotations

from pathlib import Path

import typer

from trainyard.base.system.data import minors_in_words
from trainyard.faces.cli._options import ROOT
from trainyard.faces.cli._out import page, say

EXAMPLES = {
    "cluster": ("trainyard new cluster eos", "trainyard new cluster eos --shape dgx-h100 --nodes 16 --teams nlp"),
    "job": ("trainyard new job", "trainyard new job nlp/first --cluster atlas --pool h100 --program train.py"),
    "team": ("trainyard new team", "trainyard new team speech --queues atlas/research --size 5Ti"),
}

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def group() -> None:
    """Write a new file that passes all checks; on a terminal, ask for values that no option sets."""


@app.command("job")
def job(
    name: str | None = typer.Argument(None, metavar="TEAM/JOB", help="The new job, as in nlp/llama."),
    cluster: str | None = typer.Option(None, help="The cluster that runs the job."),
    pool: str | None = typer.Option(None, help="The node pool."),
    queue: str | None = typer.Option(None, help="A queue that admits the team."),
    nodes: str | None = typer.Option(None, metavar="NUMBER", help="Number of nodes; default: 1."),
    gpus: str | None = typer.Option(
        None, metavar="NUMBER", help="GPUs per node, or a part of one GPU, as in 1g.10gb or shared; default: all GPUs."
    ),
    program: str | None = typer.Option(None, help="The script in the image."),
    command: str | None = typer.Option(None, help="An executable with its arguments, instead of a script."),
    launcher: str | None = typer.Option(
        None, help="The launcher that starts the processes; default: torchrun, or exec for a command."
    ),
    processes: str | None = typer.Option(None, metavar="NUMBER", help="Processes per node; default: one per GPU."),
    image: str | None = typer.Option(None, help="The image, pinned by digest."),
    fabric: str | None = typer.Option(
        None, metavar="rdma|tcp", help="The network between nodes; default: the fabric if there are several nodes."
    ),
    checkpoint: str | None = typer.Option(
        None,
        metavar="VOLUME",
        help="The volume of its checkpoints, or none; default: with GPUs, the team's volume checkpoints.",
    ),
    every_minutes: str | None = typer.Option(None, metavar="NUMBER", help="Minutes between two checkpoints."),
    checkpoint_size: str | None = typer.Option(None, metavar="SIZE", help="Size of one checkpoint, as in 40Gi."),
    secrets: str | None = typer.Option(
        None, metavar="NAME=secret/key", help="Secrets as variables, separated by commas."
    ),
    max_hours: str | None = typer.Option(
        None, metavar="NUMBER", help="Stop a run after this many hours, or none; default: 24 with GPUs."
    ),
    cpus: str | None = typer.Option(None, metavar="NUMBER", help="CPUs per node."),
    memory: str | None = typer.Option(None, metavar="SIZE", help="Memory per node, as in 64Gi."),
    root: Path = ROOT,
) -> int:
    """Write jobs/<team>/<job>.yaml. On a terminal, ask for values that no option sets."""
    given = {key.replace("_", "-"): value for key, value in locals().items() if key != "root"}
    from trainyard.base.documents import dump
    from trainyard.base.errors import SpecError
    from trainyard.base.system import files
    from trainyard.base.system.repository import job_file
    from trainyard.faces.cli import _draft_findings
    from trainyard.faces.cli._ask import Asker
    from trainyard.faces.drafts.job import HEADER, JobDraft, question_of, taken_names
    from trainyard.specs.load import read_repository

    if program is not None and command is not None:
        raise SpecError("--program and --command cannot be combined; keep one")
    loaded = read_repository(root)
    standing = _draft_findings.weigh(root, loaded)
    if any(finding.is_error for finding in standing):  # what an answer would be compared with may not be there
        _draft_findings.show_new(standing)
        return _draft_findings.nothing()
    asker, draft = Asker.of(given), JobDraft(loaded.specs, taken_names(loaded))
    while True:
        asker.fill(draft)
        team, short = draft.answers["name"].split("/")
        text, path = HEADER + dump(draft.fields()), job_file(team, short)
        findings = _draft_findings.with_job(root, loaded, team, short, text)
        if not _draft_findings.show_new(findings, standing):
            break
        wrong = (
            question_of(finding.path or "")
            for finding in findings
            if finding.is_error and finding.location.file == path
        )
        if not asker.again(draft, wrong):
            return _draft_findings.nothing()
    files.create(root / path, text)
    say(f"wrote {root / path}; next: trainyard synth")
    return 0


@app.command("team")
def team(
    name: str | None = typer.Argument(
        None,
        metavar="NAME",
        help="Name of the team, which is also its folder below jobs/, and its namespace unless its file names one.",
    ),
    group: str | None = typer.Option(None, help="Group of its members, as the identity provider names it."),
    queues: str | None = typer.Option(
        None, metavar="CLUSTER/QUEUE", help="Queues that admit the team, separated by commas."
    ),
    storage: str | None = typer.Option(
        None, help="Storage of its checkpoints, which several nodes can write to; or none."
    ),
    size: str | None = typer.Option(None, metavar="SIZE", help="Size of the checkpoint volume, as in 5Ti."),
    pod_security: str | None = typer.Option(None, metavar="LEVEL", help="Pod Security level; default: restricted."),
    secrets: str | None = typer.Option(None, metavar="NAME", help="Secrets in its namespace, separated by commas."),
    root: Path = ROOT,
) -> int:
    """Write platform/teams/<name>.yaml, and add the team to queues in the clusters' files."""
    given = {key.replace("_", "-"): value for key, value in locals().items() if key != "root"}
    from trainyard.base.system.repository import CLUSTERS, TEAMS, team_file
    from trainyard.faces.cli import _draft_findings
    from trainyard.faces.cli._ask import Asker
    from trainyard.faces.drafts.owners import rules
    from trainyard.faces.drafts.team import TeamDraft

    draft = TeamDraft(_draft_findings.specs(root), names_in(root / TEAMS))
    Asker.of(given).fill(draft)
    texts = {f"{CLUSTERS}/{path.name}": path.read_text(encoding="utf-8") for path in (root / CLUSTERS).glob("*.yaml")}
    changes = draft.changes(texts)
    if not _draft_findings.write_if_clean(root, changes, new=team_file(name := draft.answers["name"])):
        return 1
    say(f"wrote {', '.join(str(root / path) for path in changes)}; next: trainyard new job {name}/<job>")
    lines = rules(name, f"@<organisation>/{draft.answers['group']}")
    page(f"add these lines to CODEOWNERS, so that the team owns its jobs:\n{lines}", end="")
    if not draft.chosen():
        say(f"no queue admits the team yet; add {name} to the teams of a queue in {CLUSTERS}/<cluster>.yaml")
    return 0


@app.command("cluster")
def cluster(
    name: str | None = typer.Argument(None, metavar="NAME", help="Name of the cluster, as Argo CD knows it."),
    shape: str | None = typer.Option(None, help="Node shape; a wrong name lists all shapes."),
    nodes: str | None = typer.Option(None, metavar="NUMBER", help="Number of nodes."),
    pool: str | None = typer.Option(None, help="Name of the node pool; default: the name of the GPU, or cpu."),
    teams: str | None = typer.Option(None, metavar="NAME", help="Teams that its queue admits, separated by commas."),
    queue: str | None = typer.Option(
        None, help="Name of its queue, which gets the quota of all nodes; default: training."
    ),
    kubernetes: str | None = typer.Option(None, metavar="MINOR", help=f"{minors_in_words()}."),
    gpu_operator: str | None = typer.Option(None, metavar="trainyard|provider", help="Who installs the GPU operator."),
    device_access: str | None = typer.Option(
        None, metavar="udev|open", help="For AMD GPUs: how users get access to the devices."
    ),
    root: Path = ROOT,
) -> int:
    """Write platform/clusters/<name>.yaml: nodes of one shape, the operators that they need, and one queue."""
    given = {key.replace("_", "-"): value for key, value in locals().items() if key != "root"}
    from trainyard.base.system.repository import CLUSTERS, cluster_file
    from trainyard.faces.cli import _draft_findings
    from trainyard.faces.cli._ask import Asker
    from trainyard.faces.drafts.cluster import ClusterDraft

    draft = ClusterDraft(_draft_findings.specs(root), names_in(root / CLUSTERS))
    Asker.of(given).fill(draft)
    path = cluster_file(draft.answers["name"])
    if not _draft_findings.write_if_clean(root, {path: draft.file()}, new=path):
        return 1
    say(f"wrote {root / path}; next: trainyard synth")
    say("still missing: storage for checkpoints, the fabric, kubelet settings (docs/clusters.md, docs/fabric.md)")
    return 0


def names_in(folder: Path) -> frozenset[str]:
    """Return the names of the specs in a folder, readable or not."""
    return frozenset(path.stem for path in folder.glob("*.yaml"))
