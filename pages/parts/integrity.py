"""Integrity on a page: the findings with what proves them, what could not be checked, and what no rule can catch."""

from __future__ import annotations

from itertools import groupby

import streamlit as st

from pages.parts import address, strip, tables
from pages.parts.findings import COLORS
from pages.parts.frame import View
from seam_core import escape
from seam_core.views import integrity
from seam_core.views.integrity import Kind, Opens, Shown
from seam_core.words import AXIS_NAMES, capital

# What proves a finding → the page that shows it, and the parameter that names it there.
PLACES: dict[Kind, tuple[str, str]] = {
    "heal": ("review/heals.py", "heal"),
    "loop": ("review/loop.py", "loop"),
    "signature": ("axes/signal.py", "signature"),
    "case": ("axes/efficacy.py", "case"),
    "run": ("axes/aftermath.py", "run"),
}


def headline(view: View) -> None:
    """How many findings there are by severity, and which axes are withheld."""
    if withheld := integrity.withheld_sentence(view.audit):
        st.error(escape.plain(withheld))
    st.text(view.ask(integrity.overview).headline)


def findings(view: View) -> None:
    """Every finding listed, the worst first, with the rows that prove it."""
    found = view.ask(integrity.overview)
    if not found.findings:
        st.text("None: no rule that could be checked finds a contradiction in these records.")
    for severity, some in groupby(found.findings, key=lambda one: one.finding.severity):
        st.subheader(capital(severity), anchor=False)
        for one in some:
            _box(one)
    if found.unlisted:
        st.text(found.unlisted)


def _box(one: Shown) -> None:
    finding = one.finding
    with st.container(border=True, gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.badge(finding.severity, color=COLORS[finding.severity])
            for record in one.opens:
                _link(record)
            st.caption(f"{finding.rule_id} · {one.axes}", width="content")
        said = finding.sentence if finding.sentence.startswith(finding.where) else capital(finding.sentence)  # an id stays as it is
        st.text(escape.visible(f"{said}."))
        st.code(escape.visible("\n".join(f"{name}: {value}" for name, value in one.evidence)), language=None, wrap_lines=True)


def _link(record: Opens) -> None:
    """The way to a record that proves a finding."""
    if record.kind == "axis":
        address.link(strip.PAGES[record.name], f"Open {AXIS_NAMES[record.name]}")
    elif record.kind == "file":
        address.link("trust/data.py", escape.code(record.name), of=record.name)
    else:
        page, parameter = PLACES[record.kind]
        address.link(page, escape.code(record.name), **{parameter: record.name})


def rules(view: View) -> None:
    """The rules that had nothing to look at and why, and those that found nothing."""
    found = view.ask(integrity.overview)
    text = st.column_config.TextColumn
    columns = {"rule": text("Rule", width=60), "why": text("Why it is not checkable", width=330), "looks_for": text("Looks for", width=400)}
    tables.show(found.unchecked, name="not-checkable", alt="Rules that could not be checked, and why", columns=columns)
    st.header("Checked and clean", anchor=False)
    columns = {"rule": text("Rule", width=60), "looks_for": text("Looks for", width=700)}
    tables.show(found.clean, name="clean", alt="Rules that found nothing", columns=columns)


def limits() -> None:
    """What no rule on these records can catch."""
    st.text("\n".join(integrity.UNCATCHABLE))
    st.text("docs/method.md in the repository has every rule, docs/tampering.md how much tampering they find.")
