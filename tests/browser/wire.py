"""The websocket between a page and its server, listened to and spoken into."""

import re
import time

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.browser.conftest import PATIENCE


class Wire:
    """What a page and its server tell each other, and a way to send what the page never would."""

    def __init__(self, page):
        self.sent, self.n_done = [], 0
        self._page = page
        page.route_web_socket(re.compile("_stcore/stream"), self._between)

    def _between(self, browser):
        self._server = browser.connect_to_server()
        browser.on_message(self._forth)
        self._server.on_message(lambda data: self._back(browser, data))

    def _forth(self, data):
        self.sent.append(data)
        self._server.send(data)

    def _back(self, browser, data):
        self.n_done += ForwardMsg.FromString(data).WhichOneof("type") == "script_finished"
        browser.send(data)

    def forms(self, *, after):
        """Those of the messages sent, after so many, that carry what stands in boxes or which button was pressed."""
        return [data for data in self.sent[after:] if BackMsg.FromString(data).rerun_script.widget_states.widgets]

    def replay(self, forms, workspace):
        """Send what another page sent, on another workspace, one after another."""
        for data in forms:
            asked, before = BackMsg.FromString(data), self.n_done
            asked.rerun_script.query_string = re.sub("workspace=[a-z]+", f"workspace={workspace}", asked.rerun_script.query_string)
            self._server.send(asked.SerializeToString())
            until = time.monotonic() + PATIENCE / 1000
            while self.n_done == before and time.monotonic() < until:
                self._page.wait_for_timeout(20)
            assert self.n_done > before
