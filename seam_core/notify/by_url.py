"""``python -m seam_core.notify.by_url``: sends what it reads as JSON (url, title, text) with apprise; prints why not, in our own words.

The words of the library and of the service are not passed on: both may repeat the URL.
"""

from __future__ import annotations

import json
import logging
import re
import sys
from typing import Any

_CODE = re.compile(r"error=(\d{3})\b")
UNUSABLE_URL = "the URL is none that this service understands"


def send(url: str, *, title: str, text: str) -> str:
    """Why the message was not taken; empty when it was."""
    import apprise

    logging.getLogger("apprise").addHandler(logging.NullHandler())  # else its warnings, with the URL, go to standard error
    # No pictures from elsewhere, and a redirect is not followed: the message goes where the server settings say or nowhere.
    asset = apprise.AppriseAsset(app_id="SEAM", app_desc="SEAM", app_url="", image_url_mask="", image_url_logo="", http_redirects=False)
    service = apprise.Apprise.instantiate(url, asset=asset)
    if service is None:
        return UNUSABLE_URL
    sender = apprise.Apprise(service, asset=asset)
    found = sender.notify(title=title, body=text, body_format=apprise.NotifyFormat.TEXT)
    return "" if found else _reason(found)


def _reason(found: Any) -> str:
    logs = [entry.message for result in found for attempt in result for entry in attempt]
    codes = [code[1] for line in logs if (code := _CODE.search(line))]
    if codes:
        return f"the service answered with {codes[-1]}"
    return "the service could not be reached" if any("onnection" in line for line in logs) else "the service did not take it"


if __name__ == "__main__":
    said = json.load(sys.stdin)
    fault = send(said["url"], title=said["title"], text=said["text"])
    print(fault)  # noqa: T201
    sys.exit(1 if fault else 0)
