"""The repository: where Argo CD finds it, which registries images may come from, what is switched off."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, Field, StrictBool, StrictStr

from trainyard.specs.models.base import Count, Form, Name, Reason, Spec, Text, Waive, validation_error

RepositoryPath = Annotated[
    StrictStr,
    Form(r"(?!.*(?:^|/)\.\.?(?:/|$))[^/\s]+(?:/[^/\s]+)*", "a path in the repository without '/' at the ends"),
]


PAGE = re.compile(r"https?://[^/]+/.*?[^/]/((?:-/)?(?:tree|blob|src/branch)/.*)")
"""Addresses of pages about a repository: GitHub's, GitLab's (`/-/tree/`), Gitea's."""

QUESTION = re.compile(r"https?://[^?#]*([?#]).*")
"""Addresses with a question, which may hold a token, or with a place on a page."""


def clonable(address: str) -> str:
    """Refuse the address of a page about a repository, which nobody can clone."""
    if (question := QUESTION.fullmatch(address)) is not None:
        raise validation_error("form", f"must be an address for git clone; remove {question[1]!r} and all after it")
    if (page := PAGE.fullmatch(address)) is not None:
        raise validation_error("form", f"must be an address for git clone; remove /{page[1][:40]}")
    return address


def check_revision(revision: str) -> str:
    """Refuse a branch by the name that a clone has for it, and words that are no name."""
    if revision.startswith(("origin/", "refs/remotes/")):
        raise validation_error("form", f"is a name in clones; write {revision.rpartition('origin/')[2] or 'main'!r}")
    if revision.split() != [revision]:
        raise validation_error("form", "must be a branch, tag or commit, without spaces")
    return revision


RepositoryAddress = Annotated[
    StrictStr,
    Form(r"(?:https?|ssh|git|file)://\S+|[^@\s/]+@[^:\s]+:\S+", "an address such as https://git.example.com/a/b.git"),
    AfterValidator(clonable),
]
Revision = Annotated[Text, AfterValidator(check_revision)]
Registry = Annotated[
    StrictStr,
    Form(
        r"[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?(?::[0-9]+)?(?:/[a-z0-9][-._a-z0-9]*)*",
        "a registry such as registry.example.com/path, without '://', '*' and '/' at the end",
    ),
]

LabelGroup = Annotated[
    StrictStr,
    Form(
        r"[A-Za-z0-9](?:[-A-Za-z0-9._]*[A-Za-z0-9])?(?:/[A-Za-z0-9](?:[-A-Za-z0-9._]*[A-Za-z0-9])?)?",
        "a group of keys such as example.com, or a key",
    ),
]


Option = Annotated[
    StrictStr,
    Form(r"[A-Za-z_][A-Za-z0-9_.]*", "an option without dashes in front, with '_' for '-', such as output_dir"),
]


class Folders(Spec):
    """Options and variables of your own programs that name folders, beside those of the usual trainers."""

    saves: tuple[Option, ...] = ()
    """Folders that a program writes: `output_dir` is `--output-dir`, `--output_dir`, `output_dir=` and `OUTPUT_DIR`."""
    reads: tuple[Option, ...] = ()
    """Folders or files that a program reads."""


class Repository(Spec):
    """Settings of the whole repository: `platform/repository.yaml`."""

    live: StrictBool
    """Whether clusters sync the repository; if `true`, runs that exist at the base of a change are frozen."""
    repo_url: RepositoryAddress = Field(alias="repoURL")
    """Address from which Argo CD clones the repository."""
    revision: Revision = "main"
    """Branch or tag that Argo CD follows."""
    path: RepositoryPath = "generated"
    """Path of the generated tree in the repository, without a slash at its start or end."""
    registries: tuple[Registry, ...] = ()
    """Registries, or prefixes `registry/path`, that images may come from; default: all."""
    labels: tuple[LabelGroup, ...] = ()
    """Groups (`example.com`) and single keys that jobs may use in labels and annotations; keys without a prefix
    need no entry."""
    unsaved_gpu_hours: Count = 50
    """GPU-hours that a run may take without a checkpoint; half of them where its queue or its nodes may stop it."""
    folders: Folders = Folders()
    """Which arguments and variables name folders that a job must mount."""
    policies: dict[Name, Reason] = {}
    """Policies to switch off, each `policy-id: reason`."""
    waive: Waive = {}
    """Accepted findings that belong to no other spec, each `rule: reason`."""
