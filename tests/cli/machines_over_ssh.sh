#!/bin/bash
# SPDX-License-Identifier: MIT
# Machines read over ssh, by a stand-in for ssh that runs the remote command here: what hosts may answer.
# shellcheck source=tests/support/check.sh
. "$(dirname "$(readlink -f "$0")")/../support/check.sh"
data=$DDLRUN_SOURCE_DIR/tests/data/topologies
mkdir "$work/bin" "$work/empty"

# ssh ... -- HOST COMMAND: the host's name says how it behaves.
cat > "$work/bin/ssh" <<'SSH'
#!/bin/bash
[ "${*: -3:1}" = -- ] || exit 99
[[ " $* " == *" BatchMode=yes "* && " $* " == *" ForwardAgent=no "* ]] || exit 99
command=${*: -1}
case ${*: -2:1} in
  far*) echo 'Welcome to far'; exec bash -c "$command" ;;                             # a noisy login shell
  bare*) PATH=$BARE exec /bin/bash -c "${command//$DDLRUN/\/none}" ;;                  # lstopo only
  nothing*) PATH=$EMPTY exec /bin/bash -c "exec() { shift; builtin exec /bin/sh \"\$@\"; }; ${command//$DDLRUN/\/none}" ;;
  garbage*) echo ddlrun-topology-follows; head -c 100000 /dev/urandom ;;
  cut*) echo ddlrun-topology-follows; head -c 3000 "$DATA" ;;
  slow*) sleep 60 ;;
  banner*)
    printf '%s\n' 'Authorized users only.' "root@${*: -2:1}: Permission denied (publickey,password)." >&2
    exit 255 ;;
  unknown* | nosuch* | h9) echo "ssh: Could not resolve hostname ${*: -2:1}: Name or service not known" >&2; exit 255 ;;
  *) echo "root@${*: -2:1}: Permission denied (publickey)." >&2; exit 255 ;;
esac
SSH
cat > "$work/empty/lstopo-no-graphics" <<'LSTOPO'
#!/bin/sh
[ "$*" = '--of xml -' ] && exec /bin/cat "$DATA"
LSTOPO
mkdir "$work/none"
chmod +x "$work/bin/ssh" "$work/empty/lstopo-no-graphics"
mv "$work/empty" "$work/bare"
ln -s /bin/sh "$work/bare/sh"
ln -s /bin/sh "$work/none/sh"
export DDLRUN DATA=$data/power_2pkg_10core_smt8_4gpu_bmc.xml BARE=$work/bare EMPTY=$work/none
PATH=$work/bin:$PATH

expect 0 'rank 0=far1' "$DDLRUN" gen-rankfile 1x2x1 far1,far2
# This host needs no sshd.
expect 5 "the topology of 1 of 2 hosts cannot be read: locked" "$DDLRUN" launch 1x2x1 "$(hostname)",locked -- true
expect 0 "rank 0=$(hostname)" "$DDLRUN" gen-rankfile 1x2x1 "$(hostname)",far1
expect 0 'slot=1:5-9' "$DDLRUN" gen-rankfile 4x1x1 bare1
expect 5 'Permission denied (publickey)' "$DDLRUN" gen-rankfile 1x2x1 far1,locked
expect 5 'at:  banner: root@banner: Permission denied (publickey,password).' "$DDLRUN" gen-rankfile 1x2x1 far1,banner
expect 5 'neither ddlrun nor lstopo is there' "$DDLRUN" gen-rankfile 1x2x1 far1,nothing
expect 5 'neither hwloc XML nor a saved machine' "$DDLRUN" gen-rankfile 1x2x1 far1,garbage
expect 5 'hosts cannot be read: cut' "$DDLRUN" gen-rankfile 1x2x1 far1,cut
mkdir "$work/.ssh"
printf 'Host unknown2 *.lab\n' > "$work/.ssh/config"
HOME=$work expect 5 'try: did you mean unknown2? Else: ddlrun doctor unknown22' "$DDLRUN" launch 1x2x1 far1,unknown22 -- true
HOME=$work expect 5 'did you mean unknown2? Else: ddlrun doctor unknown22' \
  "$DDLRUN" launch --launcher ssh 1x2x1 far1,unknown22 --sockets 1 --cores 1 -- true
HOME=$work expect 5 'try: ddlrun doctor unknown3' "$DDLRUN" launch 1x2x1 far1,unknown3 -- true
# The pages show these messages as they are printed.
shown_on() {
  local page
  page=$(cat "$DDLRUN_SOURCE_DIR/docs/$1")
  [[ $page == *"$(sed 's/^/    /' "$work/err")"* ]] || fail "not on $1: $(cat "$work/err")"
}
HOME=$work expect 0 'rank 0=nosuch1' "$DDLRUN" gen-rankfile 4x2x1 nosuch1,nosuch2
shown_on rankfiles.md
HOME=$work expect 5 'none of 1 hosts' "$DDLRUN" gen-rankfile --strict 4 h9
shown_on exit_status_and_files.md
start=$SECONDS
expect 5 'hosts cannot be read: slow' "$DDLRUN" gen-rankfile 1x3x1 far1,slow1,slow2
[ $((SECONDS - start)) -le 32 ] || fail "slow hosts took $((SECONDS - start)) s"
finish
