"""Health scripts for Argo CD, in Lua, from what they differ in: how a kind says that it waits, ends or fails."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

CONDITIONS = """\
for _, condition in ipairs(status.conditions or {{}}) do
  if condition.status == "True" then
    if condition.type == "Failed" then
      return {{status = "Degraded", message = condition.message or condition.reason or "Failed"}}
    elseif condition.type == "{done}" then
      return {{status = "Healthy", message = condition.message or "{done}"}}
    elseif condition.type == "Suspended" then
      hs.status = "Suspended"
      hs.message = condition.message or "Queued or stopped"
    end
  end
end
return hs
"""

FIELD = """\
local hs = {{status = "Progressing", message = "{waiting}"}}
if obj.status ~= nil and obj.status.{field} ~= nil then
  hs.message = obj.status.{field}
  if obj.status.{field} == "{healthy}" then
    hs.status = "Healthy"
  elseif obj.status.{field} == "{degraded}" then
    hs.status = "Degraded"
{reason}\
  end
end
return hs
"""

READ = """\
local function read(path)
  local value = obj.status
  for _, key in ipairs(path) do
    if type(value) ~= "table" then
      return nil
    end
    value = value[key]
  end
  return value
end
"""

WORDS = """\
local word = read({of})
if word == nil then
  return {{status = "Progressing", message = "{waits}"}}
end
local hs = {{status = ({verdicts})[tostring(word)] or "Progressing", message = tostring(word)}}
{tells}\
return hs
"""

TELLS = """\
if hs.status ~= "Healthy" and read({tells}) ~= nil then
  hs.message = tostring(read({tells}))
end
"""

ROWS = """\
local hs = {{status = "Progressing", message = "{waits}"}}
local found = {{}}
for _, condition in ipairs((obj.status or {{}}).conditions or {{}}) do
  found[condition.type] = condition
end
for _, row in ipairs({{
{rows}
}}) do
  local condition = found[row[1]]
  if condition ~= nil then
    hs.message = condition.reason or row[1]
    if condition.message ~= nil and condition.message ~= "" then
      hs.message = condition.message
    end
    if condition.status == row[2] and (row[4] == nil or row[4][condition.reason]) then
      hs.status = row[3]
      return hs
    end
  end
end
return hs
"""


def still() -> str:
    """Return the script of an object that is well as soon as it is there."""
    return 'return {status = "Healthy"}\n'


def by_words(of: str, verdicts: Mapping[str, str], *, waits: str, tells: str | None = None) -> str:
    """Return the script of an object that says by one word of its status how it is; unknown words are progress.

    `of` and `tells` are dotted paths in the status: of the word, and of the reason where it is not Healthy.
    """
    named = ", ".join(f'["{word}"] = "{verdict}"' for word, verdict in verdicts.items())
    why = TELLS.format(tells=_path(tells)) if tells else ""
    return READ + WORDS.format(of=_path(of), verdicts=f"{{{named}}}", waits=waits, tells=why)


def by_rows(rows: Sequence[tuple[str, str, str, str]], *, waits: str) -> str:
    """Return the script of an object that says by conditions how it is; the first row that holds decides.

    A row is type and status of a condition, the health that follows, and the reasons for which it does, if not for all.
    """
    return ROWS.format(waits=waits, rows="\n".join(_row(*row) for row in rows))


def _row(kind: str, status: str, verdict: str, reasons: str) -> str:
    """Return a row as Lua writes it."""
    only = ", ".join(f'["{reason}"] = true' for reason in reasons.split())
    return f'  {{"{kind}", "{status}", "{verdict}"' + (f", {{{only}}}" if only else "") + "},"


def _path(dotted: str) -> str:
    """Return a dotted path as a list of Lua."""
    return "{" + ", ".join(f'"{key}"' for key in dotted.split(".")) + "}"


def by_conditions(counts: str, shown: str, *, done: str, holder: str = "obj.spec") -> str:
    """Return the script of a workload that tells by conditions of status True that it failed, is done, or waits.

    `counts` are lines that work out how far it is and `shown` those that put it into words; `done` is the condition of
    a good end, `holder` what has the field `suspend`.
    """
    return (
        'local hs = {status = "Progressing", message = "Waiting for the controller"}\n'
        "local status = obj.status or {}\n"
        f"{counts}"
        f"if {holder}.suspend then\n"
        '  hs.status = "Suspended"\n'
        '  hs.message = "Queued or stopped"\n'
        "elseif obj.status ~= nil then\n"
        f"{shown}"
        "end\n" + CONDITIONS.format(done=done)
    )


def by_field(field: str, *, waiting: str, healthy: str, degraded: str, reason: str | None = None) -> str:
    """Return the script of an object that says in one field of its status, by a word, how it is.

    `waiting` is said until the field is there, then its word; every other word than `healthy` and `degraded` is
    progress. `reason` is the field of the status that tells why it is degraded.
    """
    why = f'    hs.message = obj.status.{reason} or "{degraded}"\n' if reason else ""
    return FIELD.format(field=field, waiting=waiting, healthy=healthy, degraded=degraded, reason=why)
