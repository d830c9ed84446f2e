"""mpirun must not start more ranks than the workers have slots.

Why: Otherwise mpirun exits at once because there are not enough slots, in every attempt of the launcher.
Fix: remove -np to start one rank per slot, or raise slotsPerWorker or the number of workers.
Source: kubeflow/mpi-operator v0.8.2 pkg/controller/mpi_job_controller.go newConfigMap; Open MPI v5.0 mpirun(1)
"""

from collections.abc import Iterator

from trainyard.checks import Manifest, Place, Problem, World, whole_number

OPEN_MPI = ("", "OpenMPI")
"""The MPI implementation that counts slots; it is the default."""
NUMBER = ("-np", "--np", "-n", "-c")
STARTERS = ("mpirun", "mpiexec", "orterun", "prterun")
PLACES_RANKS = (
    "-H",
    "-host",
    "--host",
    "-hostfile",
    "--hostfile",
    "-machinefile",
    "--machinefile",
    "-oversubscribe",
    "--oversubscribe",
)
"""Options that place ranks, or that ignore slots."""


def check(world: World) -> Iterator[Problem]:
    """Check the launchers of the MPI Operator's MPIJobs whose command has a number of ranks."""
    for job in world.of("MPIJob", group="kubeflow.org"):
        workers = job.get("spec", "mpiReplicaSpecs", "Worker", "replicas")
        slots = job.get("spec", "slotsPerWorker")
        slots = 1 if slots is None else slots
        if type(workers) is not int or type(slots) is not int or job.text("spec", "mpiImplementation") not in OPEN_MPI:
            continue
        if job.get("spec", "runLauncherAsWorker") is True:
            workers += 1
        at = ("spec", "mpiReplicaSpecs", "Launcher", "template", "spec", "containers", "*")
        for container, _ in job.at(*at, of=dict):
            words = [
                (path, word)
                for field in ("command", "args")
                for path, text in job.at(*container, field, "*", of=str)
                for word in text.split()
            ]
            mapped = any("oversubscribe" in f"{name} {value}".lower() for name, value in environment(job, container))
            if not mapped:
                yield from too_many([(Place(job, path), word) for path, word in words], workers, slots)


def environment(job: Manifest, container: tuple[str | int, ...]) -> Iterator[tuple[str, str]]:
    """Yield name and value of a container's variables."""
    for _, variable in job.at(*container, "env", "*", of=dict):
        yield str(variable.get("name")), str(variable.get("value"))


def too_many(words: list[tuple[Place, str]], workers: int, slots: int) -> Iterator[Problem]:
    """Yield an option of mpirun with more ranks than slots."""
    starts = next((at for at, (_, word) in enumerate(words) if word.rpartition("/")[2] in STARTERS), None)
    if starts is None or any(word.upper().endswith("OVERSUBSCRIBE") or word in PLACES_RANKS for _, word in words):
        return
    for (_, option), (place, number) in zip(words[starts:], words[starts + 1 :], strict=False):
        if option in NUMBER:  # the first is mpirun's: nccl-tests have an option -n of their own
            ranks = whole_number(number)
            if ranks is not None and ranks > workers * slots:
                message = (
                    f"{option} is {number}, but the workers have {workers * slots} slots ({workers} × {slots})"
                    f"; remove {option}"
                )
                yield Problem(place, message)
            return
