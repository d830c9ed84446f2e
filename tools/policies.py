"""Writes what the policies in CEL have in common, which kinds carry pods and where; `--check` fails where it is stale.

It stands between two comments, of which the first says in its own words which kinds a policy looks at. All of it
follows from the rows in `workloads/`, so that a new kind is one module there and a `make policies`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "platform"))

from trainyard.upstream.workloads import ANY, Carrier, Template, carriers  # noqa: E402  # after the path is set

FIRST = re.compile(r"^  # common: (?P<words>.*), written by `make policies`\n", re.MULTILINE)
LAST = "  # end of what is common\n"
KINDS: dict[str, Callable[[Carrier], bool]] = {
    "kinds that carry pods, those of core and apps too": lambda _: True,
    "kinds that carry pods, without those of core and apps": lambda row: row.group not in {"", "apps"},
}
"""What the first comment may say, and which rows it means."""

CORE = '""'
MOST = 8
"""Objects with pods that one object holds: Kueue takes so many pod sets (appwrapper v1.2.1
internal/webhook/appwrapper_webhook.go), and CEL joins a fixed number of lists. Whatever is behind them meets the
policies again when it is made.
"""
Place = tuple[str | int, ...]


def common(words: str) -> str:
    """Return the block that policies about the same kinds share, as YAML below `spec`."""
    rows = [row for row in carriers().values() if KINDS[words](row)]
    lines = ["matchConstraints:", "  resourceRules:", *(f"    - {rule}" for rule in rules(rows)), "variables:"]
    for name, expression in variables(rows, core=KINDS[words](carriers()["", "Pod"])):
        lines += [f"  - name: {name}", "    expression: |-", *(f"      {line}" for line in expression)]
    return "".join(f"  {line}\n" for line in lines)


def rules(rows: Iterable[Carrier]) -> Iterator[str]:
    """Yield the resource rules, one a group of kinds; those of Kubernetes itself have one version."""
    groups: dict[str, list[Carrier]] = {}
    for row in rows:
        groups.setdefault(row.group, []).append(row)
    for group, kinds in sorted(groups.items()):
        versions = '"*"' if any(row.operator for row in kinds) else "v1"
        names = ", ".join(sorted(f"{row.kind.lower()}s" for row in kinds))
        fields = f"apiGroups: [{group or CORE}], apiVersions: [{versions}], resources: [{names}]"
        yield f"{{{fields}, operations: [CREATE, UPDATE]}}"


def variables(rows: Sequence[Carrier], *, core: bool) -> Iterator[tuple[str, list[str]]]:
    """Yield the variables with their lines: an object and those that it holds, their pod templates and containers.

    `dyn` takes the type away: no kind has all of these fields, and a server warns of those that its own kinds lack
    (k8s.io/apiserver v0.35.4 pkg/admission/plugin/policy/validating/typechecking.go).
    """
    templates = [template for row in rows for template in row.templates]
    yield "objects", ["[dyn(object)]", *(line for row in rows for line in held_objects(row, core=core))]
    yield "specs", ["variables.objects.map(whole, whole.?spec.orValue({}))"]
    several = [template for template in templates if ANY in template.holder]
    roles = dict.fromkeys(optional(template.collection) for template in several if template.roles is not None)
    first, *others = roles
    yield (
        "roles",
        [
            "variables.objects.map(whole,",
            first,
            *(f".or({other})" for other in others),
            ".orValue({}))",
        ],
    )
    yield (
        "lists",
        [
            "(variables.objects.map(whole,",
            *alone(templates),
            *in_lists(several),
            ") + variables.roles.map(roles, roles.map(role, has(roles[role].template), roles[role].template))",
            ").filter(list, size(list) > 0)",
        ],
    )
    yield "templates", [" + ".join(f"variables.lists[?{index}].orValue([])" for index in range(MOST))]
    pods = "variables.templates.map(pod, pod.?spec.?"
    yield "containers", [f"{pods}initContainers.orValue([]))", f"+ {pods}containers.orValue([]))"]


def held_objects(row: Carrier, *, core: bool) -> Iterator[str]:
    """Yield the line of the objects that a kind holds; policies that leave core kinds alone do so there, too."""
    if row.embeds is None:
        return
    place = row.embeds.index(ANY)
    (field,) = row.embeds[place + 1 :]
    items = "dyn(object)" + "".join(f".?{key}" for key in row.embeds[:place])
    kept = f"has(item.{field})"
    if not core:
        kept += f" && item.{field}.apiVersion.contains('/') && !item.{field}.apiVersion.startsWith('apps/')"
    yield f"+ (object.kind == '{row.kind}' ? {items}.orValue([]).map(item, {kept}, item.{field}) : [])"


def alone(templates: Sequence[Template]) -> Iterator[str]:
    """Yield the lines of templates that are there once; a Pod stands for its own.

    What has a list of templates below it, as a runtime's `spec.template`, is a template of another sort.
    """
    paths = dict.fromkeys(template.pattern for template in templates if ANY not in template.holder)
    lists = {path: other.collection for path in paths for other in templates if is_below(other.collection, path)}
    yield "["
    yield from (f"?{optional(path)}," for path in paths if path not in lists)
    yield "]"
    for path, collection in lists.items():
        if path:
            yield f"+ ({optional(collection)}.hasValue() ? [] : [?{optional(path)}])"
        else:
            yield "+ (whole.kind == 'Pod' ? [whole] : [])"


def is_below(collection: Place, path: Place) -> bool:
    """Whether a list of templates is found below a path."""
    return len(collection) > len(path) and collection[: len(path)] == path


def in_lists(templates: Iterable[Template]) -> Iterator[str]:
    """Yield the lines of templates that items of lists have, those of the same field of an item together."""
    lists: dict[Place, dict[str, None]] = {}
    for template in templates:
        if template.roles is None:
            field = template.pattern[len(template.collection) + 1 :]
            lists.setdefault(field, {})[f"{optional(template.collection)}.orValue([])"] = None
    for field, (first, *others) in lists.items():
        yield from (f"+ ({first}", *(f"+ {other}" for other in others))
        yield f").map(item, {present(field)}, item.{'.'.join(map(str, field))})"


def optional(path: Place) -> str:
    """Return the expression of a field that an object may not have."""
    return "".join(("whole", *(f".?{key}" for key in path)))


def present(field: Place) -> str:
    """Return the expression that says whether an item has a field, whatever it lacks on the way there."""
    return f"has(item.{field[0]})" if len(field) == 1 else f"item{''.join(f'.?{key}' for key in field)}.hasValue()"


def with_common_part(text: str, file: str) -> str:
    """Return a policy with its common part as it should be; one without the comments stays as it is."""
    match = FIRST.search(text)
    if match is None:
        return text
    end = text.find(LAST, match.end())
    if match["words"] not in KINDS or end < 0:
        known = " or ".join(map(repr, KINDS))
        raise SystemExit(f"{file}: what is common begins with {known}, and ends with {LAST.strip()!r}")
    return text[: match.end()] + common(match["words"]) + text[end:]


if __name__ == "__main__":
    checks, named = "--check" in sys.argv, [Path(argument) for argument in sys.argv[1:] if argument != "--check"]
    stale = 0
    for path in named or sorted((ROOT / "policies").glob("*.yaml")):
        text = path.read_text(encoding="utf-8")
        if (new := with_common_part(text, str(path))) != text:
            stale += 1
            print(f"{path} is stale; run `make policies`" if checks else f"wrote {path}")
            if not checks:
                path.write_text(new, encoding="utf-8")
    raise SystemExit(int(checks and stale > 0))
