"""Write a new job, team or cluster that passes."""

from __future__ import annotations

from pathlib import Path

import typer

from trainyard.cli._options import ROOT
from trainyard.cli._out import page, say
from trainyard.system.data import minors_in_words

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def group() -> None:
    """Write a new file that passes; at a terminal they ask for what no option says, and ask again after a slip."""


@app.command("job")
def job(
    name: str | None = typer.Argument(None, metavar="TEAM/JOB", help="As in nlp/llama."),
    cluster: str | None = typer.Option(None, help="The cluster it runs on."),
    pool: str | None = typer.Option(None, help="The node pool."),
    queue: str | None = typer.Option(None, help="The queue, of those that admit the team."),
    nodes: str | None = typer.Option(None, metavar="NUMBER", help="How many nodes; one by default."),
    gpus: str | None = typer.Option(
        None, metavar="NUMBER", help="GPUs of each node, all by default; or a part, as 1g.10gb or shared."
    ),
    program: str | None = typer.Option(None, help="The script in the image."),
    command: str | None = typer.Option(None, help="Any executable and its arguments, instead of a script."),
    launcher: str | None = typer.Option(None, help="How processes start; torchrun, or exec for a command."),
    processes: str | None = typer.Option(None, metavar="NUMBER", help="Processes of each node; one a GPU by default."),
    image: str | None = typer.Option(None, help="The image, by digest."),
    fabric: str | None = typer.Option(None, metavar="rdma|tcp", help="The network; several nodes take the fabric."),
    checkpoint: str | None = typer.Option(None, metavar="VOLUME", help="Where it saves; none by default."),
    every_minutes: str | None = typer.Option(None, metavar="NUMBER", help="Minutes between two checkpoints."),
    checkpoint_size: str | None = typer.Option(None, metavar="SIZE", help="Of one checkpoint, as 40Gi."),
    secrets: str | None = typer.Option(None, metavar="NAME=secret/key", help="Several with commas between."),
    max_hours: str | None = typer.Option(None, metavar="NUMBER", help="Hours after which a run is ended."),
    cpus: str | None = typer.Option(None, metavar="NUMBER", help="CPUs of each node."),
    memory: str | None = typer.Option(None, metavar="SIZE", help="Memory of each node, as 64Gi."),
    root: Path = ROOT,
) -> int:
    """Write jobs/<team>/<job>.yaml; asks for what no option says when a terminal is there to answer."""
    given = {key.replace("_", "-"): value for key, value in locals().items() if key != "root"}
    from trainyard.cli import _judged
    from trainyard.cli._ask import Asker
    from trainyard.documents import dump
    from trainyard.drafts.job import HEADER, JobDraft, question_of, taken
    from trainyard.errors import SpecError
    from trainyard.specs.load import read_repository
    from trainyard.system import files
    from trainyard.system.repository import job_file

    if program is not None and command is not None:
        raise SpecError("--program and --command exclude each other; keep one")
    loaded = read_repository(root)
    standing = _judged.weigh(root, loaded)
    if any(each.is_error for each in standing):  # what an answer would be compared with may not be there
        _judged.refused(standing)
        return _judged.nothing()
    asker, draft = Asker.of(given), JobDraft(loaded.specs, taken(loaded))
    while True:
        asker.fill(draft)
        team, short = draft.answers["name"].split("/")
        text, path = HEADER + dump(draft.fields()), job_file(team, short)
        findings = _judged.with_job(root, loaded, team, short, text)
        if not _judged.refused(findings, standing):
            break
        wrong = (question_of(each.path or "") for each in findings if each.is_error and each.location.file == path)
        if not asker.again(draft, wrong):
            return _judged.nothing()
    files.create(root / path, text)
    say(f"wrote {root / path}; next: make synth")
    return 0


