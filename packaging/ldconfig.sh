# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# Of the RPM libddl0.1, after its installation and its removal.
/sbin/ldconfig || :
