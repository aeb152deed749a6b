#!/bin/bash
# SPDX-License-Identifier: MIT
# libddl as a user gets it: installed into an empty directory, found by CMake and by pkg-config, called from C++ and C,
# alone and under mpirun.
. "$(dirname "$(readlink -f "$0")")/ranks.sh"

prefix=$work/prefix
expect 0 '' cmake --install "$DDLRUN_BUILD_DIR" --component libddl --prefix "$prefix"
cp -r "$DDLRUN_SOURCE_DIR/examples/libddl" "$work/example"
expect 0 '' cmake -G Ninja -S "$work/example" -B "$work/build" -DCMAKE_PREFIX_PATH="$prefix"
expect 0 '' cmake --build "$work/build"
libraries=$(dirname "$(find "$prefix" -name libddl.so)")
export LD_LIBRARY_PATH=$libraries PKG_CONFIG_PATH=$libraries/pkgconfig
expect 0 'rank 0 of 1 (1x1): 1' "$work/build/sum"
expect 0 'rank 0 of 1: 1' "$work/build/sum_c"
for rank in 0 1 2; do
  expect 0 "rank $rank of 3 (3x1): 2" ranks 3 "$work/build/sum"
  expect 0 "rank $rank of 3: 2" ranks 3 "$work/build/sum_c"
done
expect 0 '' env DDL_OPTIONS='-mode r:2x1' mpirun --oversubscribe -n 2 "$work/build/sum"
expect 1 'dims 3x1 are 1 host of 3 ranks, the job has 1 of 2' env DDL_OPTIONS='-mode b:3x1' mpirun --oversubscribe -n 2 "$work/build/sum"

read -ra flags <<< "$(pkg-config --cflags --libs ddl)"
expect 0 '' c++ -std=c++20 "$work/example/sum.cpp" -o "$work/by_hand" "${flags[@]}"
expect 0 'rank 1 of 2 (2x1): 1.5' ranks 2 "$work/by_hand"

# The commands that the documents print for an installed prefix; the programs find libddl without LD_LIBRARY_PATH.
mkdir -p "$prefix/bin" "$prefix/share/ddlrun/examples" && ln -s "$(type -P true)" "$prefix/bin/ddlrun"
cp -r "$DDLRUN_SOURCE_DIR/examples/libddl" "$prefix/share/ddlrun/examples"
sed -n '/^    \$ prefix=/,/^$/ s/^    \$ //p' "$DDLRUN_SOURCE_DIR/docs/libddl.md" > "$work/libddl.md.sh"
sed -n '/^    export PKG_CONFIG_PATH=PREFIX/,/^$/ s/^    //p' "$DDLRUN_SOURCE_DIR/examples/libddl/README.md" |
  sed "s|PREFIX/|$prefix/|; s|=PREFIX |=$prefix |" > "$work/README.md.sh"
for page in libddl.md README.md; do
  [ "$(grep -c 'rpath' "$work/$page.sh")" = 1 ] || fail "$page prints no commands for a prefix"
  built=$work/on_$page
  if [ "$page" = README.md ]; then cp -r "$DDLRUN_SOURCE_DIR/examples/libddl" "$built"; else mkdir "$built"; fi
  expect 0 '' env -C "$built" -u LD_LIBRARY_PATH -u PKG_CONFIG_PATH PATH="$prefix/bin:$PATH" bash -eu "$work/$page.sh"
  [ "$page" = README.md ] || built=$built/libddl
  for program in sum build/sum; do
    expect 0 'rank 0 of 1 (1x1): 1' env -u LD_LIBRARY_PATH "$built/$program"
  done
