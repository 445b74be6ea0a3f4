"""Real places to send messages to, all on this machine: a web service, a mail server, a program."""

import contextlib
import json
import socketserver
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from seam_core.notify.hooks import Hook


class WebService:
    """Takes JSON at any path; `status` is what it answers with, `got` what it was sent."""

    def __init__(self):
        self.status, self.got, self.location = 200, [], None
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                service.got.append((self.path, dict(self.headers), json.loads(body)))
                self.send_response(service.status)
                if service.location:
                    self.send_header("Location", service.location)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    def url(self, path="/hook/S3CRET"):
        return f"json://reader:pa55word@127.0.0.1:{self.server.server_address[1]}{path}"


class MailServer:
    """Takes mail without asking who it is from."""

    def __init__(self):
        self.got = []
        mails = self.got

        class Handler(socketserver.StreamRequestHandler):
            def handle(self):
                self.wfile.write(b"220 here\r\n")
                while line := self.rfile.readline():
                    word = line[:4].upper()
                    if word == b"DATA":
                        self.wfile.write(b"354 go on\r\n")
                        mails.append(b"".join(iter(self.rfile.readline, b".\r\n")).decode())
                    self.wfile.write(b"221 bye\r\n" if word == b"QUIT" else b"250 fine\r\n")
                    if word == b"QUIT":
                        return

        self.server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)

    def url(self):
        return f"mailto://127.0.0.1:{self.server.server_address[1]}?from=seam@example.org&to=ana@example.org&mode=insecure"


@contextlib.contextmanager
def running(service):
    """The service, as long as the block runs."""
    thread = threading.Thread(target=service.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield service
    finally:
        service.server.shutdown()
        service.server.server_close()
        thread.join()


class Program:
    """A program that keeps what it was sent, and ends as it is told to."""

    def __init__(self, folder, *, name="pager", first=""):
        folder.mkdir(parents=True, exist_ok=True)
        self.kept, self.ends_with = folder / f"{name}.got", folder / f"{name}.code"
        self.path = folder / f"{name}.sh"
        self.path.write_text(f'#!/bin/sh\n{first}\ncat >> "{self.kept}"\nexit $(cat "{self.ends_with}")\n')
        self.path.chmod(0o755)
        self.end_with(0)

    def end_with(self, code):
        self.ends_with.write_text(str(code))

    def hook(self, name="pager", *arguments):
        return Hook(name, command=(str(self.path), *arguments))

    @property
    def got(self):
        """The messages that were taken or refused, in order."""
        return [json.loads(line) for line in self.kept.read_text().splitlines()] if self.kept.exists() else []

    @property
    def events(self):
        """Ids of the events in them."""
        return [one["id"] for message in self.got for one in message["events"]]
