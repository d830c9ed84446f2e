"""An mpirun that says how many ranks it starts finds slots for all of them.

Why: mpirun ends at once and says that there are not enough slots, each time that the launcher is tried.
Fix: leave -np out, which starts one rank for each slot, or raise slotsPerWorker or the number of workers.
Source: kubeflow/mpi-operator v0.8.2 pkg/controller/mpi_job_controller.go newConfigMap; Open MPI v5.0 mpirun(1)
"""

from collections.abc import Iterator

from trainyard.checks import Manifest, Place, Problem, World, whole_number

OPEN_MPI = ("", "OpenMPI")
"""The implementation that counts slots; it is the default."""
NUMBER = ("-np", "--np", "-n", "-c")
STARTERS = ("mpirun", "mpiexec", "orterun", "prterun")
OWN = (
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
"""Options by which somebody says where ranks go, or that slots do not count."""


def check(world: World) -> Iterator[Problem]:
    """Look at the launchers of MPIJobs of the MPI Operator whose command says a number."""
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
            mapped = any("oversubscribe" in f"{name} {value}".lower() for name, value in set_for(job, container))
            if not mapped:
                yield from too_many([(Place(job, path), word) for path, word in words], workers, slots)


def set_for(job: Manifest, container: tuple[str | int, ...]) -> Iterator[tuple[str, str]]:
    """Yield the variables of a container that are written."""
    for _, variable in job.at(*container, "env", "*", of=dict):
        yield str(variable.get("name")), str(variable.get("value"))


def too_many(words: list[tuple[Place, str]], workers: int, slots: int) -> Iterator[Problem]:
    """Yield a number of ranks that is larger than that of slots, before the program that they run."""
    starts = next((at for at, (_, word) in enumerate(words) if word.rpartition("/")[2] in STARTERS), None)
    if starts is None or any(word.upper().endswith("OVERSUBSCRIBE") or word in OWN for _, word in words):
        return
    for (_, option), (place, number) in zip(words[starts:], words[starts + 1 :], strict=False):
        if option in NUMBER and (ranks := whole_number(number)) is not None:
            if ranks > workers * slots:
                message = f"mpirun starts {number} ranks, but {workers} workers of {slots} slots have {workers * slots}"
                yield Problem(place, message)
            return
