"""SQL made from the record classes: how a log is read, which columns it becomes, and the check that every row passes.

Numbers are read as JSON text, because DuckDB's typed read silently turns ``"0.5"``, ``true`` and ``cycle 1.5`` into numbers.
The check tests JSON type and range on that text; `judge` then names what is wrong with the few rows that fail.
Texts are read as plain text, which costs half as much. It turns a value that is no text into one, so a text that looks like such a
value is in doubt and its line is looked at again. Logs full of such texts are read `exact`: short texts as JSON, too.
"""

from __future__ import annotations

import types
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from seam_core.recorder.shape import TIME_PATTERN, Column
from seam_core.records import Log, Record

__all__ = ["Column", "columns_of", "reader", "selection", "with_digest"]

COMMON_TIME = "____-__-__T__:__:__Z"
# How a value that is no text looks when it is read as text, and what is asked first, as it costs a tenth.
NOT_TEXT = r"^(?:[{\[]|(?:true|false|-?(?i:nan|inf|infinity)|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)$)"
MAYBE_NOT_TEXT = "({raw} < ':' or {raw} >= '[' and {raw} < '\\' or {raw} >= '{{' or strlen({raw}) < 10)"
ASSUMED_UTC = r"case when ends_with(ts, 'Z') then false else not regexp_full_match(ts, '.*([Zz]|[+-]\d\d:\d\d)') end"


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


def selection(log: Log, *, exact: bool) -> str:
    """The select list of a load: the kept columns, ``assumed_utc`` where there is a time, ``kept`` (every check passed) and
    ``doubtful`` (passed, but a text may not have been a text).
    """
    used = _used(log)
    parts = [f"{_value(column, exact=exact)} as {column.name}" for column in used if column.keep == "column"]
    parts += [f"hash({_raw(column)}) as {column.name}_hash" for column in used if _is_hashed(column)]
    parts += [f"len(json_keys({_raw(column)})) as n_{column.name}" for column in used if column.kind == "map"]
    parts += [f"hash(json_keys({_raw(column)})) as {column.name}_keys" for column in used if column.kind == "map"]
    parts += [f"{_raw(column)} is not null as has_{column.name}" for column in used if column.keep == "presence"]
    if any(column.kind == "time" for column in used):
        parts.append(f"{ASSUMED_UTC} as assumed_utc")
    checks = [
        f"coalesce({_check(column, exact=exact)}, {'false' if column.required else f'{_raw(column)} is null'})"
        for column in used
        if not _is_long(column)
    ]
    parts.append("\n    and ".join(checks) + " as kept")
    doubts = [_doubt(column) for column in used if column.kind == "text" and _is_plain(column, exact=exact)]
    parts.append("\n    or ".join(doubts or ["false"]) + " as doubtful")
    return ",\n    ".join(parts)


def with_digest(log: Log) -> str:
    """The select list over a `selection`: all of it but the hashes of maps, and ``digest``, the hash of the whole row.

    The hash of a long text stays: it tells which heals made the same change.
    """
    used = _used(log)
    maps = [f"{column.name}_hash" for column in used if column.kind == "map"]
    names = [column.name for column in used if column.keep == "column" and column.kind != "map"]
    names += [f"{column.name}_hash" for column in used if _is_hashed(column)]
    names += [f"n_{column.name}" for column in used if column.kind == "map"]
    names += [f"has_{column.name}" for column in used if column.keep == "presence"]
    names += ["assumed_utc"] if any(column.kind == "time" for column in used) else []
    left_out = f" exclude ({', '.join(maps)})" if maps else ""
    return f"*{left_out}, hash({', '.join(names)}) as digest"


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


def _doubt(column: Column) -> str:
    """Whether what was read as text may have been an object, a list, a number or a truth value in the file."""
    raw = _raw(column)
    return f"coalesce(case when {MAYBE_NOT_TEXT.format(raw=raw)} then regexp_matches({raw}, '{NOT_TEXT}') end, false)"


def _raw(column: Column) -> str:
    return ".".join(f'"{part}"' for part in column.path)


def _value(column: Column, *, exact: bool) -> str:
    raw = _raw(column) if _is_plain(column, exact=exact) else f"{_raw(column)}::varchar"
    if column.kind == "time":
        plain = f"ends_with({raw}, 'Z') and contains({raw}, 'T')"
        return f"try_cast(case when {plain} then {raw} else upper({raw}) end as timestamptz)"
    if column.kind == "share":
        return f"try_cast({raw} as double)"
    if column.kind == "int":
        kind = "utinyint" if (column.high or 0) < 256 else "integer" if (column.high or 0) < 2**31 else "bigint"
        return f"try_cast(try_cast({raw} as bigint) as {kind})"
    if column.kind == "bool":
        return f"{raw} = 'true'"
    if column.kind == "choice":
        return f"try_cast({raw} as enum ({', '.join(map(repr, column.choices))}))"
    if column.kind in ("map", "object") or not exact:
        return raw
    return f"case when contains({raw}, '\\') then json_extract_string({_raw(column)}, '$') else ({raw})[2:-2] end"


def _check(column: Column, *, exact: bool) -> str:
    raw = _raw(column) if _is_plain(column, exact=exact) else f"{_raw(column)}::varchar"
    if column.kind == "time":
        # the common form costs a third of the pattern; the cast would forgive it white space, a dot and hour 24
        hour = " or ".join(f"contains({raw}, 'T{digit}')" for digit in "012")
        odd = " or ".join(f"contains({raw}, '{sign}')" for sign in (" ", ".", "T24"))
        common = f"{raw} like '{COMMON_TIME}' and ({hour}) and not ({odd})"
        form = f"case when {common} then true else regexp_full_match({raw}, '{TIME_PATTERN}') end"
        return f"{form} and {_value(column, exact=exact)} between $earliest and $latest"
    if column.kind == "share":
        return f"{_value(column, exact=exact)} between {column.low} and {column.high}"
    if column.kind == "int":
        whole = f"not contains({raw}, '.')"  # DuckDB writes 1e2 as 100.0
        return f"try_cast({raw} as bigint) between {column.low:.0f} and {column.high:.0f} and {whole}"
    if column.kind == "bool":
        return f"{raw} in ('true', 'false')"
    if column.kind == "choice":
        return f"{raw} in ({', '.join(map(repr, column.choices))})"
    if column.kind in ("map", "object"):
        texts = [f" and coalesce(json_type({_raw(column)}, '$.{key}') in ('VARCHAR', 'NULL'), true)" for key in column.inner]
        return f"starts_with({raw}, '{{')" + "".join(texts)
    if _is_plain(column, exact=exact):
        return f"{raw} {'>' if column.low else '>='} ''"
    return f"starts_with({raw}, '\"')" + (f" and {raw} <> '\"\"'" if column.low else "")
