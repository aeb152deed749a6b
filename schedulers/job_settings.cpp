// SPDX-License-Identifier: MIT
#include "schedulers/job_settings.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ddlrun::schedulers {

namespace {

using Kind = YamlValue::Kind;

constexpr auto keys = std::to_array<JobKey>({
    {"name", "NAME", "the job's name in the scheduler's lists"},
    {"dims", "XxYxZ", "ranks per node x nodes per rack x racks (x aisles): 4x2x1"},
    {"nodes", "N", "instead of dims: N nodes with one rank per GPU of `gpus`"},
    {"order", "ddl|packed", "how ranks are numbered (ddl)"},
    {"hosts", "LIST", "these hosts, not any: h[1-4,7]"},
    {"cores_per_node", "N", "cores of a node"},
    {"hardware_threads_per_core", "N", "hardware threads of a core (1)"},
    {"reserved_cores", "N", "cores of a node kept for communication and input (0)"},
    {"threads", "N", "threads of a rank ((cores - reserved) / ranks per node)"},
    {"gpus", "N|per-rank", "GPUs asked for on each node"},
    {"gpu_type", "TYPE", "their type, as the site names it"},
    {"memory", "SIZE", "memory asked for on each node: 64GiB"},
    {"exclusive", "yes|no", "whole nodes (yes)"},
    {"constraint", "TEXT", "a node feature (Slurm) or a host's resource (PBS)"},
    {"walltime", "TIME", "the time limit: 4h, 1h30m, 04:00:00, 1-12:00:00"},
    {"queue", "NAME", "queue or partition"},
    {"account", "NAME", "who pays"},
    {"project", "NAME", "PBS -P, Slurm --wckey"},
    {"application", "NAME", "the application code that some sites want"},
    {"qos", "NAME", "Slurm's quality of service"},
    {"reservation", "NAME", "an advance reservation"},
    {"modules", "LIST", "environment modules to load"},
    {"purge_modules", "yes|no", "`module purge` before them (yes)"},
    {"conda", "NAME|FOLDER", "the conda environment"},
    {"venv", "FOLDER", "the Python virtual environment"},
    {"container", "IMAGE", "run in this image (apptainer); in a file also runtime: and binds:"},
    {"environment", "LIST", "variables that reach the ranks: NAME or NAME=value"},
    {"setup", "", "shell lines of your own, before the program"},
    {"data", "FOLDER", "the training data; in a file also from: and to: (copied to each node)"},
    {"program", "", "what each rank runs, with its arguments; or behind --"},
    {"working_folder", "FOLDER", "where the program starts"},
    {"launcher", "ddlrun|srun|none", "what starts the ranks (ddlrun)"},
    {"doctor", "off|warn|stop", "examine the nodes first (stop: a fault ends the job)"},
    {"affinity", "auto|off|libgomp|libomp", "thread settings for this OpenMP runtime (auto)"},
    {"ddlrun", "PATH", "the ddlrun inside the job (ddlrun)"},
    {"signal", "NAME@SECONDS", "tell the program before the time limit: USR1@120"},
    {"requeue", "yes|no|N", "start again when told so, at most N times (3)"},
    {"array", "RANGE", "many jobs that differ in an index: 0-7, 0-7%2, 0-6:2"},
    {"dependencies", "LIST", "after other jobs: afterok:123"},
    {"mail", "ADDRESS", "whom to write to"},
    {"mail_events", "LIST", "of begin, end, fail (end,fail)"},
    {"output", "FILE", "the job's output"},
    {"directives", "", "lines for the scheduler, verbatim, without #SBATCH or #PBS"},
    {"scheduler", "slurm|pbs|torque|local", "whose script is written"},
    {"site", "NAME|FILE", "the centre's profile"},
});

// Words that others use for a key: offered, not taken, because their values differ.
struct ForeignWord {
  std::string_view word, key;
};
constexpr auto foreign_words = std::to_array<ForeignWord>({
    {"job_name", "name"},
    {"job-name", "name"},
    {"time", "walltime"},
    {"time_limit", "walltime"},
    {"shape", "dims"},
    {"nodelist", "hosts"},
    {"nodefile", "hosts"},
    {"cpus", "cores_per_node"},
    {"ncpus", "cores_per_node"},
    {"cores", "cores_per_node"},
    {"ppn", "dims"},
    {"ntasks", "dims"},
    {"ntasks_per_node", "dims"},
    {"mpiprocs", "dims"},
    {"ompthreads", "threads"},
    {"omp_num_threads", "threads"},
    {"cpus_per_task", "threads"},
    {"gres", "gpus"},
    {"ngpus", "gpus"},
    {"mem", "memory"},
    {"command", "program"},
    {"run", "program"},
    {"args", "program"},
    {"script", "program"},
    {"workdir", "working_folder"},
    {"chdir", "working_folder"},
    {"cwd", "working_folder"},
    {"env", "environment"},
    {"image", "container"},
    {"depend", "dependencies"},
    {"dependency", "dependencies"},
    {"email", "mail"},
    {"mail_user", "mail"},
    {"mail_type", "mail_events"},
    {"stdout", "output"},
    {"extra", "directives"},
    {"feature", "constraint"},
    {"profile", "site"},
    {"batch_system", "scheduler"},
});

// Where a top-level key stands: the tree remembers only its value, which may begin on a later line.
std::string place_of_key(std::string_view text, const std::string& file, std::string_view key,
                         const YamlValue& value) {
  const auto lines = split(text, '\n');
  const std::size_t last =
      std::min<std::size_t>(static_cast<std::size_t>(std::max(value.line, 0)), lines.size());
  for (std::size_t number = last; number > 0; --number) {
    const std::string_view line = lines[number - 1];
    const std::size_t start = line.find_first_not_of(" {");
    if (start == std::string_view::npos) continue;
    std::string_view rest = line.substr(start);
    if (rest.starts_with('"') || rest.starts_with('\'')) rest.remove_prefix(1);
    if (rest.starts_with(key)) return fmt::format("{}:{}:{}", file, number, start + 1);
  }
  return place_in(file, value);
}

[[noreturn]] void refuse_file(std::string what, std::string where) {
  throw Error(ErrorKind::request, {std::move(what), std::move(where),
                                   "KEY: VALUE on each line; `ddlrun submit --help` lists the keys"});
}

// A second document would be dropped in silence. In column 1 "---" is always a document's start.
void refuse_second_document(std::string_view text, const std::string& file) {
  const auto lines = split(text, '\n');
  bool content = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool marker =
        lines[i].starts_with("---") && (lines[i].size() == 3 || trim(lines[i].substr(3, 1)).empty());
    if (marker && content) {
      refuse_file("a second document begins here, a job is one", fmt::format("{}:{}:1", file, i + 1));
    }
    const std::string_view line = trim(lines[i]);
    content = content || marker || (!line.empty() && !line.starts_with('#') && !line.starts_with('%'));
  }
}

