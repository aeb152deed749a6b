// SPDX-License-Identifier: MIT
// The rankfile of the job, evaluated by the linter on the real cores of each host. Names are NAME-01 to
// NAME-06's.
#include "base/text/text.hpp"
#include "doctor/checks/core_facts.hpp"
#include "doctor/checks/software.hpp"
#include "doctor/model/job.hpp"
#include "doctor/parse/interfaces.hpp"
#include "doctor/parse/names.hpp"
#include "topology/rankfile/rankfile_check.hpp"
#include "topology/rankfile/rankfile_fix.hpp"
#include "topology/rankfile/rankfile_names.hpp"
#include "topology/rankfile/rankfile_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <set>

namespace ddlrun::doctor {

namespace {

using rankfile::CheckContext;
using rankfile::RankfileFinding;
using rankfile::Severity;
using topology::Dims;
using topology::MachineTopology;

constexpr std::size_t most_of_a_kind = 200;
constexpr std::array<std::string_view, 4> core_ids{"core-not-there", "package-not-there", "no-packages-here",
                                                   "unequal-packages"};
constexpr std::array<std::string_view, 11> name_ids{
    "not-in-allocation", "entry-over-63-bytes", "bad-host-name", "digit-first-fqdn",
    "digits-only-name",  "keyword-as-name",     "relative-host", "underscore-in-name",
    "user-in-name",      "names-fold",          "user-name"};

template <typename Ids>
bool is_one_of(std::string_view id, const Ids& ids) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

// The machines of a job: hosts of one kind share one.
class Machines {
 public:
  explicit Machines(const CheckInput& input) {
    std::map<std::string, const MachineTopology*> kinds;
    for (const HostReport& host : input.hosts) {
      const auto map = host.facts.text("cores.map");
      if (!map) continue;
      const std::string key =
          std::string(*map) + "\n\n" + std::string(host.facts.text("cores.numa").value_or(""));
      const auto [at, is_new] = kinds.emplace(key, nullptr);
      if (is_new) {
        if (auto machine = machine_of(host.facts)) {
          owned_.push_back(std::make_unique<MachineTopology>(std::move(*machine)));
          at->second = owned_.back().get();
        }
      }
      of_host_.emplace(rankfile::folded_name(host.host), at->second);
    }
    any_ = !of_host_.empty();
    add_other_names(input);
  }
  const MachineTopology* of(std::string_view host) const {
    const auto found = of_host_.find(rankfile::folded_name(host));
    return found == of_host_.end() ? nullptr : found->second;
  }
  bool any() const { return any_; }

 private:
  // Names of the rankfile that lead to another interface of a host that answered.
  void add_other_names(const CheckInput& input) {
    const NameTable names = read_name_table(input.driver_host.facts);
    std::map<std::string, const MachineTopology*> of_address;
    for (const HostReport& host : input.hosts) {
      const MachineTopology* machine = of(host.host);
      const auto networks = machine == nullptr ? std::nullopt : read_networks(host.host, host.facts);
      if (!networks) continue;
      for (const HostInterface& interface : networks->interfaces) {
        if (interface.loopback) continue;
        for (const std::string& address : interface.addresses)
          of_address[address.substr(0, address.find('/'))] = machine;
      }
    }
    for (const auto& [name, row] : names) {
      for (const std::string& address : row.addresses) {
        const auto found = of_address.find(address);
        if (found != of_address.end()) of_host_.emplace(rankfile::folded_name(name), found->second);
      }
    }
  }

