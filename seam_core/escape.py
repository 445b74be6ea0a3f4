"""Text that an agent wrote, made safe to show.

`st.text`, `st.code(language=None)` and table cells show text as it is; pass it through `visible` alone. Everything else in Streamlit
reads Markdown (captions, alerts, badges, every label): an id goes there through `code`, a whole sentence through `plain`.
"""

from __future__ import annotations

import re
import unicodedata

LENGTH = 2_000  # characters of a sentence that are shown
ID_LENGTH = 80  # characters of an id that are shown

_MARKUP = re.compile(r"([\\`*\[\]<>|~$#&]|(?<!\w)_|_(?!\w))")
_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
# Streamlit turns these into links, icons and arrows even where they are escaped; an invisible joiner inside keeps them text.
_RISKY = re.compile(
    r"(?<=:)(?=//|material/|[+-]1:|[\w+-]*[A-Za-z][\w+-]*:)"  # http://, :material/home:, :smile:
    r"|(?<=[Ww][Ww][Ww])(?=\.)|(?=@)"  # www.a.b, a@b.c
    r"|(?<=[-<>~=])(?=[-<>~=])"  # ->, <=
)
_JOINER = "\u2060"


def visible(text: str, *, length: int = LENGTH) -> str:
    """The text with invisible, control and direction-changing characters written out in hexadecimal, and cut when very long."""
    if text.isascii() and text.isprintable():
        return text if len(text) <= length else text[: length - 1] + "…"
    shown = "".join(one if one in "\n\t" or not _is_hidden(one) else f"\\u{ord(one):04x}" for one in text[: length + 1])
    return shown if len(text) <= length else shown[: length - 1] + "…"


def plain(text: str) -> str:
    """A sentence that may hold an agent's words, for places that read Markdown: every sign stands for itself."""
    line = " ".join(visible(text).split())
    return _PUNCTUATION.sub(r"\\\1", _RISKY.sub(_JOINER, line))


def markdown(text: str) -> str:
    """A sentence for a Markdown file: what would be markup is escaped, everything else stays readable as it is."""
    line = " ".join(visible(text).split())
    return _MARKUP.sub(r"\\\1", _RISKY.sub(_JOINER, line))


def code(text: str) -> str:
    """An id for places that read Markdown, as inline code, in which nothing else is read."""
    line = " ".join(visible(text, length=ID_LENGTH).split()) or "(empty)"
    line = line.replace(":material/", f":{_JOINER}material/")  # the one thing that Streamlit rewrites inside code
    longest = max((len(run) for run in re.findall("`+", line)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def _is_hidden(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cf", "Co", "Cs", "Zl", "Zp") or character in "\u115f\u1160\u3164\uffa0\u034f"
