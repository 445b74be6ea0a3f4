"""Do two texts say the same in other words? Told by a small model whose weights ship inside the package wordllama, an optional extra.

The model knows words and nothing of their order: each sentence is the mean of its tokens' vectors. "Retry twice" and "retry five times" are
all but the same to it, and so are a sentence and its negation. Source: docs/method.md, Other words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from seam_core.errors import SettingsError

LIBRARIES = ("wordllama", "tokenizers", "safetensors", "numpy")
INSTALL = "pip install -r requirements-embedding.txt"
TOLERANCE = 1e-6  # cosines are sums of single precision
SENTENCE_MAX = 2_000  # characters; what is longer is cut into pieces of that length
COMPARED_MAX = 2_000  # sentences of one text that are not in the other, above which nothing is said
KEPT = 50_000  # sentences whose vectors are remembered, a kilobyte each; a loop edits the same ones again and again

_ENDS = re.compile(r"\n+|(?<=[.!?;])\s+")


@cache
def is_installed() -> bool:
    """Whether the extra is there; loads nothing."""
    return all(find_spec(name) is not None for name in LIBRARIES)


def check_installed(where: str) -> None:
    """Raises SettingsError when the extra is not there."""
    if not is_installed():
        raise SettingsError(f'{where}: similarity_method = "embedding" needs a model that is not installed: {INSTALL}')


def sentences_of(text: str) -> list[str]:
    """The lines of a text, and the sentences of each, without what surrounds them."""
    found = (part.strip() for part in _ENDS.split(text))
    return [part[at : at + SENTENCE_MAX] for part in found for at in range(0, len(part), SENTENCE_MAX)]


def share_said(old: str, new: str, *, least: float) -> float:
    """The share of two texts, by characters, in sentences of which the other has one that says the same: equal, or with vectors whose
    cosine is `least` and more. 0 where too many sentences differ to be compared.
    """
    before, after = sentences_of(old), sentences_of(new)
    total = sum(map(len, before)) + sum(map(len, after))
    only_before, only_after = set(before) - set(after), set(after) - set(before)
    if not total or max(len(only_before), len(only_after)) > COMPARED_MAX:
        return 0.0
    said_again, said_before = model().alike(sorted(only_before), after, least), model().alike(sorted(only_after), before, least)
    lost = sum(len(one) for one in before if one in only_before and one not in said_again)
    lost += sum(len(one) for one in after if one in only_after and one not in said_before)
    return (total - lost) / total


class Model:
    """The vectors of sentences, each of length 1."""

    def __init__(self, tokenizer: Any, vectors: Any) -> None:
        self._tokenizer, self._vectors = tokenizer, vectors
        self._known: dict[str, Any] = {}

    def vectors(self, sentences: Sequence[str]) -> Any:
        """One row a sentence; zeros for one without a word."""
        import numpy as np

        if len(self._known) > KEPT:
            self._known.clear()
        new = [one for one in dict.fromkeys(sentences) if one not in self._known]
        plain = [one.encode("utf-8", "replace").decode() for one in new]  # half a surrogate pair is no text to a tokenizer
        for sentence, found in zip(new, self._tokenizer.encode_batch(plain, add_special_tokens=False), strict=True):
            mean = self._vectors[found.ids].astype(np.float32).mean(axis=0) if found.ids else np.zeros(self._vectors.shape[1], np.float32)
            length = float(np.linalg.norm(mean))
            self._known[sentence] = mean / length if length else mean
        return np.stack([self._known[one] for one in sentences]) if sentences else np.zeros((0, self._vectors.shape[1]), np.float32)

    def alike(self, sentences: Sequence[str], others: Iterable[str], least: float) -> Mapping[str, str]:
        """Sentence → the one of the others that says most nearly the same, where one does."""
        import numpy as np

        offered = list(dict.fromkeys(others))
        if not sentences or not offered:
            return {}
        # einsum and not @: for products this small, threads of a BLAS that wait for each other take five times as long on a busy machine
        cosines = np.einsum("ik,jk->ij", self.vectors(sentences), self.vectors(offered))
        best = cosines.argmax(axis=1)
        near = cosines[range(len(sentences)), best] >= least - TOLERANCE
        return {one: offered[at] for one, at, is_near in zip(sentences, best, near, strict=True) if is_near}


@cache
def model() -> Model:
    """The model, from the files of the package, which is not imported: that takes a second, and may look for them on the network."""
    from safetensors import safe_open
    from tokenizers import Tokenizer

    spec = find_spec("wordllama")
    assert spec is not None
    assert spec.origin is not None
    folder = Path(spec.origin).parent
    with safe_open(folder / "weights" / "l2_supercat_256.safetensors", framework="np") as weights:
        vectors = weights.get_tensor("embedding.weight")
    return Model(Tokenizer.from_file(str(folder / "tokenizers" / "l2_supercat_tokenizer_config.json")), vectors)
