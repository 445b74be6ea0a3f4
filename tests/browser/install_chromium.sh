#!/bin/sh
# The browser tests drive Debian's headless Chromium, which takes half the processor time of the one with windows.
# Installs it where that can be done without asking; elsewhere any Chromium will do, and without one it says what to do.
set -eu
command -v chromium-headless-shell >/dev/null 2>&1 && exit
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium-headless-shell fonts-dejavu-core >/dev/null
elif ! command -v chromium >/dev/null 2>&1 && [ -z "${SEAM_CHROMIUM:-}" ]; then
    echo "Chromium was not found: install it (Debian: sudo apt-get install chromium-headless-shell), or name one by SEAM_CHROMIUM;" \
        "else the browser tests fail." >&2
fi
