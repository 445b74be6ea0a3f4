"""SQL made from the record classes: how a log is read, which columns it becomes, and the check that every row passes.

Numbers are read as JSON text, because DuckDB's typed read silently turns ``"0.5"``, ``true`` and ``cycle 1.5`` into numbers.
The check tests the JSON type on that text, and the table is asked for what is missing or out of range; `judge` then names what is wrong
with the few rows that fail.
Texts are read as plain text, which costs half as much. It turns a value that is no text into one, so a text that looks like such a
value is in doubt and its line is looked at again. Logs full of such texts are read `exact`: short texts as JSON, too.
"""

from __future__ import annotations

import types
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from seam_core.recorder.shape import TIME_PATTERN, Column
from seam_core.records import Log, Record

__all__ = ["Column", "columns_of", "out_of_range", "reader", "selection", "values"]

COMMON_TIME = "____-__-__T__:__:__Z"
# How a value that is no text looks when it is read as text.
NOT_TEXT = r"^(?:[{\[]|(?:true|false|-?(?i:nan|inf|infinity)|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)$)"
ASSUMED_UTC = r"case when ends_with(raw_ts, 'Z') then false else not regexp_full_match(raw_ts, '.*([Zz]|[+-]\d\d:\d\d)') end"
# A map of which every value is an outcome, asked in the cheapest way.
OUTCOMES = r'\{("(?:[^"\\]|\\.)*":"(?:pass|fail)",?)*\}'


def columns_of(log: Log) -> list[Column]:
    """Every key of a log's records, nested ones flattened to their own name, in the order of the class."""
    return list(_walk(log.record, (), required=True))


def _walk(record: type[Record], path: tuple[str, ...], *, required: bool) -> list[Column]:
    found: list[Column] = []
    hints = get_type_hints(record, include_extras=True)
    for field in msgspec.structs.fields(record):
        here = (*path, field.name)
        must = required and field.required
        nested = next((arm for arm in _arms(hints[field.name])[0] if isinstance(arm, type) and issubclass(arm, Record)), None)
        column = _column(field.name, here, hints[field.name], required=must)
        if nested is not None and column.keep == "column":
            found += _walk(nested, here, required=must)
        else:
            found.append(column)
    return found


def _arms(hint: Any) -> tuple[list[Any], list[msgspec.Meta]]:
    """The non-null types of an annotation, and its Metas from the outside in."""
    if get_origin(hint) is Annotated:
        inner, *metas = get_args(hint)
        arms, more = _arms(inner)
        return arms, [m for m in metas if isinstance(m, msgspec.Meta)] + more
    if get_origin(hint) in (Union, types.UnionType):
        arms, metas = [], []
        for arm in get_args(hint):
            if arm is not type(None):
                some, more = _arms(arm)
                arms += some
                metas += more
        return arms, metas
    return [hint], []


def _column(name: str, path: tuple[str, ...], hint: Any, *, required: bool) -> Column:
    arms, metas = _arms(hint)
    arm = arms[0]
    extra = {key: value for meta in reversed(metas) for key, value in (meta.extra or {}).items()}
    low = next((float(meta.ge) for meta in metas if meta.ge is not None), None)
    high = next((float(meta.le) for meta in metas if meta.le is not None), None)
    choices: tuple[str, ...] = get_args(arm) if get_origin(arm) is Literal else ()
    kinds = {str: "text", float: "share", int: "int", bool: "bool", Any: "any"}
    kind = "choice" if choices else "map" if get_origin(arm) is dict else kinds.get(arm, "object")
    kind = "time" if extra.get("time") else kind
    if kind == "text" and any(meta.min_length for meta in metas):
        low = 1
    description = next((meta.description for meta in metas if meta.description), "")
    inner = tuple(field.name for field in msgspec.structs.fields(arm)) if kind == "object" else ()
    return Column(name, path, kind, extra.get("column", "column"), required, low, high, choices, inner, description)


