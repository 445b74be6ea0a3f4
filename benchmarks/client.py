"""A browser's end of Streamlit's websocket, without the browser: opens a page, presses its buttons, waits for the end of its script.

Counts what came; the tests that kill servers press buttons with it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from types import TracebackType

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

PATIENCE = 300.0  # seconds for one run of a page; the first one reads and scores the log
DONE = (ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_WITH_COMPILE_ERROR, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)


@dataclass(frozen=True)
class Opening:
    """One run of a page as its reader sees it: seconds until its script ended, and bytes that came."""

    seconds: float
    n_bytes: int


@dataclass(frozen=True)
class Widget:
    """A button or a box for text; `fragment` is the part of the page that it runs."""

    id: str
    label: str
    fragment: str

    @property
    def key(self) -> str:
        """The key that the page gave it."""
        return self.id.split("-", 2)[2]


@dataclass
class Session:
    """One reader's connection to a server. It keeps messages as a browser does, so that a repeat of a large one comes as a reference.

    `widgets` and `texts` are those of the last run.
    """

    port: int
    widgets: list[Widget] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    _open: ExitStack = field(default_factory=ExitStack)
    _kept: set[str] = field(default_factory=set)
    _page: str = ""
    _query: str = ""

    def __enter__(self) -> Session:
        address = f"ws://127.0.0.1:{self.port}/_stcore/stream"
        connection = connect(address, subprotocols=["streamlit"], max_size=None, compression=None)  # type: ignore[list-item]
        self._socket = self._open.enter_context(connection)
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None) -> None:
        self._open.close()

    def open(self, page: str, query: str = "") -> Opening:
        """Run a page (by the last part of its address) from start to end.  Raises RuntimeError when it shows an exception."""
        self._page, self._query = page, query
        started = time.perf_counter()
        self._ask(BackMsg())
        n_bytes = sum(self._answers())
        return Opening(time.perf_counter() - started, n_bytes)

    def press(self, button: Widget, typed: Mapping[str, str]) -> None:
        """Press a button with texts typed into boxes, by label, and wait for nothing: `rest` tells what comes of it."""
        asked = BackMsg()
        asked.rerun_script.fragment_id = button.fragment
        asked.rerun_script.widget_states.widgets.add(id=button.id, trigger_value=True)
        for label, text in typed.items():
            asked.rerun_script.widget_states.widgets.add(id=self.widget(label).id, string_value=text)
        self._ask(asked)

    def rest(self) -> list[str]:
        """The texts that come until the script has ended, or the server."""
        try:
            for _ in self._answers():
                pass
        except ConnectionClosed:
            pass
        return self.texts

    def widget(self, label: str) -> Widget:
        """The first widget with a label."""
        return next(one for one in self.widgets if one.label == label)

    def _ask(self, asked: BackMsg) -> None:
        asked.rerun_script.page_name = self._page
        asked.rerun_script.query_string = self._query
        asked.rerun_script.cached_message_hashes.extend(self._kept)
        asked.rerun_script.context_info.url = f"http://127.0.0.1:{self.port}/{self._page}"
        asked.rerun_script.context_info.timezone = "UTC"
        self.widgets, self.texts = [], []
        self._socket.send(asked.SerializeToString())

    def _answers(self) -> Iterator[int]:
        """Bytes of each message, up to the end of the script."""
        while True:
            data = self._socket.recv(timeout=PATIENCE)
            assert isinstance(data, bytes)
            yield len(data)
            message = ForwardMsg.FromString(data)
            if message.metadata.cacheable and message.hash:
                self._kept.add(message.hash)
            if message.WhichOneof("type") == "page_info_changed":
                self._query = message.page_info_changed.query_string
            self._note(message)
            if message.WhichOneof("type") == "script_finished" and message.script_finished in DONE:
                return

    def _note(self, message: ForwardMsg) -> None:
        element = message.delta.new_element
        kind = element.WhichOneof("type")
        if kind == "exception":
            raise RuntimeError(f"{self._page}?{self._query}: {element.exception.message}")
        if kind in ("button", "text_area"):
            widget = getattr(element, kind)
            self.widgets.append(Widget(widget.id, widget.label, message.delta.fragment_id))
        elif kind in ("markdown", "text"):
            self.texts.append(getattr(element, kind).body)
