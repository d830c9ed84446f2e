"""The rules of reading specs: where files lie, and what their fields may be."""

from __future__ import annotations

from dataclasses import replace

from trainyard.findings import Severity
from trainyard.rules import Rule

OVERLOOKED = "what the file asks for would be overlooked"
UNREADABLE = "what the field asks for cannot be told, and nothing is rendered from it"
MEANT = "a field that is passed over in silence is not what its author meant"


def rule(topic: str, title: str, fix: str, *, why: str = UNREADABLE, source: str = "docs/jobs.md") -> Rule:
    """Return a rule on specs."""
    return Rule(f"spec/{topic}", title, why, fix, source)


def of_file(topic: str, title: str, fix: str, *, why: str = OVERLOOKED) -> Rule:
    """Return a rule on a file as a whole."""
    return rule(topic, title, fix, why=why, source="docs/clusters.md")


FILES = (
    of_file("missing-file", "A repository has platform/repository.yaml.", "write live and repoURL into it"),
    of_file("empty-file", "A spec's file holds a spec.", "write a spec into it, or delete it"),
    of_file("several-documents", "A file holds one spec.", "write one spec a file"),
    of_file("file-name", "A file is named as what it describes.", "rename the file: lower case, digits and '-'"),
    of_file("file-ending", "A spec's file ends in .yaml.", "rename the file"),
    of_file("file-size", "A spec, and what it brings along, has at most 1 MiB.", "split it, or put data on a volume"),
    of_file("file-encoding", "A small file is UTF-8 text.", "put binary data on a volume"),
    of_file("missing-small-file", "A small file that a job names is there.", "name a file beside the job"),
    of_file("folder", "A file lies in the folder of its kind.", "move the file"),
    of_file("symbolic-link", "A spec is no symbolic link.", "put the file itself there"),
    of_file("not-a-file", "A spec is a plain file.", "remove what is there"),
    of_file("team-name", "A team is not named as the system's namespaces are.", "choose another name"),
    of_file(
        "job-name", "A job is named so that its pods can be.", "a letter, then letters, digits and '-', at most 30"
    ),
    of_file("duplicate-job", "A job is made by one file.", "delete or rename one", why="both would own one run"),
    of_file("job-as-file", "A job is not another job's small file.", "put a copy into a subfolder"),
    of_file("not-a-job", "A file beside jobs is a job, or is named by one.", "move it into a subfolder, or delete it"),
    of_file("python-off", "Jobs are programs only where the team allows it.", "set python: true in the team's file"),
    of_file("python-error", "A program that makes jobs ends without an error.", "mend the program at that line"),
    replace(
        of_file(
            "python-empty",
            "A program that makes jobs makes some.",
            "let it yield jobs, or delete it",
            why="a list that was emptied by mistake trains nothing, and nobody is told",
        ),
        severity=Severity.WARNING,
    ),
    of_file(
        "python-isolated",
        "Programs that make jobs run where the kernel isolates them.",
        "run this on Linux from 5.13 on, or read the programs and say --unsafe-python",
        why="a program that nobody has read would have the rights of whoever runs this",
    ),
    of_file(
        "python-same",
        "A program makes the same jobs every time and everywhere.",
        "derive every value from the program alone; write down what chance, clock or machine gave",
        why="another day, laptop or user would end its runs and start others",
    ),
)

FIELDS = (
    rule("unknown-field", "A spec has no field that does not exist.", "remove the field, or mend its name", why=MEANT),
    rule("missing-field", "A spec has every field that has no default.", "add the field"),
    rule("type", "A field has a value of its type.", "write a value of that type"),
    rule(
        "number",
        "A number is written in decimals, without a leading zero, and is not read as zero unless it is.",
        "write the number that is meant, or quote it where it is a text",
        why="YAML reads it in another base or as zero, and a program gets another number than its author wrote",
        source="go.yaml.in/yaml v2.4 resolve.go",
    ),
    rule("choice", "A field with a choice of values has one of them.", "take one of the values"),
    rule("range", "A number is within its bounds.", "take a number within them"),
    rule("empty", "A field that is there is not empty.", "write a value, or remove the field"),
    rule("too-many", "A list has no more entries than go there.", "remove some"),
    rule("depth", "Values of a spec are nested no deeper than any object of Kubernetes is.", "flatten the value"),
    rule("length", "A text is no longer than where it goes allows.", "shorten it"),
    rule("form", "A text has the form that its field asks for.", "write it in that form"),
    rule("path", "A path leads downwards from its folder.", "write a relative path without '.' or '..'"),
    rule("quantity", "An amount is a quantity as Kubernetes writes it.", "write one such as 16Gi or 500m"),
    rule(
        "unit",
        "An amount of bytes has a unit.",
        "write one such as 16Gi",
        why="500 is five hundred bytes and 500m half a byte, in which nothing starts",
        source="kubernetes v1.35 staging/src/k8s.io/apimachinery/pkg/api/resource/quantity.go",
    ),
    rule("duplicate", "A list names a thing once.", "remove the second"),
    rule("one-of", "Of fields that exclude each other, one is there.", "keep one"),
    rule("command", "A command is a list of words.", "write the executable and each argument by itself"),
    rule("program", "A program is the script alone.", "leave out what the launcher adds, and put arguments into args"),
    rule(
        "reserved-key",
        "A job writes no labels and annotations of controllers.",
        "remove the key",
        why="a controller would overwrite it, or act on it",
    ),
    rule(
        "preemption",
        "borrowWithinCohort comes with reclaimWithinCohort.",
        "set reclaimWithinCohort to LowerPriority or Any",
        why="Kueue's webhook refuses the ClusterQueue",
        source="kueue v0.19.2 pkg/webhooks/clusterqueue_webhook.go",
    ),
)

VALUE = rule("value", "A field has a value that it can take.", "write what the message asks for")

RULES = {each.id.removeprefix("spec/"): each for each in (*FILES, *FIELDS)}
