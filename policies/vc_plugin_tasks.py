"""Plugins of a Volcano Job find the tasks that they look for.

Why: Without a task of the right name plugin pytorch sets no MASTER_ADDR, WORLD_SIZE and RANK. Plugin mpi sets no
 MPI_HOST. Nothing reports it: ranks wait for the first one until they time out.
Fix: name the tasks in the plugin's arguments, such as pytorch: [--master=main, --worker=worker].
Source: volcano-sh/volcano v1.14.1 pkg/controllers/job/plugins/distributed-framework/pytorch/pytorch.go, mpi/mpi.go
"""

from collections.abc import Iterator

from trainyard.checks import Manifest, Place, Problem, Severity, World

SEVERITY = Severity.WARNING
LOOKED_FOR = {"pytorch": ("master",), "mpi": ("master", "worker")}
"""By plugin, the options that name tasks it does nothing without; each is the default name, too."""


def check(world: World) -> Iterator[Problem]:
    """Compare what the plugins of a job look for with the names of its tasks."""
    for job in world.of("Job", group="batch.volcano.sh"):
        tasks = {name for _, name in job.at("spec", "tasks", "*", "name", of=str)}
        for plugin, options in LOOKED_FOR.items():
            words = job.get("spec", "plugins", plugin)
            if not isinstance(words, list) or not tasks:
                continue
            for option in options:
                yield from missing(job, plugin, option, task_name(words, option), tasks)


def missing(job: Manifest, plugin: str, option: str, name: str, tasks: set[str]) -> Iterator[Problem]:
    """Yield the problem of a task that is not there."""
    if name not in tasks:
        message = f"plugin {plugin} looks for a task {name!r}, which the job does not have; add --{option}=<task>"
        yield Problem(Place(job, ("spec", "plugins", plugin), key=True), message)


def task_name(words: list[object], option: str) -> str:
    """Return the task that an option names, as Go's flags read it: one dash or two, a word or two."""
    every = [str(word) for word in words]
    for index, word in enumerate(every):
        key, equals, value = word.lstrip("-").partition("=")
        if word.startswith("-") and key == option:
            return value if equals else (every[index + 1] if index + 1 < len(every) else "")
    return option