YamlValue parse_job_yaml(std::string_view text, const std::string& file) {
  refuse_second_document(text, file);
  try {
    return parse_yaml(text, file);
  } catch (const Error& error) {
    refuse_file(error.message().what, error.message().where);
  }
}

// The parser places a missing value at the next line.
bool is_blank(const YamlValue& value) { return value.kind == Kind::scalar && value.text.empty(); }

YamlValue scalar(std::string text) {
  YamlValue value;
  value.kind = Kind::scalar;
  value.text = std::move(text);
  return value;
}

}  // namespace

std::span<const JobKey> job_keys() { return keys; }

std::string_view canonical_key(std::string_view word) {
  if (word == "partition") return "queue";
  for (const JobKey& key : keys) {
    if (key.name == word) return key.name;
  }
  return {};
}

Message unknown_key(std::string_view word, std::string where) {
  Message message{fmt::format("unknown key '{}'", printable(word, 60)), std::move(where),
                  "`ddlrun submit --help` lists the keys"};
  std::string plain(word);
  for (char& c : plain) c = c == '-' || c == ' ' ? '_' : c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  std::vector<std::string> names;
  for (const JobKey& key : keys) names.emplace_back(key.name);
  std::string meant(canonical_key(plain));
  for (const ForeignWord& foreign : foreign_words) {
    if (meant.empty() && foreign.word == plain) meant = foreign.key;
  }
  if (meant.empty()) meant = closest_match(plain, names).value_or("");
  if (!meant.empty()) message.hint = fmt::format("did you mean {}?", meant);
  return message;
}

