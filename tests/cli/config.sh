#!/bin/bash
# SPDX-License-Identifier: MIT
# The files of a centre for all its users, as submit, lint-script, convert and `config show` take them: the order of the
# layers, profiles and templates by their names, and files that another user can change.
# shellcheck source=tests/support/check.sh
. "$(dirname "$(readlink -f "$0")")/../support/check.sh"
export XDG_STATE_HOME=$work/state XDG_CONFIG_HOME=$work/user DDLRUN_SITE_DIR=$work/site
umask 022
mkdir -p "$work/job" "$work/user/ddlrun"
cp -r "$DDLRUN_SOURCE_DIR/examples/site" "$work/site"
cd "$work/job" || exit 1

# origin KEY VALUE ORIGIN: a line of `config show --origin`
origin() { grep -qE "^$1: $2 +# $3\$" "$work/out" || fail "no '$1: $2 # $3': $(grep "^$1:" "$work/out")"; }
printf 'walltime: 4h\nqueue: short\n' > ddlrun.yaml
printf '# none yet\n' > "$work/user/ddlrun/config.yaml"
export DDLRUN_ACCOUNT=physics
expect 0 "configuration: $work/site" "$DDLRUN" config show --origin
has 'the profile is named' "$work/err" "site: My cluster, from $work/site/sites/my-cluster.yaml"
origin site my-cluster "$work/site/config.yaml:2:7"
origin stall_timeout 300 "$work/site/config.yaml:3:16"
origin walltime 4h 'ddlrun.yaml:1:11'
origin queue short 'ddlrun.yaml:2:8'
origin account physics DDLRUN_ACCOUNT
origin cores_per_node 64 "profile my-cluster \\($work/site/sites/my-cluster.yaml:5\\)"
origin doctor stop built-in
has_not 'what nothing sets' "$work/out" 'memory'
expect 0 '' "$DDLRUN" config show
check 'without origins' grep -qx 'queue: short' "$work/out"
printf 'stall_timeout: 20\n' > "$work/user/ddlrun/config.yaml"
expect 0 '' "$DDLRUN" config show --origin
origin stall_timeout 20 "$work/user/ddlrun/config.yaml:1:16"
expect_refusal 2 "'shw' is not show" "$DDLRUN" config shw
expect 0 'from ddlrun itself' "$DDLRUN" config show --site generic-pbs
cp "$work/site/sites/my-cluster.yaml" here.yaml
expect 0 'My cluster, from here.yaml' "$DDLRUN" config show --site here.yaml
printf 'stall_timout: 20\n' > "$work/user/ddlrun/config.yaml"
expect 3 'did you mean stall_timeout?' "$DDLRUN" config show
: > "$work/user/ddlrun/config.yaml"

# submit states what it takes from where; the profile's rules hold.
expect 0 "site: My cluster, from $work/site/sites/my-cluster.yaml" "$DDLRUN" submit 1x1 --dry-run -- /bin/true
has 'a file of the centre is named' "$work/err" "from $work/site/config.yaml: site, stall_timeout"
has 'a default of the profile' "$work/out" '#SBATCH --partition=short'
DDLRUN_ACCOUNT='' expect 3 'my-cluster requires account' "$DDLRUN" submit 1x1 --dry-run -- /bin/true
# A template by its name; a file of that name in the directory comes first.
expect 0 "template: $work/site/templates/plain.sh" "$DDLRUN" submit 1x1 --template plain --dry-run -- /bin/true
has 'the template' "$work/out" '#SBATCH --gpus-per-node=1'
sed 's/^cd/# mine\ncd/' "$work/site/templates/plain.sh" > plain
expect 0 '' "$DDLRUN" submit 1x1 --template plain --dry-run -- /bin/true
has 'the file here' "$work/out" '# mine'
expect 0 plain "$DDLRUN" __complete submit --template pl
expect 0 my-cluster "$DDLRUN" __complete submit --site my
expect 0 show "$DDLRUN" __complete config s

# The centre's profile comes before the one in the binary; a file is named as one.
sed 's/My cluster/Another Nurion/' "$work/site/sites/my-cluster.yaml" > "$work/site/sites/kisti-nurion.yaml"
expect 0 'Another Nurion' "$DDLRUN" submit --site kisti-nurion 1x1 --dry-run -- /bin/true
printf '#!/bin/bash\n#SBATCH -N 1\n#SBATCH -t 99:00:00\nsrun true\n' > job.sh
expect 1 my-cluster "$DDLRUN" lint-script job.sh --site my-cluster
expect 1 my-cluster "$DDLRUN" convert job.sh --to ddlrun.yaml --site my-cluster -o new.yaml
expect_refusal 3 'no site profile' "$DDLRUN" submit --site my-clustr 1x1 --dry-run -- /bin/true
has 'the nearest name' "$work/err" 'site: my-cluster'

# What another user can change is not read.
chmod o+w "$work/site/sites/my-cluster.yaml"
expect_refusal 3 "my-cluster.yaml is not read: every user can write to" "$DDLRUN" submit 1x1 --dry-run -- /bin/true
chmod o-w "$work/site/sites/my-cluster.yaml"
chmod o+w "$work/site"
expect_refusal 3 'config.yaml is not read: every user can write to' "$DDLRUN" config show
chmod o-w "$work/site"
chmod o+w "$work/site/templates/plain.sh"
rm plain
expect_refusal 3 'plain.sh is not read' "$DDLRUN" submit 1x1 --template plain --dry-run -- /bin/true
chmod o-w "$work/site/templates/plain.sh"
if [ "$(id -u)" -eq 0 ]; then
  chown 65534 "$work/site/config.yaml"
  expect_refusal 3 'config.yaml is not read: it belongs to user 65534' "$DDLRUN" config show
  chown 0 "$work/site/config.yaml"
fi
DDLRUN_SITE_DIR=site expect_refusal 3 "'site' is not an absolute path" "$DDLRUN" config show
expect 0 '' "$DDLRUN" config show

# A prefix has its own, without a variable.
mkdir -p "$work/prefix/bin" "$work/prefix/etc"
cp "$DDLRUN" "$work/prefix/bin/"
cp -r "$work/site" "$work/prefix/etc/ddlrun"
DDLRUN_SITE_DIR='' expect 0 "site: My cluster, from $work/prefix/etc/ddlrun/sites/my-cluster.yaml" "$work/prefix/bin/ddlrun" config show
finish
