"""Who blessed what, when, why and on which evidence; what differs between two versions; and how to check that no record was edited."""

from __future__ import annotations

from typing import Any

import streamlit as st

from pages.parts import address, choice, deciding, recertify, tables
from pages.parts.deciding import Deciding
from pages.parts.frame import View
from seam_core import escape
from seam_core.baseline.approvals import BaselineRow
from seam_core.ledger import Row
from seam_core.ledger.kinds import COMMENT_MAX, BaselineDecision, Certification, Proposal, Rollback, Veto
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
    found = desk.ask_ledger(baseline_history.lines)
    if not found:
        st.text("Nothing was certified or rolled back yet.")
        return
    rows = [vars(line) | {"percent": None if line.drift is None else 100 * line.drift} for line in found]
    columns = {
        "seq": "Row",
        "what": "What",
        "ts": st.column_config.DatetimeColumn("When (UTC)", format="YYYY-MM-DD HH:mm", timezone="UTC"),
        "who": "Who",
        "why": st.column_config.TextColumn("Why", width="medium"),
        "run_id": "On run",
        "percent": st.column_config.NumberColumn("Drift then", format="%.1f %%"),
        "n_accepted": "Accepted",
        "n_rejected": "Rejected",
        "n_left": "Left",
        "sha256": "sha256",
    }
    opens = lambda row: address.put("row", row["seq"])  # noqa: E731
    alt = "Certifications, rollbacks, proposals and vetoes, newest first"
    tables.show(rows, name="baseline-decisions", alt=alt, columns=columns, open_row=opens)
    known = desk.ask_ledger(baseline_history.rows)
    asked = address.number("row")
    chosen = known.get(asked or 0) or known[max(known)]
    if asked is not None and chosen.seq != asked:
        st.info(f"Row {asked:,} decides nothing about the baseline; the newest decision is shown.")
    one(chosen)


def one(row: Row) -> None:
    """One decision at length, with its evidence."""
    said = row.decision
    assert isinstance(said, BaselineRow)
    with st.container(border=True):
        st.markdown(f"**Row {row.seq:,}: {escape.plain(baseline_in_force.what(row))}**")
        on_run = f" on run {cut(said.run_id)}" if isinstance(said, BaselineDecision) else ""
        st.caption(escape.plain(f"{baseline_in_force.who(row)} at {baseline_in_force.when(row.ts)}{on_run}"))
        if not isinstance(said, (Proposal, Veto)) and isinstance(said.proposal, int):
            st.text(f"As proposed in row {said.proposal:,}.")
        st.text(escape.visible(said.reason, length=COMMENT_MAX))
        if isinstance(said, Rollback):
            st.text(escape.visible("\n".join(baseline_history.rollback_sentences(said))))
        if isinstance(said, (Certification, Proposal)) and not getattr(said, "heal_id", None):
            cases_of(said, name=f"row-{row.seq}-cases")
        if row.note:
            st.warning(escape.plain(f"{row.note}."))
        st.code("\n".join(f"{digest}  {name}" for name, digest in baseline_history.digests(row)), language=None, wrap_lines=True)


def cases_of(said: Certification | Proposal, *, name: str) -> None:
    """What was accepted, rejected and left, and why a safety case was accepted."""
    lists = (("accepted", said.accepted), ("rejected", said.rejected), ("left for later", said.left))
    st.text(", ".join(f"{len(ids):,} {name}" for name, ids in lists))
    rows = [{"case": case, "choice": chosen, "why": said.safety_reasons.get(case, "")} for chosen, ids in lists for case in ids]
    if not rows:
        return
    columns = {"case": "Case", "choice": "Choice", **({"why": "Why this safety case"} if said.safety_reasons else {})}
    with st.expander(f"{count(len(rows), 'case')}, one by one"):
        tables.show(rows, name=name, alt="What was chosen of each case", columns=columns)


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