def reader(log: Log, *, exact: bool) -> str:
    """The ``columns`` argument of ``read_ndjson``: every key that is checked, as text or JSON; nested objects as structs of these."""
    tree: dict[str, list[str]] = {}
    for column in _used(log):
        kind = "VARCHAR" if _is_plain(column, exact=exact) else "JSON"
        tree.setdefault(column.path[0], []).append(f"{column.path[1]} {kind}" if column.path[1:] else kind)
    kinds = {key: inner[0] if inner[0] in ("JSON", "VARCHAR") else f"STRUCT({', '.join(inner)})" for key, inner in tree.items()}
    parts = [f"'{key}': '{kind}'" for key, kind in kinds.items()]
    return "{" + ", ".join(parts) + "}"


def values(log: Log, *, exact: bool) -> str:
    """The select list that takes a line apart: each key as it was read (``raw_…``), and the value of each that is kept."""
    used = _used(log)
    parts = [f"{_path(column)} as raw_{column.name}" for column in used]
    parts += [f"{_value(column, exact=exact)} as {column.name}" for column in used if column.keep == "column" and column.kind != "map"]
    return ",\n    ".join(parts)


def selection(log: Log, *, exact: bool) -> str:
    """The select list over `values`: the kept columns, ``assumed_utc`` where there is a time, ``digest`` (the hash of the whole row),
    ``kept`` (every check of a value's type passed) and ``doubtful`` (passed, but a long text may not have been a text).

    The hash of a long text is kept: it tells which heals made the same change. So are number and names of a map's keys, and for one
    more look the map itself.
    """
    used = _used(log)
    maps = [column for column in used if column.kind == "map"]
    names = [column.name for column in used if column.keep == "column" and column.kind != "map"]
    made = {f"{column.name}_hash": f"hash({_raw(column)})" for column in used if _is_hashed(column)}
    made |= {f"n_{column.name}": f"len(json_keys({_raw(column)}))" for column in maps}
    made |= {f"has_{column.name}": f"{_raw(column)} is not null" for column in used if column.keep == "presence"}
    made |= {"assumed_utc": ASSUMED_UTC} if any(column.kind == "time" for column in used) else {}
    digest = f"hash({', '.join([*names, *made.values()])})"
    made |= {f"{column.name}_keys": f"hash(json_keys({_raw(column)}))" for column in maps} | {column.name: _raw(column) for column in maps}
    checks = [check for column in used if (check := _check(column, exact=exact))]
    long = [_raw(column) for column in used if _is_long(column)]  # of texts that are kept the table is asked
    doubts = [f"coalesce(case when {_may_be_other(raw)} then {_looks_other(raw)} end, false)" for raw in long]
    made |= {"digest": digest, "kept": "\n    and ".join(checks or ["true"]), "doubtful": "\n    or ".join(doubts or ["false"])}
    dropped = {f"{column.name}_hash" for column in maps}
    return ",\n    ".join([*names, *(f"{sql} as {name}" for name, sql in made.items() if name not in dropped)])


def out_of_range(log: Log) -> str:
    """A condition on loaded rows: a value is missing that must be there, or lies outside its bounds. Asked of the table, where it costs
    nearly nothing: DuckDB knows the least and the greatest value of each block of it.
    """
    parts = [f"{column.name} is null" for column in _used(log) if column.required and column.keep == "column" and column.kind != "map"]
    for column in _used(log):
        if column.keep != "column":
            continue
        if column.kind == "time":
            parts.append(f"{column.name} < $earliest or {column.name} > $latest")
        elif column.kind in ("share", "int"):
            parts.append(f"{column.name} < {column.low:.0f} or {column.name} > {column.high:.0f}")
        elif column.kind == "text" and column.low:
            parts.append(f"{column.name} = ''")
    return " or ".join(parts)


def in_doubt(log: Log, *, exact: bool) -> str:
    """A condition on loaded rows: a text may have been an object, a list, a number or a truth value in the file."""
    kept = [column for column in _used(log) if column.kind == "text" and column.keep == "column" and not exact]
    return " or ".join(["doubtful", *(f"{_may_be_other(column.name)} and {_looks_other(column.name)}" for column in kept)])


