"""How much of everything is taken, each bound with its reason: what is larger is refused, in a sentence, at once.

An answer within a second and a gibibyte is meant, whatever stands in a file. Bounds lie far above what any cluster
holds: an API server takes requests of 3 MiB (apiserver v0.35.4 `server/config.go` MaxRequestBodyBytes), etcd objects
of 1.5 MiB (etcd v3.6 `server/embed/config.go` DefaultMaxRequestBytes).
"""

from __future__ import annotations

MIB = 2**20

FILE_BYTES = 64 * MIB
"""Of a file, which may have thousands of documents: a folder of Argo CD's has at most 10 MiB."""

DOCUMENT_BYTES = 8 * MIB
"""Of one document: more than twice what a server takes, for comments and indentation."""

DOCUMENT_VALUES = 150_000
"""Scalars, lists and maps of one document, aliases not expanded: the largest published CRDs have a third of that.

The slowest reader takes 5 µs a value, and a value takes some hundred bytes of memory.
"""

DIRECTIVES = 4
"""Lines that begin with `%` at the head of a document: libyaml compares each with all others."""

SPEC_DEPTH = 64
"""Lists and maps of a spec's field in one another: published definitions go 41 deep."""

ENTRIES = 1000
"""Entries of a list or map of a spec whose model gives no other bound: a cluster of 100 teams has 100 queues."""

FREE_VALUES = 5000
"""Values in one field that is written in the words of Kubernetes or of a chart, and in all patches of a job together.

Most charts have fewer defaults, and each patch is merged into what those before it made.
"""

ROLES = 16
"""Roles of a job beside its workers, each a list of pods with sizes and commands: published jobs have a handful."""

CONTAINERS = 50
"""Containers of a job beside the training one, and as many init containers: kubelets start them one by one."""

PATCHES, WAIVERS, VOLUMES, LABELS = 100, 100, 100, 100
"""Of one file, of each: who needs more of them needs another field, another rule or another job."""

FINDINGS = 100
"""Findings that are said of one document; behind them stands that there are more."""

FAULTS = 100
"""Faults of one collection that its schema is asked for: a name that nobody knows is compared with all that are."""

NAME_LETTERS = 64
"""Letters of a name for which a near miss is looked for: comparing takes their square."""

GUESSES = 20
"""Names of one file for which a near miss is looked for among some hundred rules, each a fiftieth of a second."""

NAMES = 2000
"""Names among which a near miss is looked for, once."""

CHOICES = 100
"""Names among which a near miss is looked for where every fault of a document asks."""

DEFAULTED_VALUES = 1_000_000
"""Values that the defaults of a definition may put into one object: two bytes each are more than etcd takes."""

PATTERN_LETTERS = 10_000
"""Letters of a pattern that is compiled."""

PATTERN_BYTES = MIB // 2
"""Of the program that a pattern becomes, some 10,000 steps: RE2 compiles them within a fifth of a second."""

EXPRESSIONS = 1000
"""Of one admission policy, messages included, half a millisecond each: published policies have some dozens."""

PATTERN_STEPS = 600_000
"""Of the programs of all patterns of a definition that its objects ask for: RE2 compiles them within half a second."""

EXCERPT_LETTERS = 20_000
"""Letters of a line of which a part is shown: all of it is searched for credentials before."""

CLUSTER_NODES = 100_000
"""Nodes of one cluster: Kubernetes is built for 5,000 (v1.35, Considerations for large clusters), EKS for 100,000."""

COHORT_LEVELS = 100
"""Cohorts above one another: what is asked of a queue is asked of each."""

OTHER_PLACES = 20
"""Other queues, and other pools, in which a job is tried that never fits in its own, a twentieth of a second each."""