@app.command("team")
def team(
    name: str | None = typer.Argument(None, metavar="NAME", help="Its folder of jobs, and its namespace."),
    group: str | None = typer.Option(None, help="Its people's group, as the identity provider names it."),
    queues: str | None = typer.Option(None, metavar="CLUSTER/QUEUE", help="Queues that admit it; commas between."),
    storage: str | None = typer.Option(None, help="Storage of its checkpoints, which many nodes write to; or none."),
    size: str | None = typer.Option(None, metavar="SIZE", help="Of that volume, as 5Ti."),
    pod_security: str | None = typer.Option(None, metavar="LEVEL", help="Pod Security level; default: restricted."),
    secrets: str | None = typer.Option(None, metavar="NAME", help="Secrets in its namespace; commas between."),
    root: Path = ROOT,
) -> int:
    """Write platform/teams/<name>.yaml, and add the team to queues in the clusters' files."""
    given = {key.replace("_", "-"): value for key, value in locals().items() if key != "root"}
    from trainyard.cli import _judged
    from trainyard.cli._ask import Asker
    from trainyard.drafts.owners import rules
    from trainyard.drafts.team import TeamDraft
    from trainyard.system.repository import CLUSTERS, TEAMS, team_file

    draft = TeamDraft(_judged.specs(root), names_in(root / TEAMS))
    Asker.of(given).fill(draft)
    texts = {f"{CLUSTERS}/{path.name}": path.read_text(encoding="utf-8") for path in (root / CLUSTERS).glob("*.yaml")}
    changes = draft.changes(texts)
    if not _judged.written(root, changes, new=team_file(name := draft.answers["name"])):
        return 1
    say(f"wrote {', '.join(str(root / path) for path in changes)}; next: trainyard new job {name}/<job>")
    lines = rules(name, f"@<organisation>/{draft.answers['group']}")
    page(f"its jobs are its own by these lines of CODEOWNERS:\n{lines}", end="")
    if not draft.chosen():
        say(f"no queue admits it yet: add {name} to teams of a queue in {CLUSTERS}/<cluster>.yaml")
    return 0


@app.command("cluster")
def cluster(
    name: str | None = typer.Argument(None, metavar="NAME", help="As Argo CD knows it."),
    shape: str | None = typer.Option(None, help="What its nodes are; a wrong one lists all."),
    nodes: str | None = typer.Option(None, metavar="NUMBER", help="How many nodes."),
    pool: str | None = typer.Option(None, help="Name of their pool; default: of their GPU, or cpu."),
    teams: str | None = typer.Option(None, metavar="NAME", help="Teams that it admits; commas between."),
    queue: str | None = typer.Option(None, help="Name of their queue, which has all nodes; default: training."),
    kubernetes: str | None = typer.Option(None, metavar="MINOR", help=f"{minors_in_words()}."),
    gpu_operator: str | None = typer.Option(None, metavar="trainyard|provider", help="Who installs it."),
    device_access: str | None = typer.Option(None, metavar="udev|open", help="Of AMD's GPUs: who opens them to users."),
    root: Path = ROOT,
) -> int:
    """Write platform/clusters/<name>.yaml: nodes of one shape, the operators that they need, a queue of all of them."""
    given = {key.replace("_", "-"): value for key, value in locals().items() if key != "root"}
    from trainyard.cli import _judged
    from trainyard.cli._ask import Asker
    from trainyard.drafts.cluster import ClusterDraft
    from trainyard.system.repository import CLUSTERS, cluster_file

    draft = ClusterDraft(_judged.specs(root), names_in(root / CLUSTERS))
    Asker.of(given).fill(draft)
    path = cluster_file(draft.answers["name"])
    if not _judged.written(root, {path: draft.file()}, new=path):
        return 1
    say(f"wrote {root / path}; next: make synth")
    say("not in it yet, see docs/clusters.md: storage for checkpoints, the fabric, settings of the kubelets")
    return 0


def names_in(folder: Path) -> frozenset[str]:
    """Return the names of the specs in a folder, readable or not."""
    return frozenset(path.stem for path in folder.glob("*.yaml"))
