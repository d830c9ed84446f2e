"""What lies where below `generated/`: each cluster's objects, the records about them, and files for node images."""

from __future__ import annotations

INDEX, LEDGER, NODES, RUNS = "index/", "ledger/", "nodes/", "runs/"
"""Folders of a cluster: our two kinds of records, what belongs into node images, and the runs by team."""

PREREQUISITES = "PREREQUISITES.md"
"""The page in a cluster's folder that lists what somebody else installs."""

OF_NO_SERVER = (INDEX, LEDGER, NODES)
"""Folders whose files no API server ever sees."""


def run_folder(team: str, run: str) -> str:
    """Return the folder of a run, relative to its cluster's."""
    return f"{RUNS}{team}/{run}"


def index_file(folder: str) -> str:
    """Return where the index of a folder is, relative to the cluster's folder."""
    return f"{INDEX}{folder}.json"


def index_folder(path: str) -> str:
    """Return the folder whose index is at a path of the cluster's folder."""
    return path.removeprefix(INDEX).removesuffix(".json")


def is_shared_index(path: str, cluster: str) -> bool:
    """Say whether a path below `generated/` is an index of a cluster's, but not that of a single run."""
    runs = f"{cluster}/{INDEX}{RUNS}"
    return path.startswith(f"{cluster}/{INDEX}") and not (path.startswith(runs) and path.count("/") > runs.count("/"))


def ledger_file(team: str, job: str) -> str:
    """Return where a job's ledger is, relative to the cluster's folder."""
    return f"{LEDGER}{team}/{job}.json"


def job_of_ledger(path: str) -> tuple[str, str, str] | None:
    """Return cluster, team and job of a path below `generated/`, or None where it is no ledger's."""
    cluster, _, rest = path.partition("/")
    parts = rest.removeprefix(LEDGER).removesuffix(".json").split("/")
    if len(parts) != 2 or rest != ledger_file(*parts):
        return None
    return cluster, parts[0], parts[1]


def is_object(path: str) -> bool:
    """Say whether a file, named by its path in a cluster's folder, is for an API server."""
    return path.endswith(".yaml") and not path.startswith(OF_NO_SERVER)


def run_of(path: str) -> str | None:
    """Return `<cluster>/runs/<team>/<run>` for a file in such a folder and for its index, else None."""
    cluster, _, rest = path.partition("/")
    folder = index_folder(rest) if rest.startswith(INDEX) else rest.rpartition("/")[0]
    parts = folder.split("/")
    return f"{cluster}/{'/'.join(parts[:3])}" if folder.startswith(RUNS) and len(parts) >= 3 else None


def job_of_run(folder: str) -> tuple[str, str]:
    """Return team and job of a folder `<cluster>/runs/<team>/<run>`; a run is called `<job>-<digest>`."""
    team, run = folder.split("/")[-2:]
    return team, run.rpartition("-")[0]
