"""SQL made from the record classes: how a log is read, which columns it becomes, and the check that every row passes.

Every key is read as JSON text, because DuckDB's typed read silently turns ``"0.5"``, ``true`` and ``cycle 1.5`` into numbers.
The check tests JSON type and range on that text; `judge` then names what is wrong with the few rows that fail.
"""

from __future__ import annotations

import types
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from seam_core.records import Log, Record

COMMON_TIME = '"____-__-__T__:__:__Z"'
NOT_TEXT = r"^(?:[{\[]|true$|false$|-?[0-9][-+.0-9eE]*$)"  # how a value that is no text looks when it is read as text
TIME_PATTERN = r'"\d{4}-\d\d-\d\d[Tt ]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)?"'


@dataclass(frozen=True)
class Column:
    """One key of a record: where it stands, what it may hold, and how it is kept."""

    name: str
    path: tuple[str, ...]
    kind: str  # text, time, share, int, bool, choice, map, object, any
    keep: str  # column, presence, check, skip
    required: bool
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    inner: tuple[str, ...] = ()  # keys of an object that is not taken apart; each holds text
    description: str = ""


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


def reader(log: Log) -> str:
    """The ``columns`` argument of ``read_ndjson``: every key that is checked, as JSON; nested objects as structs of JSON."""
    tree: dict[str, list[str]] = {}
    for column in columns_of(log):
        if column.keep != "skip":
            kind = "VARCHAR" if _is_long(column) else "JSON"
            tree.setdefault(column.path[0], []).append(f"{column.path[1]} {kind}" if column.path[1:] else kind)
    kinds = {key: inner[0] if inner[0] in ("JSON", "VARCHAR") else f"STRUCT({', '.join(inner)})" for key, inner in tree.items()}
    parts = [f"'{key}': '{kind}'" for key, kind in kinds.items()]
    return "{" + ", ".join(parts) + "}"


def selection(log: Log) -> str:
    """The select list of a load: the kept columns, ``assumed_utc`` where there is a time, ``kept`` (every
    check passed) and ``doubtful`` (passed, but a long text may not have been a text).
    """
    used = [column for column in columns_of(log) if column.keep != "skip"]
    parts = [f"{_value(column)} as {column.name}" for column in used if column.keep == "column"]
    parts += [f"hash({_raw(column)}) as {column.name}_hash" for column in used if _is_long(column) or column.kind == "map"]
    parts += [f"len(json_keys({_raw(column)})) as n_{column.name}" for column in used if column.kind == "map"]
    parts += [f"{_raw(column)} is not null as has_{column.name}" for column in used if column.keep == "presence"]
    if any(column.kind == "time" for column in used):
        parts.append("""case when ends_with("ts"::varchar, 'Z"') then false
        else not regexp_full_match("ts"::varchar, '.*([Zz]|[+-]\\d\\d:\\d\\d)"') end as assumed_utc""")
    checks = [
        f"coalesce({_check(column)}, {'false' if column.required else f'{_raw(column)} is null'})"
        for column in used
        if not _is_long(column)
    ]
    parts.append("\n    and ".join(checks) + " as kept")
    parts.append(" or ".join([_doubt(column) for column in used if _is_long(column)] or ["false"]) + " as doubtful")
    return ",\n    ".join(parts)


def _is_long(column: Column) -> bool:
    """A text of which only the presence is kept is read as plain text, because reading it as JSON costs as much as all the rest."""
    return column.kind == "text" and column.keep == "presence"


def _doubt(column: Column) -> str:
    """Whether what was read as text may have been an object, a list, a number or a truth value in the file."""
    return f"coalesce(regexp_matches({_raw(column)}, '{NOT_TEXT}'), false)"


def _raw(column: Column) -> str:
    return ".".join(f'"{part}"' for part in column.path)


def _value(column: Column) -> str:
    raw = f"{_raw(column)}::varchar"
    if column.kind == "time":
        plain = f"ends_with({raw}, 'Z\"') and contains({raw}, 'T')"
        return f"try_cast(case when {plain} then ({raw})[2:-2] else upper(({raw})[2:-2]) end as timestamptz)"
    if column.kind == "share":
        return f"try_cast({raw} as double)"
    if column.kind == "int":
        return f"try_cast({raw} as {'utinyint' if (column.high or 0) < 256 else 'integer' if (column.high or 0) < 2**31 else 'bigint'})"
    if column.kind == "bool":
        return f"{raw} = 'true'"
    if column.kind in ("map", "object"):
        return raw
    if column.kind == "choice":
        return f"try_cast(({raw})[2:-2] as enum ({', '.join(map(repr, column.choices))}))"
    return f"case when contains({raw}, '\\') then json_extract_string({_raw(column)}, '$') else ({raw})[2:-2] end"


def _check(column: Column) -> str:
    raw = f"{_raw(column)}::varchar"
    if column.kind == "time":
        # the common form costs a third of the pattern; the cast would forgive it a blank, a dot, an escape, and hour 24
        odd = " or ".join(f"contains({raw}, '{sign}')" for sign in (" ", ".", "\\", "T24"))
        common = f"{raw} like '{COMMON_TIME}' and not ({odd})"
        form = f"case when {common} then true else regexp_full_match({raw}, '{TIME_PATTERN}') end"
        return f"{form} and {_value(column)} between $earliest and $latest"
    if column.kind == "share":
        return f"{_value(column)} between {column.low} and {column.high}"
    if column.kind == "int":
        whole = f"not contains({raw}, '.')"  # DuckDB writes 1e2 as 100.0
        return f"try_cast({raw} as bigint) between {column.low:.0f} and {column.high:.0f} and {whole}"
    if column.kind == "bool":
        return f"{raw} in ('true', 'false')"
    if column.kind == "choice":
        return f"{raw} in ({', '.join(repr(chr(34) + choice + chr(34)) for choice in column.choices)})"
    if column.kind in ("map", "object"):
        texts = [f" and coalesce(json_type({_raw(column)}, '$.{key}') in ('VARCHAR', 'NULL'), true)" for key in column.inner]
        return f"starts_with({raw}, '{{')" + "".join(texts)
    some = f" and {raw} <> '\"\"'" if column.low else ""
    return f"starts_with({raw}, '\"'){some}"
