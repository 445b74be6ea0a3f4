"""Inspect logs, ``.eval`` and ``.json``, of one eval each. Where the library `inspect_ai` is installed it reads the samples.

A case is a sample: its id, and from the second epoch on the epoch. Only a log that ended well is taken, since one that was stopped hides
what it did not reach. A sample that was invalidated or has no score is left out; one with an error, or with a score that is no number, is
errored.
"""

from __future__ import annotations

import importlib.util
import math
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from seam_core.importing.format import RUN_OPTIONS, Asked, Format, Found, SourceError, each, name_of
from seam_core.importing.moments import moment_in
from seam_core.importing.reading import an_object, digest_of, kept, open_source, parse, read_json, text_in
from seam_core.importing.runs import CaseBook, Outcome, shortened
from seam_core.importing.unzip import Archive
from seam_core.importing.verdicts import judged

LIBRARY = "inspect_ai"
ZIP = b"PK"
CORRECT = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}  # Inspect's own values of the letters


def _read_one(path: Path, asked: Asked) -> Iterator[Found]:
    with open_source(path) as file:
        is_zip = file.read(2) == ZIP
    with ExitStack() as stack:
        archive = stack.enter_context(Archive(path)) if is_zip else None
        header = _header(archive) if archive else an_object(read_json(path), "an Inspect log")
        _check(header)
        book = CaseBook(name_of(path))
        has_library = importlib.util.find_spec(LIBRARY) is not None
        samples = _by_library(path, header) if has_library else _by_us(archive, header)
        ends = [_add(book, sample, n, asked) for n, sample in enumerate(samples, start=1)]
    _compare(book, header, len(ends))
    yield from book.found(asked, name=f"inspect-{_identity(header, path)}", ended=_ended(header, ends), source=_source(header, path))


def _header(archive: Archive) -> dict[str, Any]:
    if "header.json" not in archive.members:
        what = "the eval has not ended, or was killed" if "_journal/start.json" in archive.members else "it is a zip file of something else"
        raise SourceError(f"holds no header.json: {what}")
    return an_object(parse(archive.read("header.json")), "its header.json")


def _check(header: Mapping[str, Any]) -> None:
    if not isinstance(header.get("eval"), dict) or "status" not in header:
        raise SourceError("is no Inspect log: it has neither eval nor status")
    if header["status"] != "success":
        raise SourceError(
            f"its status is {str(header['status'])[:40]!r}: an eval that did not end well hides the samples it did not reach; repeat it"
        )