done
# And those for a program with ddl_mpi.hpp: two lines of a CMakeLists.txt, and mpicxx.
page=$DDLRUN_SOURCE_DIR/docs/libddl.md
mkdir "$work/with_mpi" && cp "$DDLRUN_SOURCE_DIR/tests/mpi/communicators.cpp" "$work/with_mpi/program.cpp"
{
  printf 'cmake_minimum_required(VERSION 3.22)\nproject(program CXX)\nfind_package(ddl REQUIRED)\nadd_executable(program program.cpp)\n'
  sed -n 's/^    \(find_package(MPI .*\|target_link_libraries(program ddl::ddl MPI.*\)/\1/p' "$page"
} > "$work/with_mpi/CMakeLists.txt"
[ "$(grep -c MPI "$work/with_mpi/CMakeLists.txt")" = 2 ] || fail "libddl.md has no lines for CMake with MPI"
expect 0 '' cmake -G Ninja -S "$work/with_mpi" -B "$work/with_mpi/build" -DCMAKE_PREFIX_PATH="$prefix"
expect 0 '' cmake --build "$work/with_mpi/build"
sed -n 's/^    \$ \(mpicxx .*ddl.*\)/\1/p' "$page" > "$work/with_mpi/mpicxx.sh"
expect 0 '' env -C "$work/with_mpi" bash -eu mpicxx.sh
for program in program build/program; do
  expect 0 'all communicators are right' env -u LD_LIBRARY_PATH timeout 60 "${launcher[@]}" -n 2 "$work/with_mpi/$program"
done

# A program that starts MPI itself may make one Context after the other, under each MPI.
for mpi in openmpi mpich; do
  compiler=$(command -v "mpicxx.$mpi") && [ -n "$(find "$prefix" -name "libddl_mpi_$mpi.so")" ] || {
    echo "without the program of $mpi: no mpicxx.$mpi, or libddl was built without it"
    continue
  }
  starter=("mpirun.$mpi")
  [ "$mpi" = mpich ] || starter+=(--oversubscribe)
  expect 0 '' "$compiler" -std=c++20 "$DDLRUN_SOURCE_DIR/tests/mpi/contexts.cpp" -o "$work/contexts" "${flags[@]}"
  expect 0 'sums of ones: 9' "$work/contexts"
  expect 0 'sums of ones: 18' timeout 60 "${starter[@]}" -n 2 "$work/contexts"
  expect 2 'calls MPI_Finalize before its Context has ended' timeout 60 "${starter[@]}" -n 2 "$work/contexts" early
  # Contexts over its own communicators; dims of the whole job do not apply to some of its ranks.
  expect 0 '' "$compiler" -std=c++20 "$DDLRUN_SOURCE_DIR/tests/mpi/communicators.cpp" -o "$work/communicators" "${flags[@]}"
  expect 0 'all communicators are right' "$work/communicators" single
  for count in 1 2 5; do
    expect 0 'all communicators are right' env DDL_OPTIONS="-mode b:${count}x1" timeout 60 "${starter[@]}" -n "$count" "$work/communicators"
  done
  printf '#include <ddl/ddl_mpi.h>\nint main(void) { return ddl_init_mpi(MPI_COMM_NULL, 0, 0) != DDL_ERROR_USAGE; }\n' > "$work/comm.c"
  expect 0 '' "${compiler/mpicxx/mpicc}" -std=c99 -Wall -Wextra -Werror "$work/comm.c" -o "$work/comm" "${flags[@]}"
  expect 0 '' "$work/comm"
done

# Numbers that a call could not write into are refused in words.
printf '#include <ddl/ddl.hpp>\nint main() { const std::vector<float> v(4); return ddl::tensor(v).count == 4; }\n' > "$work/const.cpp"
expect 1 'ddl::tensor() needs numbers that are not const' c++ -std=c++20 -c "$work/const.cpp" -o "$work/const.o" "${flags[@]}"

# A start whose Handle is dropped is a warning of the compiler. A Handle that ends without wait() completes its sum first,
# and prints the error that nobody got.
cat > "$work/dropped.cpp" << 'END'
#include <ddl/ddl.hpp>
int main(int argc, char** argv) {
  ddl::Context context(argc, argv);
  std::vector<float> values(4);
  context.start_all_reduce(values, ddl::Operation::sum);
}
END
expect 1 'unused-result' c++ -std=c++20 -Werror -c "$work/dropped.cpp" -o "$work/dropped.o" "${flags[@]}"
cat > "$work/forgotten.cpp" << 'END'
#include <ddl/ddl.hpp>
#include <cstdio>
int main(int argc, char** argv) {
  ddl::Context context(argc, argv);
  std::vector<float> values(1000, 3);
  { const ddl::Handle sum = context.start_all_reduce(values, ddl::Operation::sum); }
  std::printf("sum %g of %d\n", values[999], context.size());
  std::vector<int> integers(4);
  const ddl::Handle refused = context.start_all_reduce(integers, ddl::Operation::average);
}
END
expect 0 '' c++ -std=c++20 -Wall -Wextra -Werror "$work/forgotten.cpp" -o "$work/forgotten" "${flags[@]}"
expect 0 'sum 6 of 2' ranks 2 "$work/forgotten"
expect 0 'its Handle ended without wait(): int32 cannot be averaged' ranks 2 "$work/forgotten"

