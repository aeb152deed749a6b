// SPDX-License-Identifier: MIT
#include "launch/frameworks/mpirun_options.hpp"

#include <string>

namespace ddlrun::frameworks {

namespace {

// From --help of Open MPI 4.1.4 and 5.0.11, MPICH 4.0.2 and 5.0.2 and Intel MPI 2021.18. Intel's help leaves
// out some options that its mpirun reads; tries with it gave their numbers.
constexpr std::string_view two_values = " mca prtemca pmixmca omca gmca gpmixmca genv env ";

constexpr std::string_view one_value =
    // Open MPI's, some of which are hydra's too
    " n np c N H host x am app bind-to cartofile cf cpu-list cpu-set cpus-per-proc cpus-per-rank debugger "
    "default-hostfile display hnp hostfile launch-agent machinefile map-by max-restarts max-vm-size "
    "n-per-node "
    "npernode npersocket ompi-server output output-filename path personality ppr prefix preload-files "
    "rank-by "
    "report-events report-pid report-uri rf rankfile runtime-options forward-signals spawn-timeout stdin "
    "stream-buffering timeout tune wd wdir with-ft xml-file xterm dvm-uri pset "
    // hydra's
    "f hosts hostlist machine machines machinelist ppn configfile envlist genvlist launcher launcher-exec "
    "bootstrap bootstrap-exec rmk topolib binding membind rankmap demux iface prepend-pattern "
    "outfile-pattern "
    "errfile-pattern outfile errfile output-from order-nodes nameserver localhost usize gpus-per-proc "
    "memory-alloc-kinds "
    // Intel MPI's
    "perhost grr envexcl genvexcl gwdir bootstrap-exec-args hosts-group use-app-topology tmpdir umask "
    "branch-count tree-width gtool gtoolfile gdb-args cpu-bind ";

constexpr std::string_view no_value =
    // Open MPI's
    " allow-run-as-root bind-to-core bind-to-socket bind-to-none bycore bysocket bynode byslot continuous d "
    "debug debug-devel debug-daemons debug-daemons-file disable-recovery display-allocation "
    "display-devel-allocation display-devel-map display-diffable-map display-map display-topo do-not-launch "
    "do-not-resolve dvm enable-instant-on-support enable-recovery fwd-mpirun-port get-stack-traces "
    "index-argv-by-rank leave-session-attached merge-stderr-to-stdout nolocal nooversubscribe noprefix novm "
    "oversubscribe output-proctable pernode q quiet report-bindings report-child-jobs-separately "
    "report-state-on-timeout preload-binary set-cwd-to-session-dir show-progress tag-output timestamp-output "
    "tv use-hwthread-cpus use-regexp v verbose V version xml h help "
    // hydra's
    "genvnone genvall envnone envall enable-x disable-x info print-all-exitcodes profile prepend-rank l "
    "disable-auto-cleanup enable-auto-cleanup dac disable-hostname-propagation enable-hostname-propagation "
    "pmi-port skip-launch-node hybrid-hosts "
    // Intel MPI's
    "rr aps mps gdb gdba silent-abort print-rank-map prepend-timestamp prot trace trace-imbalance check-mpi "
    "ilp64 ordered-output noconf cleanup "
    // Its networks, before 2019
    "psm PSM psm2 PSM2 ofi OFI tmi TMI dapl DAPL ib IB rdma RDMA mx MX ";

bool is_in(std::string_view list, std::string_view name) {
  return list.find(" " + std::string(name) + " ") != std::string_view::npos;
}

// Intel's "-s all" and "-s 1,2-4"; -s is --preload-binary of Open MPI, without a value.
bool is_rank_list(std::string_view word) {
  return word == "all" || (!word.empty() && word.find_first_not_of("0123456789,-") == std::string_view::npos);
}

}  // namespace

OptionValues count_mpirun_values(std::string_view word, std::string_view name, std::string_view next) {
  if (word.find('=') != std::string_view::npos) return {};
  const bool has_next = !next.empty() && next[0] != '-';
  // hydra takes "-genv NAME=VALUE" for "-genv NAME VALUE".
  if (name == "genv" || name == "env") return {next.find('=') != std::string_view::npos ? 1U : 2U, true};
  if (name == "s") return {is_rank_list(next) ? 1U : 0U, true};
  // The file is optional in Intel MPI before 2019.
  if (name == "tune" && !word.starts_with("--")) return {has_next ? 1U : 0U, !has_next};
  if (is_in(two_values, name)) return {2, true};
  if (is_in(one_value, name)) return {1, true};
  return {0, is_in(no_value, name)};
}

}  // namespace ddlrun::frameworks
