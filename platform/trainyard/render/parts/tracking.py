"""Experiment tracking of a run: what its program is told of MLflow and Weights & Biases, and where people look at it.

Facts: mlflow v3.17 mlflow/environment_variables.py, mlflow/tracking/context/system_environment_context.py, asked with a
real server; wandb v0.31 wandb/sdk/wandb_settings.py.
"""

from __future__ import annotations

import json
from urllib.parse import quote

from trainyard.render.sizing import Sized
from trainyard.specs import Cluster
from trainyard.specs.models.tracking import Login, MLflow, Wandb
from trainyard.specs.run import Run

MLFLOW, WANDB, WANDB_OPERATOR = "mlflow", "wandb", "wandb-operator"

PORT = 5000
"""Where MLflow's server listens in its pod and behind its Service."""

SERVICE = f"mlflow.mlflow.svc:{PORT}"
"""Host of the server that is installed from here, as clients name it; MLflow refuses any other (v3.5 and newer)."""

ARRAY = "ARRAY_INDEX"
"""Variable that tells the pods of an array apart, of which each is a run of its own to a tracker."""

IDENTITY = {
    MLFLOW: ("MLFLOW_TRACKING_URI", "MLFLOW_RUN_CONTEXT"),
    WANDB: ("WANDB_BASE_URL", "WANDB_RUN_ID", "WANDB_RESUME"),
}
"""Variables that a job may not set: they say where it writes, and as which run. Names of groups it may change."""


def has_server(cluster: Cluster) -> bool:
    """Whether MLflow's server on a cluster is installed from here."""
    return cluster.installs(MLFLOW) and cluster.tracking is not None and cluster.tracking.mlflow is not None


def login(cluster: Cluster) -> Login | None:
    """Return the login of the server that is installed from here; None where it asks nobody, or is elsewhere."""
    said = cluster.tracking.mlflow if cluster.tracking else None
    return said.login if said is not None and has_server(cluster) else None


def chosen(run: Run) -> tuple[MLflow | None, Wandb | None]:
    """Return the trackers that a job names and its cluster has."""
    there, named = run.cluster.tracking, run.job.tracking
    if there is None:
        return None, None
    return there.mlflow if MLFLOW in named else None, there.wandb if WANDB in named else None


def environment(run: Run) -> dict[str, Sized[str]]:
    """Return the variables of the trackers that a job names, each with its origin; values of Secrets are not here."""
    mlflow, wandb = chosen(run)
    return {**(of_mlflow(run, mlflow) if mlflow else {}), **(of_wandb(run, wandb) if wandb else {})}


def tracked_name(run: Run) -> str:
    """Return the name by which a tracker knows a run: its own, and of an array that of each index."""
    return run.name if run.job.array is None else f"{run.name}-$({ARRAY})"


def of_mlflow(run: Run, said: MLflow) -> dict[str, Sized[str]]:
    """Return MLflow's variables: a run of that name in an experiment of the job.

    MLflow gives every run an id of its own, so a pod that starts again finds its run by the tag `mlflow.runName`.
    """
    ours = has_server(run.cluster)
    address = f"http://{SERVICE}" if ours else said.url or ""
    tags = {
        "mlflow.runName": tracked_name(run),
        "team": run.team_name,
        "job": run.job_name,
        "cluster": run.cluster_name,
    }
    return {
        "MLFLOW_TRACKING_URI": Sized(address, "operators.mlflow of the cluster" if ours else "tracking.mlflow.url"),
        "MLFLOW_EXPERIMENT_NAME": Sized(f"{run.team_name}/{run.job_name}", "team and name of the job"),
        "MLFLOW_RUN_CONTEXT": Sized(json.dumps(tags, separators=(",", ":")), "name of the run, as tags of MLflow"),
    }


def of_wandb(run: Run, said: Wandb) -> dict[str, Sized[str]]:
    """Return the variables of Weights & Biases: the run continues under the same id when its pods start again."""
    name = tracked_name(run)
    project = Sized(said.project, "tracking.wandb.project") if said.project else Sized(run.team_name, "team of the job")
    return {
        "WANDB_BASE_URL": Sized(said.url, "tracking.wandb.url"),
        "WANDB_ENTITY": Sized(said.entity, "tracking.wandb.entity"),
        "WANDB_PROJECT": project,
        "WANDB_RUN_GROUP": Sized(run.job_name, "name of the job"),
        "WANDB_RUN_ID": Sized(name, "name of the run"),
        "WANDB_NAME": Sized(name, "name of the run"),
        "WANDB_RESUME": Sized("allow", "a pod that starts again continues its run"),
    }


def keys(cluster: Cluster, tracker: str) -> dict[str, tuple[str, str]]:
    """Return a tracker's variables that come from Secrets of a team: `secret/key`, and the field that says so."""
    said, user = cluster.tracking, login(cluster)
    if said is not None and tracker == WANDB and said.wandb is not None:
        return {"WANDB_API_KEY": (said.wandb.api_key, "tracking.wandb.apiKey")}
    if tracker == MLFLOW and user is not None:
        names = {"MLFLOW_TRACKING_USERNAME": "username", "MLFLOW_TRACKING_PASSWORD": "password"}
        return {name: (f"{user.runs}/{key}", "tracking.mlflow.login.runs") for name, key in names.items()}
    if said is not None and tracker == MLFLOW and said.mlflow is not None and said.mlflow.token:
        return {"MLFLOW_TRACKING_TOKEN": (said.mlflow.token, "tracking.mlflow.token")}
    return {}


def secrets(run: Run) -> dict[str, str]:
    """Return the variables that come from Secrets, each as `secret/key`; a job's own `secrets` win over them."""
    found = (keys(run.cluster, tracker) for tracker in (MLFLOW, WANDB) if tracker in run.job.tracking)
    return {name: reference for pairs in found for name, (reference, _) in pairs.items()}


def secret_origins(run: Run) -> dict[str, Sized[str]]:
    """Return the Secrets and keys that these variables come from, for a person to read; never their values."""
    fields = {name: field for tracker in (MLFLOW, WANDB) for name, (_, field) in keys(run.cluster, tracker).items()}
    given = {name: (reference, f"{fields[name]} of the cluster") for name, reference in secrets(run).items()}
    given |= {name: (run.job.secrets[name], "secrets of the job") for name in given if name in run.job.secrets}
    return {name: Sized(f"Secret {reference}", origin) for name, (reference, origin) in given.items()}


def reserved(run: Run) -> tuple[str, ...]:
    """Return the variables that a job may not set, since they say where it writes and as which run."""
    return tuple(name for tracker in run.job.tracking for name in IDENTITY[tracker])


def links(run: Run) -> dict[str, str]:
    """Return the addresses at which people see a run, by tracker; an array has no single one at Weights & Biases."""
    mlflow, wandb = chosen(run)
    found: dict[str, str] = {}
    if mlflow is not None and mlflow.url:
        found[MLFLOW] = f"{mlflow.url.rstrip('/')}/#/experiments"
    if wandb is not None:
        env = {**run.job.env}
        project = env.get("WANDB_PROJECT", wandb.project or run.team_name)
        entity = env.get("WANDB_ENTITY", wandb.entity)
        page = f"{app_address(wandb.url)}/{quote(entity)}/{quote(project)}"
        found[WANDB] = page if run.job.array is not None else f"{page}/runs/{quote(run.name)}"
    return found


def app_address(api: str) -> str:
    """Return where people look at the runs of an API: of the service another host (wandb v0.31 util.api_to_app_url)."""
    return api.rstrip("/").replace("://api.wandb.", "://wandb.", 1)