# The version of the loaded library is that of the packages.
printf '#include <ddl/ddl.h>\n#include <stdio.h>\nint main(void) { return puts(ddl_version()) < 0; }\n' > "$work/version.c"
expect 0 '' cc "$work/version.c" -o "$work/version" "${flags[@]}"
expect 0 "$(pkg-config --modversion ddl)" "$work/version"

# Neither it nor a plug-in of it needs more at run time than libcrypto and what the compiler links.
while read -r library needed; do
  case $needed in
    libcrypto.so.* | libstdc++.so.* | libgcc_s.so.* | lib[cm].so.6 | libdl.so.* | libpthread.so.* | librt.so.* | ld-linux*) ;;
    *) fail "$library needs $needed at run time" ;;
  esac
done < <(for library in "$libraries/libddl.so" "$prefix"/lib/ddlrun/libddl_*.so; do
  readelf -dW "$library" | sed -n "s/.*(NEEDED).*\[\(.*\)\]/${library##*/} \1/p"
done)

# The library exports what its headers declare, and nothing else.
expect 0 '' c++ -std=c++20 "$DDLRUN_SOURCE_DIR/tests/mpi/public_functions.cpp" -o "$work/functions" "${flags[@]}"
expect 0 'rank 0 of 1: ' "$work/functions"
nm -DC --defined-only "$libraries/libddl.so" | cut -d' ' -f3- | sed 's/@.*//' | sort -u > "$work/exports"
others=$(grep -vE '^(DDL_[0-9.]+|ddl_[a-z_]+|ddl::(Context|Handle|RankMessages|Trials|WorkQueue)::~?[A-Za-z_]+=?[[(].*|ddl::(parse_options|launched_(rank|size))\(.*|(typeinfo|typeinfo name|vtable) for ddl::Error)$' "$work/exports")
[ -z "$others" ] || fail "libddl.so exports more than its interface: $(head -3 <<< "$others")"
for function in $(sed -E '/^ ?\*|^\/\*/d' "$prefix/include/ddl/ddl.h" | grep -oE '\bddl_[a-z_]+\(' | tr -d '('); do
  grep -qx "$function" "$work/exports" || fail "libddl.so does not export $function"
done

# The CUDA program, where nvcc is; without a driver it says so, with the plug-in that was installed.
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
if [ -x "$nvcc" ]; then
  expect 0 '' "$nvcc" -std=c++20 "$work/example/sum.cu" -o "$work/sum_gpu" "${flags[@]}"
  if [ ! -e /dev/nvidiactl ] && [ -n "$(find "$prefix" -name libddl_cuda.so)" ]; then
    expect_refusal 1 'there is no NVIDIA driver on this host' "$work/sum_gpu"
    expect_refusal 1 'there is no NVIDIA driver on this host' ranks 2 "$work/sum_gpu"
  fi
else
  echo 'without the CUDA program: no nvcc'
fi
# Two processes by hand, without MPI, as examples/libddl/README.md has it.
(umask 077 && head -c 32 /dev/urandom | base64 > "$work/token")
export DDL_SIZE=2 DDL_MASTER=127.0.0.1:$((20000 + RANDOM % 8000)) DDL_TOKEN_FILE=$work/token
for program in sum sum_c; do
  DDL_RANK=1 "$work/build/$program" > "$work/other" 2>&1 &
  expect 0 'rank 0 of 2' env DDL_RANK=0 "$work/build/$program"
  wait $!
  grep -q '^rank 1 of 2.*: 1.5$' "$work/other" || fail "$program by hand: $(head -3 "$work/other")"
done
finish
