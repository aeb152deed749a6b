// SPDX-License-Identifier: MIT
#include "schedulers/job/job_settings.hpp"

#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ddlrun::schedulers {

namespace {

using Kind = YamlValue::Kind;

constexpr auto keys = std::to_array<JobKey>({
    {"name", "Ranks and hosts", "NAME", "name of the job in the scheduler (that of the program)"},
    {"dims", "Ranks and hosts", "XxYxZ",
     "ranks per host x hosts per rack x racks [x aisles], for example 4x2x1"},
    {"nodes", "Ranks and hosts", "N", "instead of dims: N hosts with one rank for each of their `gpus`"},
    {"order", "Ranks and hosts", "ddl|packed", "numbering of ranks (ddl)", "ddl"},
    {"hosts", "Ranks and hosts", "LIST", "run on these hosts only: h[1-4,7]"},
    {"cores_per_node", "Resources", "N", "cores of each node"},
    {"hardware_threads_per_core", "Resources", "N", "hardware threads of each core (1)", "1"},
    {"reserved_cores", "Resources", "N",
     "cores of each node without a thread (0); ranks are bound to them, too", "0"},
    {"threads", "Resources", "N", "threads of each rank ((cores - reserved) / ranks per host)"},
    {"gpus", "Resources", "N|per-rank", "GPUs to request on each node"},
    {"gpu_type", "Resources", "TYPE", "type of the GPUs, as the site names it"},
    {"memory", "Resources", "SIZE", "memory to request on each node: 64GiB"},
    {"exclusive", "Resources", "yes|no", "request whole nodes (yes)", "yes"},
    {"constraint", "Resources", "FEATURE", "a node feature (Slurm) or a host resource (PBS)"},
    {"walltime", "Queue and limits", "TIME", "time limit: 4h, 1h30m, 04:00:00, 1-12:00:00"},
    {"queue", "Queue and limits", "NAME", "queue, or partition: gpu; Slurm: gpu,gpu_long"},
    {"account", "Queue and limits", "NAME", "account to charge"},
    {"project", "Queue and limits", "NAME", "project: PBS -P, Slurm --wckey"},
    {"application", "Queue and limits", "NAME", "application code that some sites require"},
    {"qos", "Queue and limits", "NAME", "Slurm's quality of service"},
    {"reservation", "Queue and limits", "NAME", "name of an advance reservation"},
    {"modules", "Software and data", "LIST", "environment modules to load"},
    {"purge_modules", "Software and data", "yes|no", "run `module purge` first (yes)", "yes"},
    {"conda", "Software and data", "NAME|DIR", "conda environment"},
    {"venv", "Software and data", "DIR", "Python virtual environment"},
    {"container", "Software and data", "IMAGE",
     "run in this image (apptainer); in a file also runtime: and binds:"},
    {"environment", "Software and data", "LIST",
     "variables for the ranks, joined by commas: NAME, NAME=value, NCCL_*; repeatable"},
    {"setup", "Software and data", "", "shell lines to run before the program"},
    {"data", "Software and data", "DIR", "training data; in a file also from: and to: (copied to each node)"},
    {"program", "Program", "", "program of each rank, with its arguments; or after --"},
    {"workdir", "Program", "DIR", "directory in which the program starts"},
    {"runner", "Program", "ddlrun|srun|none",
     "program that starts the ranks; none: one process on the first host (ddlrun)", "ddlrun"},
    {"srun_mpi", "Program", "NAME",
     "with runner srun: value of --mpi= (pmix); \"\" in a file: the site's default", "pmix"},
    {"doctor", "Program", "off|warn|stop", "check the nodes first; stop: a fault ends the job (stop)",
     "stop"},
    {"affinity", "Program", "auto|off|libgomp|libomp", "pin threads of this OpenMP runtime (auto)", "auto"},
    {"framework", "Program", "NAME",
     "whose variables the ranks get: pytorch, horovod, ... (auto: by program)", "auto"},
    {"verify", "Program", "yes|no|strict",
     "compare each rank's cores with the plan; strict: and exit 1 if one differs"},
    {"oversubscribe", "Program", "yes|no", "let more ranks than cores share the cores of a host (no)", "no"},
    {"launcher", "Program", "NAME",
     "openmpi, mpich, intelmpi, srun, or ssh (auto: the kind of mpirun in the job)", "auto"},
    {"interface", "Program", "NET", "network between the hosts, as for `ddlrun launch --interface`"},
    {"mem_bind", "Program", "local|preferred|bind",
     "memory of each rank, as for `ddlrun launch --mem-bind` (local)", "local"},
    {"visible_gpus", "Program", "all|one|host",
     "GPUs visible to a rank; without it: what the framework expects"},
    {"rank_output", "Program", "screen|prefix|files",
     "output of the ranks, as for `ddlrun launch --rank-output` (screen)", "screen"},
    {"doctor_skip", "Program", "IDS", "checks that doctor skips: LIM-01,GPU"},
    {"doctor_warn", "Program", "IDS", "checks of doctor whose failures are warnings"},
    {"ddlrun", "Program", "PATH", "ddlrun to run inside the job (ddlrun)"},
    {"stall_timeout", "Job control", "N",
     "report a rank that makes no progress for N seconds (60); 0 disables the report", "60"},
    {"on_stall", "Job control", "warn|end", "end: end a stalled job with exit status 124 (warn)", "warn"},
    {"max_restarts", "Job control", "N", "restart failed ranks inside the job, at most N times (0)", "0"},
    {"signal", "Job control", "NAME@SECONDS",
     "signal to the program before the time limit: USR1@120; Slurm: up to 60 s earlier"},
    {"requeue", "Job control", "yes|no|N",
     "start the job again after status 75, at most N times (3); PBS: as a new job", "no"},
    {"array", "Job control", "RANGE", "job array: 0-7, 0-7%2, 0-6:2; Slurm: 0,2,5"},
    {"dependencies", "Job control", "LIST", "start after other jobs: afterok:123, afterok:last"},
    {"mail", "Job control", "ADDRESS", "mail address for notifications"},
    {"mail_events", "Job control", "LIST", "events to mail: begin, end, fail (end,fail)", "end,fail"},
    {"output", "Job control", "FILE", "output file of the job"},
    {"template", "Script", "FILE",
     "a job script of your own, with placeholders: #SBATCH --time={{walltime|sbatch}}"},
    {"directives", "Script", "", "lines for the scheduler, verbatim, without #SBATCH or #PBS"},
    {"scheduler", "Script", "slurm|pbs|torque|local", "scheduler for which the script is written"},
    {"site", "Script", "NAME|FILE", "profile of the centre"},
});

// Names that other tools use for a key. ddlrun suggests the key but does not accept the name: values differ.
struct ForeignWord {
  std::string_view word, key;
};
constexpr auto foreign_words = std::to_array<ForeignWord>({
    {"job_name", "name"},
    {"job-name", "name"},
    {"time", "walltime"},
    {"wallclock", "walltime"},
    {"wall_time", "walltime"},
    {"timelimit", "walltime"},
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
    {"gpus_per_node", "gpus"},
    {"gpus_per_task", "gpus"},
    {"ngpus", "gpus"},
    {"mem", "memory"},
    {"command", "program"},
    {"run", "program"},
    {"args", "program"},
    {"script", "program"},
    {"working_directory", "workdir"},
    {"chdir", "workdir"},
    {"cwd", "workdir"},
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

constexpr const char* job_file_hint = "KEY: VALUE on each line; `ddlrun submit --help` lists the keys";

[[noreturn]] void refuse_file(std::string what, std::string where) {
  throw Error(ErrorKind::request, {std::move(what), std::move(where), job_file_hint});
}

// A second document would be dropped silently. In column 1 "---" is always a document's start.
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
  return parse_yaml(text, file, job_file_hint);
}

std::string plain_word(std::string_view word) {
  std::string plain(word);
  for (char& c : plain) c = c == '-' || c == ' ' ? '_' : c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return plain;
}

// What was probably meant; "" for no idea.
std::string guess_key(std::string_view word) {
  const std::string_view foreign = key_of_foreign_word(word);
  if (!foreign.empty()) return std::string(foreign);
  std::vector<std::string> names;
  for (const JobKey& key : keys) names.emplace_back(key.name);
  return closest_match(plain_word(word), names).value_or("");
}

bool is_job_variable(std::string_view name) {
  if (name.size() > 1 && name.ends_with('*')) name.remove_suffix(1);
  return !name.empty() && (name[0] < '0' || name[0] > '9') &&
         name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789") ==
             std::string_view::npos;
}

// "A,B=1,C=2". Behind a value a bare word may be the value's own rest ("A=x,y"), so it is not taken for a
// name.
bool are_variables(std::string_view text) {
  if (text.starts_with("KMP_AFFINITY=")) return false;  // "verbose,granularity=fine" is one value
  bool value_before = false;
  for (const std::string_view piece : split(text, ',')) {
    const bool has_value = piece.find('=') != std::string_view::npos;
    if (!is_job_variable(piece.substr(0, piece.find('='))) || (value_before && !has_value)) return false;
    value_before = has_value;
  }
  return true;
}

// The parser places a missing value at the next line.
bool is_blank(const YamlValue& value) { return value.kind == Kind::scalar && value.text.empty(); }

YamlValue scalar(std::string text) {
  YamlValue value;
  value.kind = Kind::scalar;
  value.text = std::move(text);
  return value;
}

// "[ls, ~]": the parser gives an empty text for YAML's null, as for '' in quotes; in a list they differ.
void mark_nulls(const std::vector<std::string_view>& lines, YamlValue& value) {
  for (auto& [word, field] : value.fields) mark_nulls(lines, field);
  for (YamlValue& item : value.items) {
    mark_nulls(lines, item);
    if (item.kind != Kind::scalar || !item.text.empty() || item.line < 1 || item.column < 1) continue;
    const auto row = static_cast<std::size_t>(item.line) - 1, at = static_cast<std::size_t>(item.column) - 1;
    const char sign = row < lines.size() && at < lines[row].size() ? lines[row][at] : '\0';
    if (sign == '~' || sign == 'n' || sign == 'N') item.kind = Kind::nothing;  // ~, null, Null, NULL
  }
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
  const std::string meant = guess_key(word);
  if (!meant.empty()) message.hint = fmt::format("did you mean {}?", meant);
  return message;
}

std::string_view key_of_foreign_word(std::string_view word) {
  const std::string plain = plain_word(word);
  const std::string_view own = canonical_key(plain);
  if (!own.empty()) return own;
  for (const ForeignWord& foreign : foreign_words) {
    if (foreign.word == plain) return foreign.key;
  }
  return {};
}

JobSettings read_job_settings(std::string_view text, const std::string& file_name,
                              std::vector<Message>& errors) {
  YamlValue root = parse_job_yaml(text, file_name);
  mark_nulls(split(text, '\n'), root);
  if (root.kind != Kind::mapping) {
    const bool empty = root.kind == Kind::nothing || (root.kind == Kind::scalar && root.text.empty());
    refuse_file(empty ? "the file is empty" : "no mapping (KEY: VALUE)",
                root.line > 0 ? place_in(file_name, root) : file_name);
  }
  JobSettings settings, guessed;
  for (const auto& [word, value] : root.fields) {
    const std::string key(canonical_key(word));
    if (key.empty()) {
      errors.push_back(unknown_key(word, place_of_key(text, file_name, word, value)));
      // "programm" is one error; "there is no program" would be a second one for it.
      const std::string meant = guess_key(word);
      if (meant == "program") guessed.emplace(meant, Setting{value, place_in(file_name, value)});
      continue;
    }
    const auto [at, is_new] =
        settings.emplace(key, Setting{value, is_blank(value) ? place_of_key(text, file_name, word, value)
                                                             : place_in(file_name, value)});
    if (is_new) continue;
    errors.push_back({fmt::format("'{}' means '{}', which is also at {}", word,
                                  key == word ? "partition" : key, at->second.origin),
                      place_of_key(text, file_name, word, value), "keep one of the two lines"});
  }
  return merge_settings(std::move(settings), guessed);
}

std::string text_of(const JobSettings& settings, const std::string& key) {
  const auto found = settings.find(key);
  return found == settings.end() ? std::string() : found->second.value.text;
}

JobSettings merge_settings(JobSettings over, const JobSettings& under) {
  over.insert(under.begin(), under.end());
  return over;
}

Setting flag_setting(std::string_view key, const std::string& text, std::string origin) {
  const bool names = key == "modules" || key == "dependencies" || key == "environment";
  const bool one = key == "environment" && !are_variables(text);
  if (!names || one || text.find(',') == std::string::npos) return {scalar(text), std::move(origin)};
  std::vector<std::string> words;
  for (const std::string_view word : split(text, ',')) words.emplace_back(word);
  return list_setting(words, std::move(origin));
}

Setting repeated_flag_setting(std::string_view key, const std::vector<std::string>& texts,
                              const std::string& origin) {
  if (texts.size() == 1) return flag_setting(key, texts[0], origin);
  Setting all = list_setting({}, origin);
  for (const std::string& text : texts) {
    YamlValue value = flag_setting(key, text, origin).value;
    auto& items = all.value.items;
    if (value.kind == Kind::sequence)
      items.insert(items.end(), value.items.begin(), value.items.end());
    else
      items.push_back(std::move(value));
  }
  return all;
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
  struct Placed {
    std::array<std::uint64_t, 3> place;  // the file by its first message, line, column
    Message message;
  };
  std::vector<std::string> files;
  std::vector<Placed> all;
  for (Message& message : messages) {
    constexpr std::uint64_t none = UINT64_MAX;
    std::array<std::uint64_t, 3> place{none, none, none};
    const auto parts = split(message.where, ':');
    const auto line = parts.size() < 3 ? std::nullopt : parse_unsigned(parts[parts.size() - 2]);
    const auto column = line ? parse_unsigned(parts.back()) : std::nullopt;
    if (column) {
      const std::size_t tail = parts[parts.size() - 2].size() + parts.back().size() + 2;
      const std::string file = message.where.substr(0, message.where.size() - tail);
      const auto known = std::find(files.begin(), files.end(), file);
      place = {static_cast<std::uint64_t>(known - files.begin()), *line, *column};
      if (known == files.end()) files.push_back(file);
    }
    all.push_back({place, std::move(message)});
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Placed& a, const Placed& b) { return a.place < b.place; });
  messages.clear();
  for (Placed& one : all) messages.push_back(std::move(one.message));
  return messages;
}

}  // namespace ddlrun::schedulers
