"""Argo CD must not replace, and not start as a hook, what trains, queues or holds data; it must know its options.

Why: With Force=true Argo CD deletes and creates an object at each sync, changed or not. With Replace=true the API
 server refuses the update of a job. A hook runs again at each sync. PruneLast holds up a sync until all jobs end.
Fix: remove the option or the hook, or write the option that was meant; a changed job is a new object with a new name.
Source: argoproj/argo-cd v3.2.6 docs/user-guide/sync-options.md, docs/user-guide/sync-waves.md
 issues 22952, 25206, 5882
"""

from collections.abc import Iterator

from trainyard.checks import HOOKS, Manifest, Place, Problem, Severity, World, is_near

OPTIONS = "argocd.argoproj.io/sync-options"
DATA = {("", "PersistentVolumeClaim"), ("", "PersistentVolume"), ("", "Namespace")}
QUEUES = "kueue.x-k8s.io"
HARM = {
    "Force=true": "deletes this {kind} and creates it again at each sync",
    "Replace=true": "replaces this {kind} at each sync, which the API server refuses",
    "PruneLast=true": "holds up the sync until this {kind} has ended",
    "Prune=confirm": "holds up the sync until somebody confirms",
}


KNOWN = (
    *("Validate", "CreateNamespace", "PrunePropagationPolicy", "PruneLast", "Prune", "Delete", "ServerSideApply"),
    *("ApplyOutOfSyncOnly", "RespectIgnoreDifferences", "FailOnSharedResource", "Replace", "Force"),
    *("SkipDryRunOnMissingResource", "ClientSideApplyMigration"),
)
"""Options of an Application (docs/user-guide/sync-options.md of argo-cd v3.5.1)."""


def check(world: World) -> Iterator[Problem]:
    """Look at the options of jobs, queues, claims and namespaces, and at hooks that are queued jobs."""
    for job in world.training_jobs():
        yield from options(job.manifest, tuple(HARM))
        for hook in HOOKS:
            if hook in job.manifest.annotations and job.queue_name is not None:
                message = "a queued job that is a hook starts at each sync, which waits for it; remove the hook"
                yield Problem(Place(job.manifest, ("metadata", "annotations", hook)), message)
    for application in world.of("Application", group="argoproj.io"):
        yield from unread(application)
    for manifest in world.manifests:
        if manifest.group == QUEUES or (manifest.group, manifest.kind) in DATA:
            yield from options(manifest, ("Force=true",))


def unread(application: Manifest) -> Iterator[Problem]:
    """Yield options of an Application that Argo CD passes over without a word."""
    for path, option in application.at("spec", "syncPolicy", "syncOptions", "*", of=str):
        name, equals, _ = option.strip().partition("=")
        meant = next((known for known in KNOWN if is_near(name, known)), None)
        if name not in KNOWN and meant:
            message = f"Argo CD knows no option {name!r}; did you mean {meant!r}?"
            yield Problem(Place(application, path), message, severity=Severity.WARNING)
        elif name in KNOWN and not equals:
            message = f"{name} has no value, so Argo CD ignores it; write {name}=true"
            yield Problem(Place(application, path), message, severity=Severity.WARNING)


def options(manifest: Manifest, harmful: tuple[str, ...]) -> Iterator[Problem]:
    """Yield the worst of these options that an object has."""
    has = {option.strip() for option in str(manifest.annotations.get(OPTIONS, "")).split(",")}
    for option in harmful:
        if option in has:
            message = f"{option} {HARM[option].format(kind=manifest.kind)}; remove it"
            yield Problem(Place(manifest, ("metadata", "annotations", OPTIONS)), message)
            return
