#!/bin/bash
# SPDX-License-Identifier: MIT
# wheel.sh DDL_TRAIN: libddl installed into an empty directory, and its wheel by pip into a clean virtual environment: five
# lines have the right sum, alone and on two ranks. Then without pip, by PYTHONPATH.
here=$(dirname "$(readlink -f "$0")")
. "$here/../mpi/ranks.sh"
/usr/bin/python3 -c 'import ensurepip, venv' 2> /dev/null || skip "no venv (apt-get install python3-venv)"
/usr/bin/python3 -c 'import setuptools, wheel' 2> /dev/null || skip "no wheel is built (apt-get install python3-setuptools python3-wheel)"
prefix=$work/prefix
expect 0 '' cmake --install "$DDLRUN_BUILD_DIR" --component libddl --prefix "$prefix"
install -D "$DDLRUN" "$prefix/bin/ddlrun"
wheels=("$prefix"/share/ddlrun/python/ddlrun-*-py3-none-any.whl)
[ -e "${wheels[0]}" ] || fail "no wheel is installed"
expect 0 '' /usr/bin/python3 -m venv "$work/venv"
expect 0 '' "$work/venv/bin/pip" install --no-index --disable-pip-version-check "${wheels[0]}"
cat > "$work/five.py" << 'END'
import array, ddl
with ddl.Context() as context:
    numbers = array.array("d", [context.rank, 1])
    context.all_reduce(numbers, "sum")
    print(f"rank {context.rank} of {context.size}: {numbers.tolist()}, version {ddl.__version__}\n", end="")
END
cd "$work" || exit 1
version=$(sed -n 's/^project(ddlrun VERSION \([0-9.]*\).*/\1/p' "$DDLRUN_SOURCE_DIR/CMakeLists.txt")
export LD_LIBRARY_PATH='' PYTHONDONTWRITEBYTECODE=1
unset DDL_LIBRARY PYTHONPATH
expect 0 "ddlrun==$version" "$work/venv/bin/pip" list --disable-pip-version-check --format freeze
five() { # PYTHON WORD...: alone and on two ranks
  expect 0 "rank 0 of 1: [0.0, 1.0], version $version" "${@:2}" "$1" five.py
  expect 0 "rank 0 of 2: [1.0, 2.0], version $version" ranks 2 "${@:2}" "$1" five.py
  has "the other rank" "$work/out" "rank 1 of 2: [1.0, 2.0], version $version"
}
five "$work/venv/bin/python" env PATH="$prefix/bin:$PATH"
five "$work/venv/bin/python" env DDL_LIBRARY="$(find "$prefix" -name 'libddl.so.*.*.*')"
five "$work/venv/bin/python" env LD_LIBRARY_PATH="$(dirname "$(find "$prefix" -name libddl.so)")"
five /usr/bin/python3 env PYTHONPATH="$prefix/share/ddlrun/python"
! ldconfig -p | grep -q 'libddl\.so\.' || { echo "without the refusal: libddl is installed here"; finish; exit; }
[ -e /opt/ddlrun ] || expect 1 'DDL_LIBRARY=/path/to/libddl.so' env PATH=/usr/bin:/bin "$work/venv/bin/python" five.py
finish
