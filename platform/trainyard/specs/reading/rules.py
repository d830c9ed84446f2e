"""The rules of reading specs: where files lie, and what their fields may be."""

from __future__ import annotations

from dataclasses import replace

from trainyard.base.findings import Severity
from trainyard.base.rules import Rule

OVERLOOKED = "Trainyard would ignore the file"
UNREADABLE = "the value cannot be used, so nothing is rendered from this file"
MEANT = "an ignored field would silently have no effect"


def rule(topic: str, title: str, fix: str, *, why: str = UNREADABLE, source: str = "docs/jobs.md") -> Rule:
    """Return a rule on specs."""
    return Rule(f"spec/{topic}", title, why, fix, source)


def of_file(topic: str, title: str, fix: str, *, why: str = OVERLOOKED) -> Rule:
    """Return a rule on a file as a whole."""
    return rule(topic, title, fix, why=why, source="docs/clusters.md")


FILES = (
    of_file("missing-file", "A repository has platform/repository.yaml.", "write live and repoURL into it"),
    of_file("empty-file", "A spec's file is not empty.", "write a spec into it, or delete it"),
    of_file("several-documents", "A file holds one spec.", "write one spec per file"),
    of_file(
        "file-name",
        "A file has the name of the object that it describes.",
        "rename the file: lower case, digits and '-'",
    ),
    of_file("file-ending", "A spec's file ends in .yaml.", "rename the file"),
    of_file("file-size", "A spec with its small files has at most 1 MiB.", "split the spec, or put data on a volume"),
    of_file("file-encoding", "A small file is UTF-8 text.", "put binary data on a volume"),
    of_file("missing-small-file", "A small file that a job names exists.", "use the name of a file next to the job"),
    of_file("folder", "A file lies in the folder of its kind.", "move the file"),
    of_file("symbolic-link", "A spec is not a symbolic link.", "replace the link by the file"),
    of_file("not-a-file", "A spec is a plain file.", "remove that path, or write a plain file there"),
    of_file("team-name", "A team does not have the name of a system namespace.", "choose another name"),
    of_file(
        "job-name",
        "The name of a job is short and valid enough for names of pods.",
        "use at most 30 letters, digits and '-', a letter first",
    ),
    of_file(
        "duplicate-job",
        "Only one file describes a job.",
        "delete or rename one",
        why="both files would own the same run",
    ),
    of_file(
        "base-missing",
        "The base of a cluster is a file of platform/clusters.",
        "correct the name, or remove base",
        why="fields of the cluster would be missing",
    ),
    of_file(
        "base-cycle",
        "No cluster is its own base.",
        "remove base from one of the files",
        why="no file would say the fields that the others leave out",
    ),
    replace(
        of_file(
            "base-null",
            "A null in a cluster with a base removes something that the base has.",
            "write the name as it is in the base, or remove the line",
            why="what the line was to remove stays on the cluster",
        ),
        severity=Severity.WARNING,
    ),
    of_file("job-as-file", "A job is not another job's small file.", "copy the file into a subfolder"),
    of_file(
        "not-a-job",
        "Every file next to jobs is a job, or a job lists it under files.",
        "move the file into a subfolder, or delete it",
    ),
    of_file(
        "python-off",
        "A team uses job programs in Python only with python: true.",
        "set python: true in the team's file",
    ),
    of_file("python-error", "A Python job file ends without an error.", "correct the program at that line"),
    replace(
        of_file(
            "python-empty",
            "A Python job file yields at least one job.",
            "let the file yield jobs, or delete it",
            why="a list that is empty by mistake would train nothing, without an error",
        ),
        severity=Severity.WARNING,
    ),
    of_file(
        "python-isolated",
        "The kernel isolates Python job files.",
        "use Linux 5.13 or newer, or review the files and use --unsafe-python",
        why="otherwise an unreviewed file runs with your rights",
    ),
    of_file(
        "python-same",
        "A Python job file yields the same jobs every time and everywhere.",
        "compute every value from the file alone; write random numbers, times and machine names as constants",
        why="on another day or machine, other runs would replace its runs",
    ),
)

FIELDS = (
    rule("unknown-field", "A spec has only known fields.", "remove the field, or correct its name", why=MEANT),
    rule("missing-field", "A spec has every field that has no default.", "add the field"),
    rule("type", "A field has a value of its type.", "write a value of that type"),
    rule(
        "number",
        "A number is decimal, without a leading zero, and large enough not to be read as zero.",
        "write the intended number in decimals, or quote it if it is text",
        why="YAML reads it in another base or as zero, so the program gets a different number",
        source="go.yaml.in/yaml v2.4 resolve.go",
    ),
    rule(
        "quotes",
        "A text has plain quotes, dashes and spaces.",
        "write plain characters",
        why="those of a word processor are part of the text, so the program gets another name or option",
        source="YAML 1.2.2, 7.3.1 and 7.3.2; Python 3.13 Lib/argparse.py, prefix_chars",
    ),
    rule("choice", "A field with a fixed set of values has one of them.", "use one of the values"),
    rule("range", "A number is within its bounds.", "use a number within the bounds"),
    rule("empty", "A field that is set is not empty.", "write a value, or remove the field"),
    rule("too-many", "A list has at most the allowed number of entries.", "remove some entries"),
    rule("depth", "Values of a spec are not nested deeper than Kubernetes objects.", "flatten the value"),
    rule("length", "A text is at most as long as the field allows.", "shorten the text"),
    rule("form", "A text has the format of its field.", "use the format in the message"),
    rule("path", "A path stays inside its folder.", "write a relative path without '.' or '..'"),
    rule("quantity", "An amount is a quantity as Kubernetes writes it.", "write an amount such as 16Gi or 500m"),
    rule(
        "unit",
        "An amount of bytes has a unit.",
        "write an amount such as 16Gi",
        why="500 means 500 bytes and 500m half a byte; no container starts with so little",
        source="kubernetes v1.35 staging/src/k8s.io/apimachinery/pkg/api/resource/quantity.go",
    ),
    rule("duplicate", "A list has no entry twice.", "remove the second entry"),
    rule("one-of", "Only one of several exclusive fields is set.", "keep one of them"),
    rule("command", "A command is a list of words.", "write the executable and each argument as a separate entry"),
    rule(
        "program",
        "The field program is the script alone.",
        "remove the launcher and its options, and move arguments to args",
    ),
    rule(
        "reserved-key",
        "A job sets no labels and annotations of controllers.",
        "remove the key",
        why="a controller would overwrite it, or act on it",
    ),
    rule(
        "preemption",
        "borrowWithinCohort needs reclaimWithinCohort.",
        "set reclaimWithinCohort to LowerPriority or Any",
        why="Kueue's webhook refuses the ClusterQueue",
        source="kueue v0.19.2 pkg/webhooks/clusterqueue_webhook.go",
    ),
)

VALUE = rule("value", "A field has a valid value.", "correct the value as the message says")

RULES = {file.id.removeprefix("spec/"): file for file in (*FILES, *FIELDS)}
