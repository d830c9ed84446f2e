"""A program must be given as many GPUs and nodes as its pods have.

Why: The program stops at GPUs that the container lacks, and at nodes without pods. GPUs left out are paid for and idle.
Fix: remove the option, or write the numbers of the pods.
Source: Lightning-AI/pytorch-lightning 2.6.2 src/lightning/fabric/utilities/device_parser.py,
 src/lightning/fabric/plugins/environments/torchelastic.py; microsoft/DeepSpeed v0.16.5 deepspeed/launcher/runner.py;
 ray v2.60 python/ray/scripts/scripts.py; horovod v0.28 horovod/runner/launch.py, docs/gpus.rst
"""

from collections.abc import Iterator

from trainyard.checks import (
    Place,
    Pods,
    Problem,
    Ranks,
    Severity,
    World,
    arguments,
    command_lines,
    gpus_of,
    ranks,
    whole_number,
)

DEVICES, NODES = ("--trainer.devices", "trainer.devices"), ("--trainer.num-nodes", "trainer.num_nodes")
"""Options of Lightning, by LightningCLI and by Hydra, as in NeMo."""

HOSTS = {"-H", "--hosts", "-hostfile", "--hostfile", "--host-discovery-script", "--include", "--exclude"}
"""Options by which a launcher starts processes elsewhere, too."""

LOCAL: dict[str, tuple[tuple[str, ...], str]] = {
    "deepspeed": (("--num_gpus", "--num-gpus"), "DeepSpeed"),
    "horovodrun": (("-np", "--num-proc"), "horovodrun"),
    "ray": (("--num-gpus",), "Ray"),
}
"""By launcher, its options for the number of GPUs of the container that it runs in, and its name in a sentence."""

FAR = ("--num_nodes", "--num-nodes")

HOSTFILE = "/job/hostfile"
"""Where DeepSpeed looks for its hosts."""

Given = dict[str, tuple[Place, str]]


def check(world: World) -> Iterator[Problem]:
    """Look at the options of containers with GPUs."""
    for job in world.training_jobs():
        for found in ranks(job):
            yield from of_lightning(found)
        for pods in job.pod_sets():
            for container, options in arguments(pods):
                if gpus := gpus_of(pods, container):
                    yield from devices(options, gpus)
            yield from local(pods)


def first(given: Given, names: tuple[str, ...]) -> tuple[Place, int] | None:
    """Return place and value of the first of these options that is a number."""
    for name in names:
        value = whole_number(given[name][1]) if name in given else None
        if value is not None and value > 0:
            return given[name][0], value
    return None


def of_lightning(found: Ranks) -> Iterator[Problem]:
    """Yield devices and nodes of Lightning whose product is not what its launcher starts."""
    given = dict(found.options)
    said = first(given, DEVICES)
    if said is None or (found.gpus and said[1] > found.gpus):
        return
    place, each = said
    if any(name in given for name in NODES) and first(given, NODES) is None:
        return
    nodes = (first(given, NODES) or (place, 1))[1]
    if each * nodes != found.total:
        counts = f"{each} devices × {nodes} {'node' if nodes == 1 else 'nodes'}"
        message = f"Lightning counts {counts} = {each * nodes}, but the launcher starts {found.total} ranks"
        yield Problem(place, f"{message}; set trainer.devices and num_nodes to match")


def devices(given: Given, gpus: int) -> Iterator[Problem]:
    """Yield more devices of Lightning than a container has GPUs."""
    said = first(given, DEVICES)
    if said is not None and said[1] > gpus:
        yield Problem(said[0], f"trainer.devices is {said[1]}, but the container has {count(gpus)}; use {gpus}")


def local(pods: Pods) -> Iterator[Problem]:
    """Yield numbers of GPUs and nodes that launchers are given and that are not those of their container."""
    for container, words in command_lines(pods):
        texts = [word.text for word in words]
        start = next((at for at, text in enumerate(texts) if program(texts, at) in LOCAL), None)
        gpus = gpus_of(pods, container)
        if start is None or not gpus or any(text.partition("=")[0] in HOSTS for text in texts):
            continue
        options, name = LOCAL[program(texts, start)]
        pairs = {text.partition("=")[0]: at for at, text in enumerate(texts) if at > start}
        for option in options:
            if option in pairs:
                at = pairs[option]
                yield from compare(Place(pods.manifest, words[at].path), name, option, value(texts, at), gpus)
        if name == "DeepSpeed" and not has_hosts(pods, container):
            for option in FAR:
                nodes = value(texts, pairs[option]) if option in pairs else None
                if nodes is not None and nodes > 1:
                    message = f"DeepSpeed stops at {option} {nodes}: no hostfile names other nodes; remove it"
                    yield Problem(Place(pods.manifest, words[pairs[option]].path), message)


def program(texts: list[str], at: int) -> str:
    """Return the program that a word starts; of Ray only where it starts a node."""
    name = texts[at].rpartition("/")[2]
    return "" if name == "ray" and texts[at + 1 : at + 2] != ["start"] else name


def value(texts: list[str], at: int) -> int | None:
    """Return the number that an option has, behind `=` or in the next word."""
    _, given, own = texts[at].partition("=")
    return whole_number(own if given else "".join(texts[at + 1 : at + 2]))


def has_hosts(pods: Pods, container: tuple[str | int, ...]) -> bool:
    """Say whether DeepSpeed may find its hosts without an option."""
    mounts = pods.manifest.get(*container, "volumeMounts")
    return any(HOSTFILE.startswith(str(mount.get("mountPath"))) for mount in mounts or () if isinstance(mount, dict))


def compare(place: Place, name: str, option: str, number: int | None, gpus: int) -> Iterator[Problem]:
    """Yield a number that is not that of the container's GPUs."""
    if number is not None and number > gpus:
        yield Problem(place, f"{name} is given {option} {number}, but the container has {count(gpus)}; use {gpus}")
    elif number is not None and 0 < number < gpus:
        message = f"{name} is given {option} {number}, so {gpus - number} of {count(gpus)} may stay idle; use {gpus}"
        yield Problem(place, message, severity=Severity.WARNING)


def count(gpus: int) -> str:
    """Return a number of GPUs with its unit."""
    return "1 GPU" if gpus == 1 else f"{gpus} GPUs"
