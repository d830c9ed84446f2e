"""What `make agreement` asks: of which oracle, how often, and how its answer is read."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from oracle.components import ARGOCD, ARGOCD_NEW

COMMENTED = "tests/kueue/cases"
OPERATORS = "kueue,jobset,trainer,training-operator,mpi-operator,kuberay,lws"


class Counts(NamedTuple):
    """How many cases were asked about, and how many of them differ."""

    cases: int
    differ: int


@dataclass(frozen=True)
class Question:
    """One command; {program}, {kubeconfig}, {count}, {python} and {cluster} are filled in."""

    what: str
    command: Sequence[str]
    count: int = 0
    read: Callable[[str], Counts] | None = None
    """Reads what the command prints; None for tests of pytest."""


@dataclass(frozen=True)
class Subject:
    """Questions to one oracle: what must be built, how its cluster is started, and what tests are told of it."""

    needs: Sequence[str]
    questions: Sequence[Question]
    seconds: int
    """What all of it takes on two cores with other work, measured, or reckoned from a tenth of it."""
    program: str = ""
    """The program that answers cases, where it is one."""
    cluster: Sequence[str] = ()
    """Arguments of `up`, where a cluster answers."""
    empty: bool = False
    """Whether the cluster is one with Argo CD and nothing else, started by `empty`."""
    argocd: str = ""
    """The release of Argo CD that is started beside the cluster, empty for none."""
    variables: Sequence[str] = ()
    """Variables that name the program or the kubeconfig."""


def pattern(text: str) -> Callable[[str], Counts]:
    """Return a reader of the groups `cases` and `differ`; several `cases` are added up."""

    def read(printed: str) -> Counts:
        found = re.search(text, printed, re.MULTILINE)
        if not found:
            raise ValueError("the command printed no counts")
        groups = found.groupdict()
        return Counts(sum(int(groups[name]) for name in groups if name.startswith("cases")), int(groups["differ"]))

    return read


def of_kueue(printed: str) -> Counts:
    """Read the table of tools/kueue_agreement.py: cases that are counted apart are neither right nor wrong."""
    found = re.search(r"^(\d+) cases;", printed, re.MULTILINE)
    if not found:
        raise ValueError("the command printed no counts")
    return Counts(int(found[1]), len(re.findall(r"^seed \d+: ", printed, re.MULTILINE)))


def of_kubelet(printed: str) -> Counts:
    """Read the table of tools/node_cases.py."""
    found = re.search(r"^cases +(\d+) of +(\d+) ", printed, re.MULTILINE)
    if not found:
        raise ValueError("the command printed no counts")
    return Counts(int(found[2]), int(found[2]) - int(found[1]))


def of_pytest(printed: str) -> Counts:
    """Read the last line of pytest: a test is a case; skipped ones were not asked."""
    counted = {name: int(count) for count, name in re.findall(r"(\d+) (passed|failed|error)", printed.splitlines()[-1])}
    wrong = counted.get("failed", 0) + counted.get("error", 0)
    return Counts(counted.get("passed", 0) + wrong, wrong)


DIFFER = pattern(r"^(?P<cases>\d+) cases, (?P<differ>\d+) differ")
OF_CLUSTERS = pattern(r"^\d+ clusters, (?P<cases>\d+) jobs, (?P<differ>\d+) differ")


def marked(what: str, *files: str, only: str = "slow or cluster") -> Question:
    """Return marked tests, which ask the oracle that their variables name."""
    return Question(what, ("-m", "pytest", "-n", "0", "-m", only, *files))


def tool(what: str, name: str, *arguments: str, count: int, read: Callable[[str], Counts]) -> Question:
    """Return a program of tools/."""
    return Question(what, (f"tools/{name}.py", *arguments), count, read)


KUEUE = ("--program", "{program}", "--count", "{count}")
CLUSTER = ("--kubeconfig", "{kubeconfig}", "--count", "{count}")
CHANGED = ("--changed", COMMENTED)
QUEUES = [
    *(f"tests/kueue/test_{name}.py" for name in ("replay", "changed", "requests", "places", "second_looks")),
    *("tests/kueue/test_overlapping.py", "tests/live/test_kueue_oracle.py"),
]

LOOP = marked(
    "from a commit to pods, health of every known state",
    *("tests/live/test_argocd.py", "tests/live/test_unseen.py", "tests/live/test_health.py"),
    only="argocd",
)

RELEASES = ("kuberay=1.6.2", "lws=0.10.0", "volcano=1.14.4", "mpi-operator=0.8.0")
"""Of the projects in schemas/, the release nearest to the operator that runs, where that is not the newest."""

SUBJECTS: Mapping[str, Subject] = {
    "kueue": Subject(
        ("kueue",),
        (
            tool("clusters by chance", "kueue_agreement", *KUEUE, count=2000, read=of_kueue),
            tool("commented cases, changed by chance", "kueue_agreement", *KUEUE, *CHANGED, count=1000, read=of_kueue),
            tool("jobs of them", "kueue_agreement", *KUEUE, *CHANGED, "--jobs", count=500, read=of_kueue),
            marked("recordings and runs of the tree", *QUEUES),
        ),
        seconds=370,
        program="kueue",
        variables=("TRAINYARD_KUEUE_ORACLE",),
    ),
    "kubelet": Subject(
        ("kubelet",),
        (
            tool(
                *("nodes and pods by chance", "node_cases", "--oracle", "{program}", "--cases", "{count}"),
                count=1000,
                read=of_kubelet,
            ),
            marked(
                "pods of the tree",
                *(
                    "tests/kubelet/test_recorded.py",
                    "tests/kubelet/test_generated.py",
                    "tests/admission/test_kubelet.py",
                ),
            ),
        ),
        seconds=160,
        program="kubelet",
        variables=("TRAINYARD_KUBELET_ORACLE",),
    ),
    "helm": Subject(
        ("helm", "charts"),
        (marked("values by chance, and those of the tree", "tests/helm"),),
        seconds=30,
        program="helm",
        variables=("TRAINYARD_HELM_ORACLE",),
    ),
    "promtool": Subject(
        ("promtool",),
        (marked("rules of monitoring, and which alerts fire", "tests/monitoring"),),
        seconds=30,
        program="promtool",
        variables=("TRAINYARD_PROMTOOL_ORACLE",),
    ),
    "apiserver": Subject(
        ("apiserver", "crds"),
        (
            marked(
                "every object of generated/", "tests/live/test_server.py", "tests/live/test_verify.py", only="cluster"
            ),
        ),
        seconds=120,
        cluster=("--only", "apiserver", "--crds", "all"),
        variables=("TRAINYARD_KUBECONFIG",),
    ),
    "objects": Subject(
        ("cluster", "crds"),
        (
            tool(
                *("objects by chance, by schema, rules and webhooks", "agreement", "--kubeconfig", "{kubeconfig}"),
                *("--cases", "{count}", *(word for release in RELEASES for word in ("--with", release))),
                count=2000,
                read=DIFFER,
            ),
            marked("where engines differ", "tests/test_engines.py", only="cluster"),
        ),
        seconds=280,
        cluster=("--operators", "all", "--crds", "all", "--nodes", "none"),
        variables=("TRAINYARD_KUBECONFIG",),
    ),
    "scheduler": Subject(
        ("scheduler",),
        (
            tool("pods by chance", "scheduler_agreement", *CLUSTER, count=300, read=DIFFER),
            tool("jobs that nearly fill nodes", "scheduler_agreement", *CLUSTER, "--jobs", count=50, read=DIFFER),
        ),
        seconds=260,
        cluster=("--only", "scheduler", "--crds", "none"),
        variables=("TRAINYARD_SCHEDULER_ORACLE",),
    ),
    "volcano": Subject(
        ("cluster",),
        (
            tool("gangs by chance", "volcano_agreement", *CLUSTER, count=60, read=DIFFER),
            marked("gangs of queues", "tests/admission/test_gangs.py"),
        ),
        seconds=150,
        cluster=("--operators", "volcano", "--crds", "volcano", "--without-kwok"),
        variables=("TRAINYARD_VOLCANO_ORACLE",),
    ),
    "cluster": Subject(
        ("cluster",),
        (
            tool(
                *("clusters of the tree with all jobs", "cluster_agreement", *CLUSTER),
                *("--configure", "{python} tools/oracles/cluster/configure --name {cluster}"),
                count=1,
                read=OF_CLUSTERS,
            ),
        ),
        seconds=300,
        cluster=("--operators", OPERATORS, "--nodes", "none"),
        variables=("TRAINYARD_CLUSTER_ORACLE",),
    ),
    "operators": Subject(
        ("cluster", "crds"),
        (
            marked(
                "updates, tenants, retiring, pods that controllers make",
                *("tests/checks/test_updates.py", "tests/live/test_tenants.py", "tests/live/test_retire.py"),
                *("tests/local/test_controllers.py",),
                only="cluster",
            ),
        ),
        seconds=300,
        cluster=("--operators", "all", "--crds", "all"),
        variables=("TRAINYARD_KUBECONFIG",),
    ),
    "argocd": Subject(
        ("cluster", "argocd"),
        (LOOP,),
        seconds=210,
        cluster=("--operators", OPERATORS),
        argocd=ARGOCD,
        variables=("TRAINYARD_ARGOCD",),
    ),
    "argocd-new": Subject(
        ("cluster", "argocd-new"),
        (LOOP,),
        seconds=210,
        cluster=("--operators", OPERATORS),
        argocd=ARGOCD_NEW,
        variables=("TRAINYARD_ARGOCD",),
    ),
    "nothing": Subject(
        ("cluster", "argocd", "charts"),
        (marked("a cluster from the root Application alone", "tests/live/test_from_nothing.py", only="argocd"),),
        seconds=900,
        empty=True,
        variables=("TRAINYARD_EMPTY_CLUSTER",),
    ),
}
