"""Configurations drawn at random for a drawn node: most start, some do not, and a few are wrong in themselves."""

from __future__ import annotations

from random import Random
from typing import Any

from kubelet.agreement.configurations import ODD

POLICIES = ("none", "best-effort", "best-effort", "restricted", "restricted", "restricted", "single-numa-node")
BETA, ALPHA = (
    ("distribute-cpus-across-numa", "prefer-align-cpus-by-uncorecache"),
    ("align-by-socket", "distribute-cpus-across-cores"),
)
STABLE = ("full-pcpus-only", "strict-cpu-reservation")


def draw_kubelet(random: Random, node: dict[str, Any]) -> dict[str, Any]:
    """Return a KubeletConfiguration for a drawn node."""
    if random.random() < 0.01:
        return dict(random.choice(ODD))
    out: dict[str, Any] = {"topologyManagerPolicy": random.choice(POLICIES)}
    if random.random() < 0.6:
        out["topologyManagerScope"] = random.choice(("pod", "container"))
    _topology_options(random, out)
    if random.random() < 0.8:
        _cpus(random, node, out)
    kept = _kept(random, out)
    if random.random() < 0.55:
        _memory(random, node, out, kept)
    if random.random() < 0.1:
        out["maxPods"] = random.randint(1, 4)
    if random.random() < 0.03:
        out["podsPerCore"] = 1
    return out


def _topology_options(random: Random, out: dict[str, Any]) -> None:
    options = {}
    if random.random() < 0.3:
        closest = random.choice(("true", "true", "true", "1", "false"))
        options["prefer-closest-numa-nodes"] = closest if random.random() < 0.95 else "yes"
    if random.random() < 0.03:
        options["max-allowable-numa-nodes"] = random.choice(("8", "9", "16", "16", "4", "many"))
    if options:
        out["topologyManagerPolicyOptions"] = options


def _cpus(random: Random, node: dict[str, Any], out: dict[str, Any]) -> None:
    out["cpuManagerPolicy"] = "static"
    options: dict[str, str] = {}
    for name in STABLE:
        if random.random() < 0.25:
            options[name] = "true"
    level = random.random()
    if level < 0.4:
        options[random.choice(BETA)] = "true"
    elif level < 0.6:
        options[random.choice(ALPHA)] = "true"
    elif level < 0.62:
        options |= dict.fromkeys(random.sample((*BETA, *ALPHA), 2), "true")
    if "distribute-cpus-across-cores" in options and random.random() < 0.9:
        options.pop("full-pcpus-only", None)
    if "align-by-socket" in options and out["topologyManagerPolicy"] == "single-numa-node" and random.random() < 0.9:
        out["topologyManagerPolicy"] = "restricted"
    if any(name in options for name in ALPHA) and random.random() < 0.95:
        out["featureGates"] = {"CPUManagerPolicyAlphaOptions": True}
    if options:
        out["cpuManagerPolicyOptions"] = options
    _reserved(random, node, out, whole_cores={"full-pcpus-only", "distribute-cpus-across-numa"} <= set(options))


def _reserved(random: Random, node: dict[str, Any], out: dict[str, Any], *, whole_cores: bool) -> None:
    """Reserve CPUs by name or number; whole cores where the kubelet would otherwise look for CPUs for ever."""
    cores, threads = sum(item.get("cores", 0) for item in node["numa"]), node["threadsPerCore"]
    if random.random() < 0.01:
        return
    if not whole_cores and random.random() < 0.4:
        amount = random.choice(("1", "2", "500m", "1500m", "3"))
        out["systemReserved"] = {"cpu": amount}
        return
    chosen = sorted(random.sample(range(cores), random.choice((1, 1, 2, min(3, cores)))))
    cpus = [_threads(node, core, cores, threads) for core in chosen]
    both = whole_cores or random.random() < 0.8
    out["reservedSystemCPUs"] = ",".join(str(cpu) for core in cpus for cpu in (core if both else core[:1]))


def _threads(node: dict[str, Any], core: int, cores: int, threads: int) -> list[int]:
    """Return CPUs of a core, as far as they are regular; any others of the machine do as well."""
    if node.get("siblings") == "adjacent":
        return [threads * core + thread for thread in range(threads)]
    return [thread * cores + core for thread in range(threads)]


def _kept(random: Random, out: dict[str, Any]) -> int:
    """Reserve memory, and return how much in Mi: what the sums of NUMA nodes must come to."""
    kept = 100
    if random.random() < 0.7:
        amount = random.choice((1024, 2048, 3072))
        out.setdefault(random.choice(("systemReserved", "kubeReserved")), {})["memory"] = f"{amount}Mi"
        kept += amount
    drawn = random.random()
    if drawn < 0.15:
        amount = random.choice((0, 500, 1024))
        out["evictionHard"] = {"memory.available": f"{amount}Mi"} if amount else {"nodefs.available": "10%"}
        kept += amount - 100
    elif drawn < 0.18:
        out["evictionHard"] = {"memory.available": random.choice(("5%", "0%", "12.5%"))}
    elif drawn < 0.22:
        out["evictionHard"] = {"nodefs.available": "5%"}
        out["mergeDefaultEvictionSettings"] = True
    return kept


def _memory(random: Random, node: dict[str, Any], out: dict[str, Any], kept: int) -> None:
    out["memoryManagerPolicy"] = "Static"
    ids = [item.get("id", index) for index, item in enumerate(node["numa"])]
    if random.random() < 0.02:
        return
    if random.random() < 0.03:
        kept += 1
    chosen = ids if random.random() < 0.7 else ids[:1]
    part, rest = divmod(kept, len(chosen))
    parts = {item: part + (rest if index == 0 else 0) for index, item in enumerate(chosen)}
    out["reservedMemory"] = [
        {"numaNode": key, "limits": {"memory": f"{size}Mi"}} for key, size in parts.items() if size
    ]
