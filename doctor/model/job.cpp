// SPDX-License-Identifier: MIT
#include "doctor/model/job.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "topology/rankfile/rankfile_reader.hpp"

#include <algorithm>
#include <array>

namespace ddlrun::doctor {

namespace {

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool is_shell_or_script_runner(std::string_view name) {
  constexpr std::array<std::string_view, 8> names{"bash", "sh",      "dash",  "zsh",
                                                  "perl", "Rscript", "julia", "torchrun"};
  return name.starts_with("python") || std::find(names.begin(), names.end(), name) != names.end();
}

std::optional<topology::Dims> dims_of(std::string_view text) {
  if (!contains(text, "x")) return std::nullopt;  // "-mode b" is none
  try {
    return topology::parse_dims(text);
  } catch (const Error&) {
    return std::nullopt;
  }
}

struct ShapePlace {
  std::size_t word = 0, start = 0;  // where its text begins in that word
  topology::Dims dims;
};

std::optional<ShapePlace> find_shape(const std::vector<std::string>& program) {
  for (std::size_t i = 1; i < program.size(); ++i) {
    const std::string_view word = program[i];
    for (const std::string_view option : {"-mode", "--mode", "-ddl_mode", "--ddl_mode"}) {
      const bool joined =
          word.size() > option.size() && word.starts_with(option) && word[option.size()] == '=';
      if (!joined && (word != option || i + 1 == program.size())) continue;
      const ShapePlace place{joined ? i : i + 1, joined ? option.size() + 1 : 0, {}};
      const auto dims = dims_of(std::string_view(program[place.word]).substr(place.start));
      if (dims) return ShapePlace{place.word, place.start, *dims};
    }
  }
  return std::nullopt;
}

}  // namespace

bool is_mpi_setting(std::string_view name) {
  // Set for each rank or daemon by the launcher itself.
  constexpr std::array<std::string_view, 7> launchers_own{"OMPI_MCA_ess",
                                                          "OMPI_MCA_orte_",
                                                          "OMPI_MCA_pmix",
                                                          "OMPI_MCA_initial_wdir",
                                                          "OMPI_MCA_shmem_RUNTIME",
                                                          "OMPI_MCA_mpi_oversubscribe",
                                                          "PMIX_MCA_mca_base_component_show"};
  if (name == "OMPI_MCA_orte_keep_fqdn_hostnames") return true;  // the user's: how names are compared
  for (const std::string_view own : launchers_own) {
    if (name.starts_with(own)) return false;
  }
  constexpr std::array<std::string_view, 10> prefixes{"OMPI_MCA_", "PMIX_MCA_", "PRTE_MCA_", "NCCL_", "UCX_",
                                                      "I_MPI_",    "MPICH_",    "HCOLL_",    "GLOO_", "FI_"};
  return name == "LD_PRELOAD" || std::any_of(prefixes.begin(), prefixes.end(), [&](std::string_view prefix) {
           return name.starts_with(prefix);
         });
}

bool is_container_runtime(std::string_view program) {
  constexpr std::array<std::string_view, 5> names{"docker", "podman", "apptainer", "singularity", "enroot"};
  return std::find(names.begin(), names.end(), base_name(program)) != names.end();
}

std::optional<topology::Dims> find_program_dims(const std::vector<std::string>& program) {
  const auto place = find_shape(program);
  return place ? std::optional(place->dims) : std::nullopt;
}

std::vector<std::string> with_program_dims(std::vector<std::string> program, const topology::Dims& dims) {
  if (const auto place = find_shape(program)) {
    std::string& word = program[place->word];
    const auto colon = word.find(':', place->start);  // "b:" stays
    word.replace(colon == std::string::npos ? place->start : colon + 1, std::string::npos,
                 topology::render_dims(dims));
  }
  return program;
}

std::vector<std::string> find_program_files(const std::vector<std::string>& program) {
  if (program.empty()) return {};
  const bool container = is_container_runtime(program[0]);
  if (!container && !is_shell_or_script_runner(base_name(program[0]))) return {};
  for (std::size_t i = 1; i < program.size(); ++i) {
    const std::string& word = program[i];
    if (container) {
      if (word.ends_with(".sif") || word.ends_with(".sqsh")) return {word};
      continue;
    }
    if (word == "-c" || word == "-m") return {};  // code or a module, not a file
    if (!word.starts_with('-')) return {word};
  }
  return {};
}

void fill_program_files(const Job& job, ProbeRequest& request) {
  if (job.program.empty()) return;
  request.executable = job.program[0];
  request.program_files = find_program_files(job.program);
  for (const char* name : {"LD_LIBRARY_PATH", "PATH"}) {
    const auto set = job.environment.find(name);
    const bool exported = std::find(job.exports.begin(), job.exports.end(), name) != job.exports.end();
    if (set != job.environment.end() && exported) request.environment[name] = set->second;
  }
}

bool starts_ranks(const Job& job) {
  return !job.program.empty() || !job.rankfile_text.empty() || job.dims || job.ranks > 0;
}

std::string order_option(const Job& job) {
  const auto order = rankfile::find_rank_order(rankfile::parse_rank_lines(job.rankfile_text));
  return order == topology::RankOrder::packed ? " --order packed" : "";
}

}  // namespace ddlrun::doctor
