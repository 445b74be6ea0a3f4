"""Arguments in, one report out: what ``run_seam.py`` does, and ``python -m seam_core report``.

Exit codes: 0 quiet · 1 an alert fired · 2 a gate block, a due re-certification or a withheld axis · 3 unusable arguments or no valid
heal (one sentence on stderr, nothing on stdout) · 4 a fault of the program (with its traceback).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from seam_core.commandline import PATH, progress, run, say
from seam_core.errors import SettingsError
from seam_core.records import CERTIFIED_FILE
from seam_core.settings import bounds, read_server_settings, resolve
from seam_core.sharing import start_ahead
from seam_core.window import clock, parse_end, parse_span
from seam_core.words import AXIS_NAMES, cut
from seam_core.workspace import workspace_of_log

if TYPE_CHECKING:  # loaded once another process has something to do, too
    from seam_core.report import Audit
    from seam_core.store import Store

FORMATS = ("json", "md")


def main(arguments: Sequence[str]) -> int:
    """Run the command line; returns the exit code. Prints the report to stdout, everything else to stderr."""
    return run(command, arguments, program="run_seam.py")


def _thresholds(report: Callable[..., int]) -> Callable[..., int]:
    """The report with one option per threshold added, named after it."""
    for key, (default, bound) in reversed(bounds().items()):
        report = click.option(f"--{key.replace('_', '-')}", key, help=_help(default, bound))(report)
    return report


def _help(default: Any, bound: Any) -> str:
    return (
        f"{bound.meaning} (default {default:g}{' ' + bound.unit if bound.unit else ''})" if not isinstance(default, str) else bound.meaning
    )


@click.command()
@click.option("--heals", type=PATH, required=True, help="the heal log; other logs and seam.toml are looked for beside it")
@click.option("--window", default="7d", help="7d, 24h, 4w or all")
@click.option("--as-of", help="where the window ends: a date or a time (default: the newest heal)")
@click.option("--now", help="the clock, for repeatable runs: later times are not believed")
@click.option("--fixtures", type=PATH, help="folder of the fixtures: holdout, surface and so on")
@click.option("--require", default="", show_default=False, help="axes that must be scored, such as S,E,A,M")
@click.option("--format", "output", default="json", help="json or md")
@click.option("--rejects", type=PATH, help="write every rejected line there, as JSON Lines")
@click.option("--packet", type=PATH, help="write an evidence packet (zip) there: report, rows, logs as read")
@_thresholds
def command(
    *,
    heals: Path,
    window: str,
    as_of: str | None,
    now: str | None,
    fixtures: Path | None,
    require: str,
    output: str,
    rejects: Path | None,
    packet: Path | None,
    **flags: str | None,
) -> int:
    """Score a window of heals: was the repair real?"""
    required = _axes(require)
    if output not in FORMATS:
        raise SettingsError(f"--format {output}: write json or md")
    parse_span(window)
    if as_of is not None:
        parse_end(as_of)
    workspace = workspace_of_log(heals, fixtures=fixtures)
    chosen = {key: _number(key, text) for key, text in flags.items() if text is not None}
    server = read_server_settings()
    resolved = resolve(workspace.settings_file, flags=chosen, server=server)
    moment = parse_end(now) if now is not None else clock()
    with start_ahead(workspace.heals) as ahead:
        from seam_core.ledger import ledger_file, noted
        from seam_core.store import Store

        ledger = ledger_file(workspace.folder, server)
        store = Store(workspace, now=moment, tell=progress(), ledger=ledger)
        with ThreadPoolExecutor(max_workers=1) as beside:
            beside.submit(import_module, "seam_core.report")  # while the logs are read
            store.refresh()
        if rejects:
            _write_rejects(store, rejects)
        from seam_core.merges import merged_for_report
        from seam_core.report import audit, to_json, window_of

        found = audit(store, window_of(store, span=window, as_of=as_of), resolved, require=required, ahead=ahead)
    if packet:
        _write_packet(found, packet, span=window, now=moment, server=server, flags=chosen, require=required, ledger=ledger)
    if output == "json":
        say(to_json(found, ledger=noted(ledger), merged=merged_for_report(found.scope, ledger)))
    else:
        from seam_core.markdown import to_markdown

        say(to_markdown(found))
    return found.exit_code


def _number(key: str, text: str) -> Any:
    if isinstance(bounds()[key][0], str):
        return text
    try:
        return int(text) if text.lstrip("+-").isdigit() else float(text)
    except ValueError:
        raise SettingsError(f"--{key.replace('_', '-')} {cut(text)}: is not a number") from None


def _axes(text: str) -> tuple[str, ...]:
    axes = tuple(axis.strip().upper() for axis in text.split(",") if axis.strip())
    if unknown := [axis for axis in axes if axis not in AXIS_NAMES]:
        raise SettingsError(f"--require {text}: {unknown[0]} is none of {', '.join(AXIS_NAMES)}")
    return axes


def _write_packet(found: Audit, path: Path, **asked: Any) -> None:
    from seam_core.packet import Asked, make_packet

    show = progress()
    tell = (lambda what, share: show(f"{what} ({share:.0%})")) if show else None
    unfinished = path.with_name(f".{path.name}.unfinished")
    try:
        _check_free(found.scope.store, path, "--packet")
        with unfinished.open("w+b") as file:
            make_packet(file, found, Asked(**asked), logs_max=None, tell=tell)
        unfinished.replace(path)
    except OSError as error:
        raise SettingsError(f"--packet {path}: cannot be written ({error.strerror})") from None
    finally:
        unfinished.unlink(missing_ok=True)


def _check_free(store: Store, path: Path, option: str) -> None:
    """Raises SettingsError when writing there would overwrite a file that was read."""
    if path.exists() and any(path.samefile(taken) for taken in _read_files(store)):
        raise SettingsError(f"{option} {path}: is a file of the workspace, which would be overwritten; name another")


def _write_rejects(store: Store, path: Path) -> None:
    import msgspec

    try:
        _check_free(store, path, "--rejects")
        with path.open("wb") as file:
            for reject in store.rejects():
                file.write(msgspec.json.encode(reject) + b"\n")
    except OSError as error:
        raise SettingsError(f"--rejects {path}: cannot be written ({error.strerror})") from None


def _read_files(store: Store) -> list[Path]:
    workspace = store.workspace
    logs = [state.file.path for state in store.states.values() if state.file]
    return [path for path in (*logs, workspace.settings_file, workspace.fixtures / CERTIFIED_FILE) if path.exists()]
