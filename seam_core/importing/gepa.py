"""Results of GEPA: what ``GEPAResult.to_dict`` gives, as JSON, or the short summary of its example scripts.

A candidate is a heal, and its best parent is what was there before. The validation scores chose among the candidates, so they were seen
by the loop (``--visible val``); a result holds no score that could be declared as held out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from seam_core.importing.format import HEAL_OPTIONS, Asked, Format, Found, Left, SourceError, each, name_of
from seam_core.importing.heals import Healed, check_split, heal_item
from seam_core.importing.reading import a_list, an_object, digest_of, number_in, read_json

VAL = "val"


def _read_one(path: Path, asked: Asked) -> Iterator[Found]:
    result = an_object(read_json(path), "a result of GEPA")
    file = name_of(path)
    if "candidates" in result and "val_aggregate_scores" in result:
        read = _of_result
    elif "val_scores_history" in result:
        read = _of_summary
    else:
        raise SourceError("is no result of GEPA: it has neither candidates and val_aggregate_scores, nor val_scores_history")
    check_split(asked, (VAL,), "GEPA")
    loop_id = asked.loop_id or file.removesuffix(".json")
    source = {"format": "gepa", "file": file, "sha256": digest_of(path)}
    order = 0
    for one in read(result, loop_id):
        if isinstance(one, Healed):
            yield heal_item(one, asked, order=order, file=file, source=source)
            order += 1
        else:
            yield Left(file, one[0], one[1], is_fault=one[2])


Read = Healed | tuple[str, str, bool]


def _of_result(result: Mapping[str, Any], loop_id: str) -> Iterator[Read]:
    candidates = a_list(result["candidates"], "its candidates")
    scores = a_list(result["val_aggregate_scores"], "its val_aggregate_scores")
    parents = a_list(result.get("parents", []), "its parents")
    if not len(candidates) == len(scores) == len(parents):
        raise SourceError(
            f"has {len(candidates):,} candidates, {len(scores):,} scores and {len(parents):,} lists of parents, which must be as many"
        )
    for n, (candidate, score) in enumerate(zip(candidates, scores, strict=True)):
        of = [one for one in parents[n] if _is_index(one, n)] if isinstance(parents[n], list) else []
        if not isinstance(candidate, dict) or not all(isinstance(text, str) for text in candidate.values()):
            yield f"candidate {n}", "is no object of component → text", True
        elif not of and n == 0:
            yield f"candidate {n}", "is the seed, which no heal made", False
        elif not of:
            yield f"candidate {n}", "names no parent among the candidates before it", True
        else:
            best = max(of, key=lambda one: (number_in(scores[one]) or 0.0, -one))
            yield _candidate(n, candidate, candidates[best], loop_id, before=scores[best], after=score, raw=_raw(result, n, best))


def _is_index(value: Any, n: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < n


def _raw(result: Mapping[str, Any], n: int, best: int) -> dict[str, Any]:
    """What the result says of one candidate."""
    raw: dict[str, Any] = {"candidate": n, "parents": result["parents"][n], "before": best, "is_best": result.get("best_idx") == n}
    for key in ("val_subscores", "discovery_eval_counts", "val_aggregate_subscores"):
        values = result.get(key)
        raw |= {key: values[n]} if isinstance(values, list) and len(values) > n else {}
    return raw


def _candidate(n: int, texts: Mapping[str, str], old: Any, loop_id: str, *, before: Any, after: Any, raw: Any) -> Healed:
    """A candidate as a heal of the components that differ from its parent's."""
    known = old if isinstance(old, dict) else {}
    changed = [name for name, text in texts.items() if known.get(name) != text] or list(texts)
    text = texts[changed[0]] if len(changed) == 1 else json.dumps({name: texts[name] for name in changed}, ensure_ascii=False, indent=1)
    return Healed(
        heal_id=f"{loop_id}#{n}",
        loop_id=loop_id,
        cycle=n,
        level=2,
        signature=f"low_score:gepa:{loop_id}",
        target="+".join(changed) or None,
        after_text=text if changed else None,
        before={VAL: number_in(before)},
        after={VAL: number_in(after)},
        raw=raw,
    )


def _of_summary(result: Mapping[str, Any], loop_id: str) -> Iterator[Read]:
    """The summary keeps all scores and the best prompt alone; it belongs to the first candidate with the best score, as GEPA chooses."""
    scores: Sequence[Any] = a_list(result["val_scores_history"], "its val_scores_history")
    numbers = [number_in(score) for score in scores]
    known = [score for score in numbers if score is not None]
    best = numbers.index(max(known)) if known else -1
    prompt = result.get("best_prompt")
    for n, score in enumerate(numbers):
        if n == 0:
            yield "candidate 0", "is the seed, which no heal made", False
            continue
        yield Healed(
            heal_id=f"{loop_id}#{n}",
            loop_id=loop_id,
            cycle=n,
            level=2,
            signature=f"low_score:gepa:{loop_id}",
            target="prompt",
            after_text=prompt if n == best and isinstance(prompt, str) else None,
            before={VAL: max((one for one in numbers[:n] if one is not None), default=None)},
            after={VAL: score},
            raw={"candidate": n, "val_score": scores[n], "is_best": n == best, "dataset": result.get("dataset")},
        )


FORMAT = Format("GEPA: the result of an optimisation, JSON", (*HEAL_OPTIONS, "assume_ts"), each(_read_one))
