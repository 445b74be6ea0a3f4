"""A browser's end of Streamlit's websocket, without the browser: opens a page, waits for the end of its script, counts what came."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from types import TracebackType

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import connect

PATIENCE = 300.0  # seconds for one run of a page; the first one reads and scores the log
DONE = (ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_WITH_COMPILE_ERROR)


@dataclass(frozen=True)
class Opening:
    """One run of a page as its reader sees it: seconds until its script ended, and bytes that came."""

    seconds: float
    n_bytes: int


@dataclass
class Session:
    """One reader's connection to a server. It keeps messages as a browser does, so that a repeat of a large one comes as a reference."""

    port: int
    _kept: set[str] = field(default_factory=set)

    def __enter__(self) -> Session:
        address = f"ws://127.0.0.1:{self.port}/_stcore/stream"
        self._socket = connect(address, subprotocols=["streamlit"], max_size=None, compression=None)  # type: ignore[list-item]
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None) -> None:
        self._socket.close()

    def open(self, page: str, query: str = "") -> Opening:
        """Run a page (by the last part of its address) from start to end.  Raises RuntimeError when it shows an exception."""
        asked = BackMsg()
        asked.rerun_script.page_name = page
        asked.rerun_script.query_string = query
        asked.rerun_script.cached_message_hashes.extend(self._kept)
        asked.rerun_script.context_info.url = f"http://127.0.0.1:{self.port}/{page}"
        asked.rerun_script.context_info.timezone = "UTC"
        started, n_bytes = time.perf_counter(), 0
        self._socket.send(asked.SerializeToString())
        while True:
            data = self._socket.recv(timeout=PATIENCE)
            assert isinstance(data, bytes)
            n_bytes += len(data)
            message = ForwardMsg.FromString(data)
            if message.metadata.cacheable and message.hash:
                self._kept.add(message.hash)
            if message.delta.new_element.WhichOneof("type") == "exception":
                raise RuntimeError(f"{page}?{query}: {message.delta.new_element.exception.message}")
            if message.WhichOneof("type") == "script_finished" and message.script_finished in DONE:
                return Opening(time.perf_counter() - started, n_bytes)