JobSettings read_job_settings(std::string_view text, const std::string& file_name,
                              std::vector<Message>& mistakes) {
  const YamlValue root = parse_job_yaml(text, file_name);
  if (root.kind != Kind::mapping) {
    const bool empty = root.kind == Kind::nothing || (root.kind == Kind::scalar && root.text.empty());
    refuse_file(empty ? "the file says nothing" : "no mapping (KEY: VALUE)",
                root.line > 0 ? place_in(file_name, root) : file_name);
  }
  JobSettings settings;
  for (const auto& [word, value] : root.fields) {
    const std::string key(canonical_key(word));
    if (key.empty()) {
      mistakes.push_back(unknown_key(word, place_of_key(text, file_name, word, value)));
      continue;
    }
    const auto [at, is_new] =
        settings.emplace(key, Setting{value, is_blank(value) ? place_of_key(text, file_name, word, value)
                                                             : place_in(file_name, value)});
    if (is_new) continue;
    mistakes.push_back({fmt::format("'{}' means '{}', which stands at {} too", word,
                                    key == word ? "partition" : key, at->second.origin),
                        place_of_key(text, file_name, word, value), "keep one of the two lines"});
  }
  return settings;
}

JobSettings lay_over(JobSettings over, const JobSettings& under) {
  over.insert(under.begin(), under.end());
  return over;
}

Setting flag_setting(std::string_view key, const std::string& text, std::string origin) {
  const bool names = key == "modules" || key == "dependencies" || key == "environment";
  // A comma may be part of a variable's value.
  const bool one = key == "environment" && text.find('=') != std::string::npos;
  if (!names || one || text.find(',') == std::string::npos) return {scalar(text), std::move(origin)};
  std::vector<std::string> words;
  for (const std::string_view word : split(text, ',')) words.emplace_back(word);
  return list_setting(words, std::move(origin));
}

Setting list_setting(const std::vector<std::string>& words, std::string origin) {
  YamlValue list;
  list.kind = Kind::sequence;
  for (const std::string& word : words) list.items.push_back(scalar(word));
  return {std::move(list), std::move(origin)};
}

std::string place_of(const Setting& setting, const YamlValue& part) {
  const std::string own = fmt::format(":{}:{}", setting.value.line, setting.value.column);
  if (setting.value.line == 0 || part.line == 0 || !setting.origin.ends_with(own)) return setting.origin;
  return place_in(setting.origin.substr(0, setting.origin.size() - own.size()), part);
}

std::vector<Message> sorted_by_place(std::vector<Message> messages) {
  using Place = std::pair<std::uint64_t, std::uint64_t>;
  const auto place = [](const Message& message) {
    const auto parts = split(message.where, ':');
    constexpr std::uint64_t none = UINT64_MAX;
    if (parts.size() < 3) return Place{none, none};
    const auto line = parse_unsigned(parts[parts.size() - 2]), column = parse_unsigned(parts.back());
    return line && column ? Place{*line, *column} : Place{none, none};
  };
  std::stable_sort(messages.begin(), messages.end(),
                   [&](const Message& a, const Message& b) { return place(a) < place(b); });
  return messages;
}

}  // namespace ddlrun::schedulers
