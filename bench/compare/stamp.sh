#!/bin/bash
# SPDX-License-Identifier: MIT
# The rank of the start measurement: writes when it runs, and ends.
echo "$EPOCHREALTIME" > "$HOME/started/$HOSTNAME.$$"
echo "ended well"
