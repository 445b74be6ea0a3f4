#!/bin/sh
# The browser tests drive Debian's Chromium. Installs it where that can be done without asking; says what to do elsewhere.
set -eu
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core >/dev/null
else
    echo "Chromium was not found: install it (Debian: sudo apt-get install chromium), else the browser tests fail." >&2
fi
