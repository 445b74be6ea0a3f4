"""The files on a page: every line accounted for, those not taken one by one, any line as it was written, and what is missing."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import streamlit as st

from pages.parts import address, choice, frame, tables
from pages.parts.frame import View
from seam_core import escape
from seam_core.errors import SeamError
from seam_core.spreadsheet import csv_lines
from seam_core.views import files, others, record_lines
from seam_core.views.files import FileState, Rejected
from seam_core.views.record_lines import Line
from seam_core.words import count, cut

TIME = st.column_config.DatetimeColumn
NUMBER = st.column_config.NumberColumn
SEARCH = "rejects"  # the search, in the address
WHOLE = ("certified.json", "seam.toml")  # read as one thing, not line by line


def overview(view: View) -> None:
    """One row a file, in which the kinds of lines add up."""
    found = view.ask(files.files)
    counts = view.audit.counts
    told = [count(sum(one.lines for one in found), "line"), f"{counts['rejected'] + counts['rewritten']:,} not taken"]
    told += [f"{counts['repeated']:,} repeated"] if counts["repeated"] else []
    told += [f"{counts['pending']:,} half-written"] if counts["pending"] else []
    st.text(f"{count(len(found), 'file')}: {', '.join(told)}. Last read at {view.opened.read_at:%H:%M:%S} UTC.")
    rows = [_row(one) for one in found if one.name not in WHOLE]
    columns = {
        "name": "File",
        "lines": NUMBER("Lines", format="localized"),
        "kept": NUMBER("Kept", format="localized", help="Records"),
        "rejected": NUMBER("Rejected", format="localized", help="Breaks a rule"),
        "rewritten": NUMBER(
            "Rewritten", format="localized", help="An earlier line already has its id, with other content: the earlier one counts"
        ),
        "repeated": NUMBER("Repeated", format="localized", help="Equal to an earlier line as JSON: one record"),
        "pending": NUMBER("Pending", help="A last line that is only half written: no fault"),
        "blank": NUMBER("Blank", format="localized"),
        "assumed_utc": NUMBER("Assumed UTC", format="localized", help="Times without an offset"),
        "assumed_time": NUMBER("Assumed time", format="localized", help="Marked ts_assumed by what wrote the log: the time is made up"),
        "first": "First (UTC)",
        "last": "Last (UTC)",
        "n_bytes": NUMBER("Size", format="bytes"),
    }
    seldom = ("rewritten", "repeated", "pending", "blank", "assumed_utc", "assumed_time")
    columns = {key: label for key, label in columns.items() if key not in seldom or any(row[key] for row in rows)}
    tables.show(rows, name="files", alt="Files of the workspace, and what became of their lines", columns=columns)
    for one in found:
        if one.name in WHOLE:
            left_out = f", {count(one.rejected, 'entry', 'entries')} left out" if one.rejected else ""
            st.text(f"{one.name}: read {one.how}{left_out}; changed {one.changed_at:%Y-%m-%d %H:%M} UTC.")
        for note in one.notes:
            st.warning(escape.plain(f"{one.name}: {note}"))
    with st.expander("Digests, and how each file was read"):
        _digests(view, found)


def _row(one: FileState) -> dict[str, Any]:
    row = {key: value for key, value in asdict(one).items() if key != "notes"}
    return row | {name: f"{moment:%Y-%m-%d %H:%M}" if (moment := row[name]) else "" for name in ("first", "last")}


def _digests(view: View, found: tuple[FileState, ...]) -> None:
    long = [one for one in found if one.sha256 is None and one.n_bytes]
    digests = {one.name: one.sha256 for one in found}
    if long and st.toggle(f"Digest {count(len(long), 'long file')}, too ({sum(one.n_bytes for one in long) / 1e6:,.0f} MB to read)"):
        digests |= {one.name: view.ask(files.sha256_of, one.name) for one in long}
    rows = [
        {
            "name": one.name,
            "how": one.how,
            "used": one.n_bytes,
            "changed": one.changed_at,
            "sha256": digests[one.name] or "not computed",
            "path": one.path,
        }
        for one in found
    ]
    columns = {
        "name": "File",
        "how": "Was read",
        "used": NUMBER("Bytes used", format="localized", help="Unpacked, for a packed file"),
        "changed": TIME("File changed (UTC)", format="YYYY-MM-DD HH:mm:ss", timezone="UTC"),
        "sha256": "sha256 of those bytes",
        "path": "Path",
    }
    tables.show(rows, name="digests", alt="How each file was read, and its digest", columns=columns)
    st.caption("sha256sum FILE gives the same digest as long as nothing was added since, and none of a packed file but of its content.")


def rejected(view: View) -> None:
    """Every line that was not taken: the reasons counted, a search, and the first thousand found."""
    everything = view.ask(files.rejected)
    if not everything.n:
        st.text("None: every line is a record, equal to an earlier one, or blank.")
        return
    _reasons(everything)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        text = st.text_input("Search by reason, key or line number", key=SEARCH, bind="query-params", width=360).strip()
        if len(everything.files) > 1:
            names = {"": "all files", **{name: escape.plain(name) for name in everything.files}}
            chosen = address.get("of") or ""
            choice.segments("of", "File", names, chosen if chosen in names else "")
    of = address.get("of") or ""
    found = view.ask(files.rejected, text, of if of in everything.files else "")
    rows = [asdict(one) for one in found.shown]
    columns = {"file": "File", "line": NUMBER("Line", format="localized"), "path": "Key", "reason": "Reason"}
    some = f"the first {len(rows):,} of {found.n_found:,} found" if found.n_found > len(rows) else f"{found.n_found:,} of {found.n:,}"
    tables.show(
        rows,
        name="lines-not-taken",
        alt="Lines that were not taken",
        columns=columns,
        open_row=_open,
        note=some if rows else "No line is found.",
    )
    if found.n_found > len(rows):
        data = lambda: _csv(view, text, of)  # noqa: E731 -- made when it is asked for
        st.download_button(f"All {found.n_found:,} lines (CSV)", data, "all-lines-not-taken.csv", "text/csv", on_click="ignore")


def _csv(view: View, text: str, of: str) -> bytes:
    every = files.found_rejects(view.audit, text, of)
    return b"".join(csv_lines(("file", "line", "key", "reason"), [[(one.file, one.line, one.path, one.reason) for one in every]]))


def _reasons(found: Rejected) -> None:
    if len(found.reasons) < 2:
        return
    rows = [{"reason": reason, "lines": n} for reason, n in found.reasons]
    with st.expander(f"{count(len(rows), 'reason')} for {count(found.n, 'line')}"):
        columns = {"lines": NUMBER("Lines", format="localized"), "reason": "Reason"}
        tables.show(rows, name="reasons", alt="Reasons, most often first", columns=columns)


def _open(row: Any) -> None:
    address.put("file", row["file"])
    address.put("line", row["line"])


def one_line(view: View) -> None:
    """Any line of any log, exactly as it was written."""
    names = view.ask(record_lines.log_names)
    asked = address.get("file") or names[0]
    number = max(1, address.number("line") or 1)
    if address.number("line") is None:
        st.caption("A click on a line above shows it here, or choose one.")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.session_state["line file"] = asked if asked in names else names[0]
        st.selectbox("File", names, format_func=escape.visible, key="line file", on_change=_chosen, width=260)
        st.session_state["line number"] = number
        st.number_input("Line", min_value=1, step=1, key="line number", on_change=_chosen, width=160)
    if address.number("line") is None:
        return
    try:
        _show(view.ask(record_lines.open_line, asked, number))
    except SeamError as error:
        st.warning(escape.plain(str(error)))


def _chosen() -> None:
    _open({"file": st.session_state["line file"], "line": st.session_state["line number"]})


def _show(line: Line) -> None:
    st.text(escape.visible(f"Line {line.number:,} of {line.file}, {count(line.n_bytes, 'byte')}: {line.became}."))
    if line.unknown_keys:
        st.text(escape.visible(f"Keys that SEAM does not know, and leaves alone: {', '.join(cut(key) for key in line.unknown_keys)}."))
    if line.earlier:
        st.button(f"Show line {line.earlier:,}", on_click=_open, args=({"file": line.file, "line": line.earlier},))
    is_pretty = bool(line.pretty) and st.toggle("Indented", key="line indented")
    st.code(escape.visible(line.pretty if is_pretty else line.text, length=record_lines.SHOWN) or "(blank)", language=None, wrap_lines=True)


def missing(view: View) -> None:
    """Files and keys that are not there, and what each would add."""
    absent = view.ask(files.missing)
    if absent:
        rows = [asdict(one) for one in absent]
        tables.show(rows, name="missing-files", alt="Files that are not there", columns={"name": "File", "adds": "Would add"})
    else:
        st.text("No file: all that SEAM reads are there.")
    keys = [
        {"name": key.name, "share": 100 * key.n / key.of, "n": key.n, "feeds": key.feeds}
        for key in view.ask(files.keys)
        if key.of and key.n < key.of
    ]
    if keys:
        st.subheader("Keys that some heals of this window lack", anchor=False)
        columns = {
            "name": "Key",
            "n": NUMBER("Heals with it", format="localized"),
            "share": NUMBER("Share", format="%.0f %%"),
            "feeds": "Feeds",
        }
        tables.show(keys, name="keys", alt="Optional keys of the heals, seldom ones first", columns=columns)


def workspaces(view: View) -> None:
    """The other workspaces of the folder, broken ones first; nothing where there is only one."""
    found = view.ask(others.others, str(frame.workspaces_root()))
    if not found:
        return
    st.header("Workspaces here", anchor=False)
    broken = sum(bool(one.fault) for one in found)
    how = f"{broken:,} cannot be opened" if broken else "all can be opened, by a look at how they begin"
    st.text(f"{count(len(found), 'workspace')}; {how}.")
    rows = [{"name": one.name, "state": one.fault or "can be opened", "size": one.n_bytes, "changed": one.changed_at} for one in found]
    columns = {
        "name": "Workspace",
        "state": "State",
        "size": NUMBER("Heal log", format="bytes"),
        "changed": TIME("Changed (UTC)", format="YYYY-MM-DD HH:mm", timezone="UTC"),
    }
    tables.show(rows, name="workspaces", alt="Workspaces of this folder", columns=columns)