  std::vector<std::unique_ptr<MachineTopology>> owned_;
  std::map<std::string, const MachineTopology*, std::less<>> of_host_;
  bool any_ = false;
};

CheckContext context_of(const CheckInput& input, const Machines* machines) {
  CheckContext context;
  const Job& job = input.job;
  // Without -n the ranks are the file's own lines: they do not contradict it.
  const bool is_explicit = job.ranks != rankfile::parse_rank_lines(job.rankfile_text).size();
  if (job.ranks > 0 && is_explicit) context.ranks = job.ranks;
  const auto program_dims = find_program_dims(job.program);
  context.dims = program_dims ? program_dims : job.dims;
  context.mpi_major = open_mpi_major(input);
  context.limit_of_a_kind = most_of_a_kind;
  if (machines != nullptr)
    context.machine_of = [machines](std::string_view host) { return machines->of(host); };
  return context;
}

std::string shape_of(const CheckInput& input) {
  if (input.job.dims) return topology::render_dims(*input.job.dims);
  // A file is made anew for the shape of its header, unless other hosts are examined than it was made for.
  const auto written = rankfile::read_header(input.job.rankfile_text).dims;
  if (written && written->host_count() == input.hosts.size()) return topology::render_dims(*written);
  std::uint32_t most = 1;
  for (const auto& [host, ranks] : input.job.ranks_of_host) most = std::max(most, ranks);
  return fmt::format("{}x{}", most, std::max<std::size_t>(1, input.hosts.size()));
}

Remedy write_anew(const CheckInput& input, std::string note = {}) {
  std::vector<std::string> hosts;
  for (const HostReport& host : input.hosts) hosts.push_back(host.host);
  const std::string file = quote_shell(input.job.rankfile_path);
  const std::string names = input.job.hostfile_path.empty()
                                ? quote_shell(join(hosts, ","))
                                : "--hostfile " + quote_shell(input.job.hostfile_path);
  return {{fmt::format("ddlrun gen-rankfile {} {}{} > {}.new && mv {}.new {}", shape_of(input), names,
                       order_option(input.job), file, file, file)},
          false,
          true,
          std::move(note)};
}

Remedy mend_or_write(const CheckInput& input, const CheckContext& context) {
  const auto fixed = rankfile::fix_rankfile(input.job.rankfile_text, context);
  if (rankfile::needs_attention(fixed.remaining)) return write_anew(input);
  const std::string file = quote_shell(input.job.rankfile_path);
  return {{fmt::format("ddlrun check-rankfile {} --fix > {}.new && mv {}.new {}", file, file, file, file)},
          false,
          true,
          "look at it first: the same without --fix names each line"};
}

std::string first_findings(const std::vector<const RankfileFinding*>& findings) {
  constexpr std::size_t most = 3;
  std::string text;
  for (std::size_t i = 0; i < findings.size() && i < most; ++i) {
    const std::string line = findings[i]->line > 0 ? fmt::format("line {}: ", findings[i]->line) : "";
    text += fmt::format("{}{}{}", i == 0 ? "" : "; ", line, printable(findings[i]->what, 240));
  }
  return findings.size() > most ? fmt::format("{}; and {} more", text, findings.size() - most) : text;
}

// The program's own "-mode b:4x2x1" against --dims, the file's header and its number of ranks.
std::optional<CheckResult> evaluate_program_mode(const CheckInput& input) {
  const Job& job = input.job;
  const auto mode = find_program_dims(job.program);
  if (!mode) return std::nullopt;
  const std::optional<Dims> other = job.dims ? job.dims : rankfile::read_header(job.rankfile_text).dims;
  const bool same_count = mode->world_size() == job.ranks || job.ranks == 0;
  if (same_count && (!other || *other == *mode)) return std::nullopt;
  const std::string wanted = other ? topology::render_dims(*other) : fmt::format("{} ranks", job.ranks);
  Remedy remedy{{}, false, true, "the shape after -mode must be the one that the rankfile was made for"};
  if (other) {
    std::vector<std::string> line{"mpirun", "-n", std::to_string(other->world_size()), "--rankfile",
                                  job.rankfile_path.empty() ? "job.rf" : job.rankfile_path};
    for (std::string& word : with_program_dims(job.program, *other)) line.push_back(std::move(word));
    remedy.commands.push_back(render_shell(line));
  }
  return fail(
      fmt::format("the program has -mode {} ({} ranks), the job is {}{}", topology::render_dims(*mode),
                  mode->world_size(), wanted, other ? fmt::format(" ({} ranks)", other->world_size()) : ""),
      wanted, "the ranks reduce over groups that are not there: it hangs, or trains with too few ranks",
      std::move(remedy));
}

std::vector<Finding> check_form(const CheckInput& input) {
  if (auto mode = evaluate_program_mode(input)) return single_finding("MPI-08", std::move(*mode));
  const Job& job = input.job;
  if (job.rankfile_text.empty() && job.dims && job.ranks > 0 && job.ranks != job.dims->world_size()) {
    const std::string dims = topology::render_dims(*job.dims);
    return single_finding(
        "MPI-08",
        fail(fmt::format("-n requests {} ranks, --dims {} has {}", job.ranks, dims, job.dims->world_size()),
             fmt::format("{} ranks", job.dims->world_size()),
             "ranks without a place in the shape are left out, or reduce over groups "
             "that are not there",
             {{}, false, true, fmt::format("-n {}, or the dims that were meant", job.dims->world_size())}));
  }
  if (job.rankfile_text.empty())
    return single_finding("MPI-08", skip("no rankfile was given (--rankfile FILE)"));
  const CheckContext context = context_of(input, nullptr);
  const auto all = rankfile::check_rankfile(job.rankfile_text, context);
  std::vector<const RankfileFinding*> errors, warnings;
  for (const RankfileFinding& finding : all) {
    if (is_one_of(finding.id, name_ids) || finding.id == "overlap" || is_one_of(finding.id, core_ids))
      continue;
    if (finding.severity == Severity::error) errors.push_back(&finding);
    if (finding.severity == Severity::warning) warnings.push_back(&finding);
  }
  if (errors.empty() && warnings.empty())
    return single_finding("MPI-08",
                          pass(fmt::format("{}: {} ranks, well formed", printable(job.rankfile_path),
                                           rankfile::parse_rank_lines(job.rankfile_text).size())));
  CheckResult result = fail(first_findings(errors.empty() ? warnings : errors),
                            "each rank once, rank 0 first, as many as -n and the dims give",
                            "mpirun refuses the file, or places ranks otherwise than is written",
                            mend_or_write(input, context));
  if (errors.empty()) result.verdict = Verdict::warn;
  return single_finding("MPI-08", std::move(result));
}

// Findings of the linter by the hosts of their lines; equal hosts with equal troubles together.
std::vector<Finding> by_host(
    const CheckInput& input, std::string_view id, const std::vector<const RankfileFinding*>& wrong,
    const std::function<CheckResult(const std::vector<const RankfileFinding*>&)>& evaluate) {
  std::map<int, std::string> host_of_line;
  for (const rankfile::RankLine& line : rankfile::parse_rank_lines(input.job.rankfile_text))
    host_of_line[line.line] = line.host;
  std::vector<std::string> order;
  std::map<std::string, std::vector<const RankfileFinding*>> of_host;
  for (const RankfileFinding* finding : wrong) {
    const auto host = host_of_line.find(finding->line);
    auto& list = of_host[host == host_of_line.end() ? "" : host->second];
    if (list.empty()) order.push_back(host == host_of_line.end() ? "" : host->second);
    list.push_back(finding);
  }
  std::vector<Finding> findings;
  for (const std::string& host : order) {
    std::vector<Finding> one =
        single_finding(id, evaluate(of_host[host]),
                       host.empty() ? std::vector<std::string>{} : std::vector<std::string>{host});
    findings.push_back(std::move(one.front()));
  }
  constexpr std::size_t most_findings = 16;
  if (findings.size() > most_findings) {  // the rest joins the last one
    Finding& last = findings[most_findings - 1];
    last.observed += fmt::format("; the like on {} more hosts", findings.size() - most_findings);
    for (std::size_t i = most_findings; i < findings.size(); ++i)
      last.hosts.insert(last.hosts.end(), findings[i].hosts.begin(), findings[i].hosts.end());
    findings.resize(most_findings);
  }
  return findings;
}

struct Linted {
  std::vector<RankfileFinding> all;
  std::vector<const RankfileFinding*> wanted;
};

Linted lint(const CheckInput& input, const Machines& machines, bool (*wanted)(std::string_view id)) {
  Linted linted{rankfile::check_rankfile(input.job.rankfile_text, context_of(input, &machines)), {}};
  for (const RankfileFinding& finding : linted.all) {
    if (wanted(finding.id) && finding.severity != Severity::note) linted.wanted.push_back(&finding);
  }
  return linted;
}

std::size_t count_unknown(const CheckInput& input, const Machines& machines) {
  std::set<std::string> unknown;
  for (const rankfile::RankLine& line : rankfile::parse_rank_lines(input.job.rankfile_text)) {
    if (machines.of(line.host) == nullptr) unknown.insert(line.host);
  }
  return unknown.size();
}

std::vector<Finding> check_slots(const CheckInput& input) {
  if (input.job.rankfile_text.empty())
    return single_finding("CPU-02", skip("no rankfile was given (--rankfile FILE)"));
  const Machines machines(input);
  if (!machines.any()) return single_finding("CPU-02", skip("the cores of no host are known"));
  const Linted linted = lint(input, machines, [](std::string_view id) { return is_one_of(id, core_ids); });
  if (linted.wanted.empty()) {
    const std::size_t unknown = count_unknown(input, machines);
    if (unknown > 0)
      return single_finding("CPU-02", skip(fmt::format("every slot of the hosts that answered is there; the "
                                                       "cores of {} name{} of the rankfile are not known",
                                                       unknown, unknown == 1 ? "" : "s")));
    return single_finding("CPU-02", pass("every slot is there"));
  }
  return by_host(input, "CPU-02", linted.wanted, [&](const auto& wrong) {
    const bool only_warnings = std::none_of(
        wrong.begin(), wrong.end(), [](const auto* finding) { return finding->severity == Severity::error; });
    CheckResult result =
        fail(first_findings(wrong), "slots that are there",
             "mpirun says \"Not found in file rmaps_rank_file.c\", or ends without a message",
             write_anew(input,
                        "rankfiles count cores, not hardware threads: ddlrun topo shows them; fewer ranks a "
                        "host, or fewer cores a rank, where they do not fit"));
    if (only_warnings) result.verdict = Verdict::warn;
    return result;
  });
}

std::vector<Finding> check_overlap(const CheckInput& input) {
  if (input.job.rankfile_text.empty())
    return single_finding("CPU-03", skip("no rankfile was given (--rankfile FILE)"));
  const Machines machines(input);
  const Linted linted = lint(input, machines, [](std::string_view id) { return id == "overlap"; });
  if (linted.wanted.empty()) return single_finding("CPU-03", pass("no two ranks share a core"));
  return by_host(input, "CPU-03", linted.wanted, [&](const auto& wrong) {
    return fail(
        first_findings(wrong), "cores of its own for each rank",
        "ranks that share a core take turns: the step takes as long as both together, without any warning",
        write_anew(input));
  });
}

}  // namespace

std::span<const Check> rankfile_checks() {
  static constexpr std::array<Check, 3> table{{
      {"MPI-08", "the rankfile's form and shape", Level::quick, Place::driver_host,
       "A rankfile with a gap, a repeated rank, Windows line ends or another shape than the program's "
       "is refused late, or taken otherwise than written.",
       "ddlrun's rankfile linter on --rankfile with -n, --dims and the program's own -mode. pass: nothing; "
       "warn: its warnings; fail: its errors, or a -mode of another shape.",
       "ddlrun check-rankfile FILE --fix, ddlrun gen-rankfile DIMS.", check_form},
      {"CPU-02", "the rankfile's slots", Level::quick, Place::host,
       "A slot that the host does not have ends mpirun with a message that names neither rank nor host, or "
       "with none.",
       "Every slot against the host's usable cores in /sys, counted as hwloc does. pass: all there; warn: "
       "read otherwise by some release; fail: not there.",
       "ddlrun gen-rankfile DIMS HOSTS writes slots that fit.", check_slots},
      {"CPU-03", "cores shared by ranks", Level::quick, Place::host,
       "Open MPI 4 gives two ranks the same core silently.",
       "The slots of all ranks of a host. pass: disjoint; fail: a core twice.",
       "Narrower ranges; ddlrun gen-rankfile.", check_overlap},
  }};
  return table;
}

}  // namespace ddlrun::doctor
