# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Defines `module` where the batch shell does not, and loads the job's modules.
# ----- the lines below go into the script -----

# Modules. A batch shell may not have read the file that defines the command.
if ! type module >/dev/null 2>&1; then
  for ddl_file in /etc/profile.d/modules.sh /etc/profile.d/lmod.sh /etc/profile.d/z00_lmod.sh \
    /usr/share/modules/init/bash /usr/share/lmod/lmod/init/bash; do
    # shellcheck source=/dev/null
    if [ -r "$ddl_file" ]; then . "$ddl_file" && break; fi
  done
fi
type module >/dev/null 2>&1 ||
  ddl_fail 'there is no module command on this host' 'the job without modules, or another --queue'
@purge@
module load @modules@ ||
  ddl_fail @message@ 'module avail   # names the ones that are there'
