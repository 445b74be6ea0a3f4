"""Two texts and what changed between them, by words: the one place that writes HTML.

Texts come from agents. They reach the page only through `_shown`, which writes out invisible characters and escapes the rest, so that no
markup but our own div, ins and del is ever in it. Removed words are struck through and added ones underlined, beside their colour.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape as html_escape

import streamlit as st

from pages.parts import address
from seam_core import escape
from seam_core.views import worddiff
from seam_core.views.worddiff import Comparison, Fold, Segment

LABEL = 120  # characters of a heading
NARROW = "One above the other, for there is no room for two columns."
LAYOUTS = {"sides": "Side by side", "unified": "Unified"}  # as they stand in the address
STYLE = """<style>
.seam-diff { container-type: inline-size; font-size: .875rem; line-height: 1.5 }
.seam-diff .text { white-space: pre-wrap; overflow-wrap: anywhere; tab-size: 4; font-family: "Source Code Pro", monospace; min-width: 0 }
.seam-diff .name { font-weight: 600; overflow-wrap: anywhere; min-width: 0 }
.seam-diff .row { display: grid; grid-template-columns: 1fr 1fr; column-gap: 1.5rem }
.seam-diff .row.changed { background: color-mix(in srgb, currentColor 4%, transparent) }
.seam-diff .fold { margin: .25rem 0; padding: 0 .5rem; font-style: italic }
.seam-diff .fold { border-block: 1px dashed color-mix(in srgb, currentColor 45%, transparent) }
.seam-diff ins { background: color-mix(in srgb, #009E73 26%, transparent); text-decoration: underline; text-underline-offset: .2em }
.seam-diff del { background: color-mix(in srgb, #D55E00 26%, transparent); text-decoration: line-through;
  text-decoration-color: color-mix(in srgb, currentColor 60%, transparent) }
.seam-diff .blank { outline: 1px solid currentColor; outline-offset: -1px }
.seam-diff .blank.break::before { content: "\\21B5" }
.seam-diff .narrow { display: none; font-style: italic }
@container (max-width: 720px) {
  .seam-diff .narrow { display: block }
  .seam-diff .row { grid-template-columns: 1fr }
  .seam-diff .again { display: none }
}
</style>"""


def show(
    old: str,
    new: str,
    *,
    old_label: str,
    new_label: str,
    side_by_side: bool | None = None,
    key: str,
) -> None:
    """What changed from `old` to `new`, in words and as a diff, with switches for its layout and for the text folded away.

    side_by_side: None lets the reader choose (the choice stands in the address). On a narrow screen two columns become one by themselves.
    """
    found = _compared(old, new)
    some, every = worddiff.folded(found), worddiff.unfolded(found)
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.text(worddiff.said(found), width="content")
        with st.container(horizontal=True, vertical_alignment="center", width="content"):
            is_all = len(every) and some != every and st.toggle("Show all text", key=f"{key} all")
            two = not found.is_same and (_chosen_layout(key) if side_by_side is None else side_by_side)
    if found.old_size or found.new_size:
        st.html(STYLE + html_of(every if is_all else some, side_by_side=two, old_label=old_label, new_label=new_label))
        if not found.is_same:
            st.caption("Removed words are struck through, added words are underlined.")


def html_of(pieces: Sequence[Segment | Fold], *, side_by_side: bool, old_label: str, new_label: str) -> str:
    """The pieces of a comparison as HTML of div, ins and del alone."""
    names = [f'<div class="name">{_shown(label, length=LABEL)}</div>' for label in (f"− {old_label}", f"+ {new_label}")]
    if side_by_side:
        head, body = f'<div class="narrow">{NARROW}</div><div class="row">{"".join(names)}</div>', _two_columns(pieces)
    else:
        head, body = "".join(names), _one_column(pieces)
    return f'<div class="seam-diff">{head}{"".join(body)}</div>'


@st.cache_data(max_entries=50, show_spinner=False)
def _compared(old: str, new: str) -> Comparison:
    return worddiff.compare(old, new)


def _chosen_layout(key: str) -> bool:
    """Whether two columns are asked for, by the address or just now."""
    asked = address.get("diff")
    name = f"{key} layout"
    st.session_state.setdefault(name, asked if asked in LAYOUTS else "sides")
    st.segmented_control(
        "Layout",
        list(LAYOUTS),
        format_func=LAYOUTS.__getitem__,
        required=True,
        key=name,
        label_visibility="collapsed",
        on_change=lambda: address.put("diff", "unified" if st.session_state[name] == "unified" else None),
    )
    return bool(st.session_state[name] == "sides")


def _one_column(pieces: Sequence[Segment | Fold]) -> Iterator[str]:
    held: list[str] = []
    for piece in pieces:
        if isinstance(piece, Fold):
            yield from _text(held)
            yield _fold(piece)
            held = []
        else:
            held.append(_marked(piece))
    yield from _text(held)


def _two_columns(pieces: Sequence[Segment | Fold]) -> Iterator[str]:
    """Rows of old beside new. A row ends where both texts have the same line break, so that equal lines stand side by side."""
    left: list[str] = []
    right: list[str] = []
    for piece in pieces:
        if isinstance(piece, Fold):
            yield from _row(left, right)
            yield _fold(piece)
            left, right = [], []
        elif piece.tag == "equal":
            first, rest, last = _lines(_unix(piece.text))
            for side in (left, right):
                side.append(_shown(first))
            if "\n" in piece.text:
                yield from _row(left, right)
                yield from _row([_shown(rest)], [_shown(rest)])
                left, right = [_shown(last)], [_shown(last)]
        else:
            (left if piece.tag == "del" else right).append(_marked(piece))
    yield from _row(left, right)


def _lines(text: str) -> tuple[str, str, str]:
    """The text up to its first line break, then up to its last one, and what follows."""
    first = text.find("\n") + 1 or len(text)
    last = max(first, text.rfind("\n") + 1)
    return text[:first], text[first:last], text[last:]


def _row(left: list[str], right: list[str]) -> Iterator[str]:
    """One row; a side on which nothing is marked is said once on a narrow screen."""
    old, new = "".join(left), "".join(right)
    if old or new:
        row = "row" if old == new else "row changed"
        first = "text again" if old != new and "<del" not in old else "text"
        second = "text again" if old == new or ("<ins" not in new and "<del" in old) else "text"
        yield f'<div class="{row}"><div class="{first}">{old}</div><div class="{second}">{new}</div></div>'


def _text(held: list[str]) -> Iterator[str]:
    if any(held):
        yield f'<div class="text">{"".join(held)}</div>'


def _fold(fold: Fold) -> str:
    return f'<div class="fold">… {_shown(fold.said)} …</div>'


def _marked(segment: Segment) -> str:
    """A segment between its tags; spaces and line breaks alone would not be seen, so they get a class that draws them."""
    text = _shown(_unix(segment.text) if segment.tag == "equal" else segment.text)
    if segment.tag == "equal" or not text:
        return text
    kind = "" if segment.text.strip() else ' class="blank break"' if "\n" in segment.text else ' class="blank"'
    return f"<{segment.tag}{kind}>{text}</{segment.tag}>"


def _unix(text: str) -> str:
    """Unchanged text with plain line breaks: a carriage return is worth seeing only where it changed."""
    return text.replace("\r\n", "\n")


def _shown(text: str, *, length: int | None = None) -> str:
    """Text of an agent's making as HTML text: invisible and direction-changing characters written out, every sign standing for itself."""
    return html_escape(escape.visible(text, length=len(text) if length is None else length))