def _used(log: Log) -> list[Column]:
    return [column for column in columns_of(log) if column.keep != "skip"]


def _is_long(column: Column) -> bool:
    """A text of which only the presence is kept; reading it as JSON would cost as much as all the rest."""
    return column.kind == "text" and column.keep == "presence"


def _is_hashed(column: Column) -> bool:
    return _is_long(column) or column.kind == "map"


def _is_plain(column: Column, *, exact: bool) -> bool:
    """Whether a key is read as plain text. No other value than a text passes for a time or a choice."""
    if column.kind == "text":
        return _is_long(column) or (column.keep == "column" and not exact)
    return column.kind in ("time", "choice")


def _looks_other(text: str) -> str:
    return f"regexp_matches({text}, '{NOT_TEXT}')"


def _may_be_other(text: str) -> str:
    """What is asked before `_looks_other`, as it costs a tenth, and nothing where DuckDB knows the least and the greatest text."""
    return f"({text} < ':' or {text} >= '[' and {text} < '\\' or {text} >= '{{' or strlen({text}) < 9)"


def _path(column: Column) -> str:
    return ".".join(f'"{part}"' for part in column.path)


def _raw(column: Column) -> str:
    return f"raw_{column.name}"


def _value(column: Column, *, exact: bool) -> str:
    raw = _path(column) if _is_plain(column, exact=exact) else f"{_path(column)}::varchar"
    if column.kind == "time":
        plain = f"ends_with({raw}, 'Z') and contains({raw}, 'T')"
        return f"try_cast(case when {plain} then {raw} else upper({raw}) end as timestamptz)"
    if column.kind == "share":
        return f"try_cast({raw} as double)"
    if column.kind == "int":
        kind = "utinyint" if (column.high or 0) < 256 else "integer" if (column.high or 0) < 2**31 else "bigint"
        return f"try_cast(try_cast({raw} as bigint) as {kind})"
    if column.kind == "bool":
        return f"case {raw} when 'true' then true when 'false' then false end"
    if column.kind == "choice":
        return f"try_cast({raw} as enum ({', '.join(map(repr, column.choices))}))"
    if column.kind == "object" or not exact:
        return raw
    return f"case when contains({raw}, '\\') then json_extract_string({_path(column)}, '$') else ({raw})[2:-2] end"


def _check(column: Column, *, exact: bool) -> str:
    """Whether a key was of its type, never null; empty where any value is. `out_of_range` finds what is missing or beyond its bounds."""
    raw = _raw(column) if _is_plain(column, exact=exact) else f"{_raw(column)}::varchar"
    was_read = "" if column.required or column.keep != "column" else f"({column.name} is not null or {raw} is null)"
    if column.kind == "time":
        # the common form costs a third of the pattern; the cast would forgive it white space, a dot and hour 24
        hour = " or ".join(f"contains({raw}, 'T{digit}')" for digit in "012")
        odd = " or ".join(f"contains({raw}, '{sign}')" for sign in (" ", ".", "T24"))
        common = f"{raw} like '{COMMON_TIME}' and ({hour}) and not ({odd})"
        form = f"coalesce(case when {common} then true else regexp_full_match({raw}, '{TIME_PATTERN}') end, true)"
        return f"{form} and {was_read}" if was_read else form
    if column.kind == "int":
        whole = f"not coalesce(contains({raw}, '.'), false)"  # DuckDB writes 1e2 as 100.0
        return f"{whole} and {was_read}" if was_read else whole
    if column.kind == "map":
        return f"coalesce(regexp_full_match({raw}, '{OUTCOMES}'), {str(not column.required).lower()})"
    if column.kind == "object":
        texts = [f" and coalesce(json_type({_raw(column)}, '$.{key}') in ('VARCHAR', 'NULL'), true)" for key in column.inner]
        return f"case when {raw} is null then true else starts_with({raw}, '{{'){''.join(texts)} end"
    if column.kind == "text":
        return "" if _is_plain(column, exact=exact) else f"coalesce(starts_with({raw}, '\"'), true)"
    return was_read
