"""Who blessed what, when, why and on which evidence; what differs between two versions; and how to check that no record was edited."""

from __future__ import annotations

from typing import Any

import streamlit as st

from pages.parts import address, choice, deciding, recertify, tables
from pages.parts.deciding import Deciding
from pages.parts.frame import View
from seam_core import escape
from seam_core.baseline.versions import Decided
from seam_core.ledger.kinds import COMMENT_MAX, Certification, Rollback
from seam_core.views import baseline_history, baseline_in_force
from seam_core.views.baseline_history import NoSuchVersionError
from seam_core.words import count, cut


def show(view: View) -> None:
    """The whole history, one decision at length, two versions against each other, and the commands to check it all."""
    desk = deciding.gather(view)
    if view.opened.store.versions.fault:
        st.error(escape.plain(f"Not all of this can be believed: {view.opened.store.versions.fault}."))
    st.header("Decisions", anchor=False)
    _decisions(desk)
    st.header("Two versions against each other", anchor=False)
    _versions(desk)
    st.header("Was the record edited?", anchor=False)
    st.text(
        "Each row carries a sha256 over itself and the row before, so that a changed, removed or reordered row shows. The newest one, noted"
        " where the agent cannot write, also proves that the whole was not made anew:"
    )
    head = desk.state.ledger.chain().head if not desk.state.fault else None
    st.code(recertify.command(view, "ledger verify", f" --head {head}" if head else ""), language=None, wrap_lines=True)
    st.code(recertify.command(view, "ledger export", " > decisions.jsonl"), language=None, wrap_lines=True)


def _decisions(desk: Deciding) -> None:
    found = desk.ask(baseline_history.lines)
    if not found:
        st.text("Nothing was certified or rolled back yet.")
        return
    rows = [vars(one) | {"percent": None if one.drift is None else 100 * one.drift} for one in found]
    columns = {
        "seq": "Row",
        "what": "What",
        "ts": st.column_config.DatetimeColumn("When (UTC)", format="YYYY-MM-DD HH:mm", timezone="UTC"),
        "who": "Who",
        "why": "Why",
        "run_id": "On run",
        "percent": st.column_config.NumberColumn("Drift then", format="%.1f %%"),
        "n_accepted": "Accepted",
        "n_rejected": "Rejected",
        "n_left": "Left",
        "sha256": "sha256",
    }
    opens = lambda row: address.put("row", row["seq"])  # noqa: E731
    tables.show(rows, name="baseline-decisions", alt="Certifications and rollbacks, newest first", columns=columns, open_row=opens)
    one = desk.desk.store.versions.decisions[-1]
    asked = address.number("row")
    chosen = next((each for each in desk.desk.store.versions.decisions if each.row.seq == asked), one)
    if asked is not None and chosen.row.seq != asked:
        st.info(f"Row {asked:,} is no certification and no rollback; the newest decision is shown.")
    _one(chosen)


def _one(one: Decided) -> None:
    said, row = one.said, one.row
    with st.container(border=True):
        heading = baseline_in_force.what(one)
        st.markdown(f"**Row {row.seq:,}: {escape.plain(heading)}**")
        st.caption(escape.plain(f"{baseline_in_force.who(row)} at {baseline_in_force.when(row.ts)} on run {cut(said.run_id)}"))
        st.text(escape.visible(said.reason, length=COMMENT_MAX))
        if isinstance(said, Rollback):
            st.text(escape.visible("\n".join(baseline_history.rollback_sentences(said))))
        if isinstance(said, Certification):
            _cases(said)
        if row.note:
            st.warning(escape.plain(f"{row.note}."))
        evidence = {"sha256 of this row": row.sha256, "of what was shown": said.shown_sha256, "of the run's record": said.run_sha256}
        evidence |= (
            {"of the baseline": said.baseline_sha256} if isinstance(said, Certification) else {"of the manifest": said.bundle_sha256}
        )
        st.code("\n".join(f"{digest}  {name}" for name, digest in evidence.items()), language=None)
        st.caption(f"{count(len(said.files), 'file')} of the workspace had their sizes and digests noted with it.")


def _cases(said: Certification) -> None:
    """What was accepted, rejected and left, and why a safety case was accepted."""
    lists = (("accepted", said.accepted), ("rejected", said.rejected), ("left for later", said.left))
    st.text(", ".join(f"{len(ids):,} {name}" for name, ids in lists))
    rows = [{"case": one, "choice": name, "why": said.safety_reasons.get(one, "")} for name, ids in lists for one in ids]
    if not rows:
        return
    columns = {"case": "Case", "choice": "Choice", **({"why": "Why this safety case"} if said.safety_reasons else {})}
    with st.expander(f"{count(len(rows), 'case')}, one by one"):
        tables.show(rows, name=f"version-{said.version}-cases", alt="What was chosen of each case", columns=columns)


def _versions(desk: Deciding) -> None:
    offered = desk.ask(baseline_history.numbers)
    if len(offered) < 2:
        st.text("There is no baseline yet." if not offered else f"There is one version, {offered[0]}: nothing to compare it with.")
        return
    first, second = address.number("from") or offered[-2], address.number("to") or offered[-1]
    names = [f"{number}" for number in reversed(offered)]
    for column, name, label, number in zip(st.columns(2), ("from", "to"), ("From version", "To version"), (first, second), strict=True):
        with column:
            choice.by_name(name, label, names, f"{number}", escape.visible)
    try:
        cases = desk.ask(baseline_history.between, first, second)
    except NoSuchVersionError as error:
        st.info(escape.plain(str(error)))
        return
    st.text(f"{count(len(cases), 'case')} {'is' if len(cases) == 1 else 'are'} not the same in version {first} and version {second}.")
    rows: list[dict[str, Any]] = [
        {
            "case_id": case.case_id,
            "before": _word(case.before),
            "after": _word(case.after),
            "safety": "safety" if case.is_safety else "",
            "component": case.component or "",
            "question": case.question or "",
        }
        for case in cases
    ]
    columns = {"case_id": "Case", "before": f"Version {first}", "after": f"Version {second}", "safety": "Safety", "component": "Component"}
    columns = {key: label for key, label in columns.items() if any(row[key] for row in rows)} | {"question": "Question"}
    if rows:
        tables.show(rows, name=f"baseline-{first}-{second}", alt="Cases that are not the same in both versions", columns=columns)


def _word(passed: bool | None) -> str:  # noqa: FBT001 -- an outcome
    return "not in it" if passed is None else "pass" if passed else "fail"