def _by_us(archive: Archive | None, header: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    if archive is None:
        samples = header.get("samples")
        for sample in samples if isinstance(samples, list) else ():
            yield an_object(sample, "a sample")
        return
    for name in archive.members:
        if name.startswith("samples/") and name.endswith(".json"):
            yield an_object(parse(archive.read(name)), name)


def _by_library(path: Path, header: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The samples as Inspect's own library reads them."""
    from inspect_ai.log import read_eval_log, read_eval_log_samples

    try:
        if "samples" in header:
            samples = read_eval_log(str(path), format="json").samples or []
        else:
            samples = read_eval_log_samples(str(path), all_samples_required=False, format="eval")
        for sample in samples:
            yield sample.model_dump(mode="json", exclude={"events", "store", "messages"})
    except (ValueError, KeyError, TypeError, OSError, RuntimeError, RecursionError, zipfile.BadZipFile) as error:
        raise SourceError(
            f"cannot be read by the installed {LIBRARY}: {type(error).__name__}: {str(error).splitlines()[0][:200]}"
        ) from None


def _add(book: CaseBook, sample: Mapping[str, Any], n: int, asked: Asked) -> str | None:
    """Note one sample; returns when it ended."""
    sample_id, epoch = text_in(sample.get("id")), sample.get("epoch")
    later = isinstance(epoch, int) and not isinstance(epoch, bool) and epoch > 1
    case_id = f"{sample_id} · epoch {epoch}" if sample_id and later else sample_id
    outcome, reason = _judge(sample, asked)
    metadata = sample.get("metadata")
    book.add(
        case_id,
        outcome,
        where=case_id or f"sample {n}",
        reason=reason,
        evidence=_evidence(sample),
        raw=_raw(sample),
        text=_question(sample.get("input")),
        safety=isinstance(metadata, dict) and metadata.get("safety") is True,
    )
    return moment_in(sample.get("completed_at"))


def _raw(sample: Mapping[str, Any]) -> dict[str, Any]:
    """What Inspect itself says of a sample: its scores as they are, and no traceback, which is longer than all the rest."""
    found = {"total_time": sample["total_time"]} if sample.get("total_time") is not None else {}
    scores, error, limit = sample.get("scores"), sample.get("error"), sample.get("limit")
    found |= {"limit": limit.get("type")} if isinstance(limit, dict) else {}
    if isinstance(scores, dict) and scores:
        found["scores"] = {name: score.get("value") if isinstance(score, dict) else score for name, score in scores.items()}
    return found | ({"error": error.get("message")} if isinstance(error, dict) else {})


def _judge(sample: Mapping[str, Any], asked: Asked) -> tuple[Outcome, str]:
    if sample.get("invalidation"):
        return "skip", "was invalidated"
    error = sample.get("error")
    if error:
        message = error.get("message") if isinstance(error, dict) else error
        return "error", f"error: {str(message)[:100]}"
    scores = sample.get("scores")
    if scores is None and isinstance(sample.get("score"), dict):
        scores = {"score": sample["score"]}  # version 1 of the format
    if not isinstance(scores, dict) or not scores:
        return "skip", "has no score"
    return judged(_value(scores, asked.score), asked, letters=CORRECT)


def _value(scores: Mapping[str, Any], wanted: str | None) -> Any:
    """The value of the one score, or of the one that was asked for; the parts of a score of several are asked for with a dot."""
    flat: dict[str, Any] = {}
    for name, score in scores.items():
        value = score.get("value") if isinstance(score, dict) else score
        flat |= {f"{name}.{part}": inner for part, inner in value.items()} if isinstance(value, dict) else {name: value}
    if wanted is None and len(flat) == 1:
        return next(iter(flat.values()))
    if wanted is None:
        raise SourceError(f"has several scores: say which one judges a case with --score ({', '.join(list(flat)[:10])})")
    if wanted not in flat:
        raise SourceError(f"--score {wanted}: no such score; there are {', '.join(list(flat)[:10])}")
    value = flat[wanted]
    return math.nan if value is None else value


def _evidence(sample: Mapping[str, Any]) -> str:
    """What the model answered, and what the scorer or an error said of it."""
    output = sample.get("output")
    choices = output.get("choices") if isinstance(output, dict) else None
    message = choices[0].get("message") if isinstance(choices, list) and choices and isinstance(choices[0], dict) else None
    answer = _attached(_words(message.get("content")) if isinstance(message, dict) else "", sample)
    error = sample.get("error")
    told = [str(error.get("message"))] if isinstance(error, dict) else []
    for name, score in (sample.get("scores") or {}).items() if isinstance(sample.get("scores"), dict) else ():
        explanation = score.get("explanation") if isinstance(score, dict) else None
        told += [f"{name}: {explanation}"] if isinstance(explanation, str) and explanation != answer else []
    return shortened("\n\n".join(part for part in (answer, *told) if part))


def _words(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str))


def _attached(text: str, sample: Mapping[str, Any]) -> str:
    attachments = sample.get("attachments")
    found = (
        attachments.get(text.removeprefix("attachment://")) if isinstance(attachments, dict) and text.startswith("attachment://") else text
    )
    return found if isinstance(found, str) else text


def _question(asked: Any) -> str | None:
    if isinstance(asked, list):
        return "\n".join(_words(message.get("content")) for message in asked if isinstance(message, dict)) or None
    return text_in(asked)


def _compare(book: CaseBook, header: Mapping[str, Any], n_samples: int) -> None:
    results = header.get("results")
    said = results.get("total_samples") if isinstance(results, dict) else None
    if not n_samples:
        raise SourceError("holds no sample: only the summary was logged; log the samples, too")
    if isinstance(said, int) and said > n_samples:
        book.leave("results.total_samples", f"counts {said:,} samples and holds {n_samples:,}: what is missing is no pass")


def _ended(header: Mapping[str, Any], ends: list[str | None]) -> str | None:
    """When the eval ended: as it says, else when its last sample ended, else when it was begun."""
    stats = header.get("stats")
    said = moment_in(stats.get("completed_at")) if isinstance(stats, dict) else None
    return said or max((end for end in ends if end), default=None) or moment_in(header["eval"].get("created"))


def _identity(header: Mapping[str, Any], path: Path) -> str:
    evaluated = header["eval"]
    parts = [text_in(evaluated.get(key)) for key in ("eval_id",)] if evaluated.get("eval_id") else []
    parts = parts or [text_in(evaluated.get(key)) for key in ("run_id", "task_id")]
    known = [part for part in parts if part and part.strip(".")]
    return "-".join(known) or digest_of(path)[:12]


def _source(header: Mapping[str, Any], path: Path) -> dict[str, Any]:
    evaluated = header["eval"]
    told = {key: evaluated[key] for key in ("task", "task_version", "model", "revision", "scorers") if evaluated.get(key) is not None}
    return {"format": "inspect", "file": name_of(path), "sha256": digest_of(path)} | dict(kept(told))


FORMAT = Format(
    "Inspect: the log of an eval, .eval or .json",
    (*RUN_OPTIONS, "score", "pass_at", "pass_label", "assume_ts"),
    each(_read_one),
    needs=("suite", "phase"),
)
