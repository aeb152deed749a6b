// SPDX-License-Identifier: MIT
// #PBS directives -> the neutral request.
#include "base/text/shell_lexer.hpp"
#include "base/text/text.hpp"
#include "schedulers/scripts/directive_lexer.hpp"
#include "schedulers/scripts/request.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::job_scripts {

namespace {

class PbsReader {
 public:
  ResourceRequest read(const JobScript& script);

 private:
  void read_option(const Directive& option);
  void read_other(const Directive& option);
  void read_resources(const Directive& option);
  bool read_resource(const std::string& key, const std::string& value);
  void read_select(std::string_view value);
  void read_old_nodes(std::string_view value);
  void read_place(std::string_view value);
  void read_attributes(const Directive& option);
  void read_dependencies(std::string_view value);
  void read_array(const Directive& option);
  void read_variables(const Directive& option, const std::string& line);
  void leave(const Directive& option, std::string text, std::string why, bool wrong = false) {
    request_.unsupported.push_back({option.line, std::move(text), std::move(why), wrong});
  }
  // What a job file of PBS can keep.
  void leave_to_pbs(const Directive& option, std::string text, std::string why) {
    leave(option, std::move(text), std::move(why));
    Unsupported& left = request_.unsupported.back();
    left.directive = directive_text({left.text.substr(0, 2), left.text.substr(3)});
  }
  Chunk& first_chunk() {
    if (request_.chunks.empty()) request_.chunks.emplace_back();
    return request_.chunks.front();
  }

  ResourceRequest request_;
};

std::pair<std::string, std::string> cut_pair(std::string_view text, char sign = '=') {
  const std::size_t at = text.find(sign);
  if (at == std::string_view::npos) return {std::string(trim(text)), ""};
  return {std::string(trim(text.substr(0, at))), std::string(trim(text.substr(at + 1)))};
}

void set_number(std::uint64_t& target, std::string_view text) {
  if (const auto number = parse_unsigned(text, max_count)) target = *number;
}

// "2:ncpus=8:mpiprocs=4+1:ncpus=2"
void PbsReader::read_select(std::string_view value) {
  request_.style = Style::select;
  request_.chunks.clear();
  for (const std::string_view text : split(value, '+')) {
    Chunk chunk;
    for (const std::string_view part : split(text, ':')) {
      const auto [key, word] = cut_pair(part);
      if (word.empty()) {
        set_number(chunk.nodes, key);
      } else if (key == "ncpus") {
        set_number(chunk.cores, word);
      } else if (key == "mpiprocs") {
        set_number(chunk.tasks, word);
      } else if (key == "ompthreads") {
        set_number(chunk.threads, word);
      } else if (key == "ngpus") {
        set_number(chunk.gpus, word);
      } else if (key == "mem") {
        chunk.memory = parse_pbs_size(word).value_or(0);
      } else if (key == "host" || key == "vnode") {
        chunk.host = word;
      } else if (key == "gpu_type" || key == "accelerator_model") {
        chunk.gpu_type = word;
      } else {
        chunk.others.emplace_back(key, word);
      }
    }
    request_.chunks.push_back(std::move(chunk));
  }
}

// "2:ppn=8:gpus=1" or "h1:ppn=2+h2:ppn=2"
void PbsReader::read_old_nodes(std::string_view value) {
  request_.style = Style::old_nodes;
  request_.chunks.clear();
  for (const std::string_view text : split(value, '+')) {
    Chunk chunk;
    bool first = true;
    for (const std::string_view part : split(text, ':')) {
      const auto [key, word] = cut_pair(part);
      if (first && parse_unsigned(key, max_count)) {
        set_number(chunk.nodes, key);
      } else if (first && word.empty()) {
        chunk.host = key;
      } else if (key == "ppn") {
        set_number(chunk.cores, word);
        chunk.tasks = chunk.cores;
      } else if (key == "gpus" || key == "ngpus") {
        set_number(chunk.gpus, word);
      } else {
        chunk.others.emplace_back(key, word);
      }
      first = false;
    }
    request_.chunks.push_back(std::move(chunk));
  }
  if (request_.spread == Spread::unspecified) request_.spread = Spread::scatter;
}

void PbsReader::read_place(std::string_view value) {
  for (const std::string_view word : split(value, ':')) {
    if (word == "scatter" || word == "vscatter") request_.spread = Spread::scatter;
    if (word == "pack") request_.spread = Spread::pack;
    if (word == "free") request_.spread = Spread::unspecified;
    if (word == "excl" || word == "exclhost") request_.exclusive = true;
    if (word == "shared") request_.shared = true;
  }
}

bool PbsReader::read_resource(const std::string& key, const std::string& value) {
  if (key == "select") {
    read_select(value);
  } else if (key == "nodes") {
    read_old_nodes(value);
  } else if (key == "place") {
    read_place(value);
    return value.find("group=") == std::string::npos;
  } else if (key == "walltime") {
    const auto seconds = parse_pbs_time(value);
    if (!seconds) return false;
    request_.walltime_seconds = *seconds;
  } else if (key == "mem") {
    request_.job_memory = parse_pbs_size(value).value_or(0);
    return request_.job_memory > 0;
  } else if (key == "ncpus" || key == "mpiprocs" || key == "ompthreads" || key == "ngpus") {
    if (request_.style == Style::unspecified) request_.style = Style::cores_only;
    Chunk& chunk = first_chunk();
    set_number(key == "ncpus"      ? chunk.cores
               : key == "mpiprocs" ? chunk.tasks
               : key == "ngpus"    ? chunk.gpus
                                   : chunk.threads,
               value);
  } else {
    return false;
  }
  if (key == "select" || key == "nodes") request_.select_line = -1;
  return true;
}

void PbsReader::read_resources(const Directive& option) {
  for (const std::string_view item : split(option.value, ',')) {
    const auto [key, value] = cut_pair(item);
    if (!read_resource(key, value))
      leave_to_pbs(option, fmt::format("-l {}", item), "a resource of this PBS that has no Slurm option");
    if (request_.select_line == -1) request_.select_line = option.line;
  }
}

// "afterok:1.server:2,afterany:3"
void PbsReader::read_dependencies(std::string_view value) {
  for (const std::string_view item : split(value, ',')) {
    const auto [kind, jobs] = cut_pair(item, ':');
    request_.dependencies.emplace_back(kind, jobs);
  }
}

void PbsReader::read_attributes(const Directive& option) {
  // Commas part attributes, but also the kinds of a dependency: what lacks a "name=" belongs to the one
  // before.
  std::vector<std::string> items;
  for (const std::string_view item : split(option.value, ',')) {
    if (!items.empty() && item.find('=') == std::string_view::npos) {
      items.back() += ',';
      items.back() += item;
    } else {
      items.emplace_back(item);
    }
  }
  for (const std::string& item : items) {
    const auto [key, value] = cut_pair(item);
    if (key == "depend") {
      read_dependencies(value);
    } else if (key == "block" && (value == "true" || value == "True" || value == "1")) {
      request_.block = true;
    } else if (key == "umask") {
      leave(option, "-W " + item, fmt::format("write umask {} into the script", value));
    } else {
      leave_to_pbs(option, "-W " + item, "an attribute of PBS without a Slurm option");
    }
  }
}

// Options that few scripts have.
void PbsReader::read_other(const Directive& option) {
  const std::string& value = option.value;
  switch (option.option[1]) {
    case 'p': {
      const bool negative = value.starts_with('-');
      if (const auto number = parse_unsigned(std::string_view(value).substr(negative ? 1 : 0), 1024))
        request_.priority =
            negative ? -static_cast<std::int64_t>(*number) : static_cast<std::int64_t>(*number);
      break;
    }
    case 'k':
    case 'R':
      leave(option, option.option + " " + value, "Slurm writes its output files in place and keeps them");
      break;
    case 'u':
      leave(option, option.option + " " + value, "a Slurm job runs as the user who submits it");
      break;
    case 'I':
    case 'X':
      leave(option, option.option, "an interactive job: salloc, then srun --pty bash");
      break;
    case 'F':
      leave(option, option.option + " " + value, "arguments of the script: after its name for sbatch", true);
      break;
    default:
      leave(option, std::string(trim(option.option + " " + value)), "no counterpart in Slurm");
  }
}

void PbsReader::read_array(const Directive& option) {
  const std::string& value = option.value;
  const std::size_t percent = value.find('%');
  if (value.substr(0, percent).empty()) {
    leave(option, std::string(trim(option.option + " " + value)), "an array without its numbers", true);
    return;
  }
  request_.array =
      ArrayText{value.substr(0, percent), percent == std::string::npos ? "" : value.substr(percent + 1)};
}

// A="x,y",B='c d',C: commas in quotes belong to a value.
void PbsReader::read_variables(const Directive& option, const std::string& line) {
  std::vector<std::string> items = cut_variable_list(line, option);
  std::vector<std::string> kept;
  for (std::string& item : items) {
    const std::size_t equals = item.find('=');
    if (item.find(',') == std::string::npos || equals == std::string::npos) {
      kept.push_back(std::move(item));
      continue;
    }
    request_.assigned.emplace_back(item.substr(0, equals), item.substr(equals + 1));
    leave(option, "-v " + item, "Slurm splits --export at every comma: the script sets the variable itself");
  }
  request_.export_list = join(kept, ",");
}

// "host:/path" -> "/path"
std::string without_host(const std::string& path) {
  const std::size_t colon = path.find(':');
  return colon == std::string::npos || path.find('/') < colon ? path : path.substr(colon + 1);
}

void PbsReader::read_option(const Directive& option) {
  const std::string& value = option.value;
  if (option.option.size() < 2) {
    leave(option, value, "not an option: what was meant is not in the new script", true);
    return;
  }
  request_.torque = request_.torque || is_torque_option(option.option[1]);
  switch (option.option[1]) {
    case 'N':
      request_.name = value;
      break;
    case 'q':
      request_.queue = value.substr(0, value.find('@'));
      if (request_.queue.size() < value.size())
        leave(option, "-q " + value, "another server of PBS: where Slurm has several clusters, -M CLUSTER");
      break;
    case 'A':
      request_.account = value;
      break;
    case 'P':
      request_.project = value;
      break;
    case 'l':
      read_resources(option);
      break;
    case 'W':
      read_attributes(option);
      break;
    case 'o':
      request_.output = without_host(value);
      break;
    case 'e':
      request_.error = without_host(value);
      break;
    case 'j':
      request_.join = value == "oe" || value == "eo";
      break;
    case 'M':
      request_.mail_user = value;
      break;
    case 'm':
      request_.mail_begin = value.find('b') != std::string::npos;
      request_.mail_end = value.find('e') != std::string::npos;
      request_.mail_fail = value.find('a') != std::string::npos;
      request_.mail_none = value == "n";
      break;
    case 'J':
    case 't':
      read_array(option);
      break;
    case 'r':
      request_.requeue = value == "y";
      break;
    case 'h':
      request_.hold = true;
      break;
    case 'a':
      request_.begin = value;
      break;
    case 'V':
      request_.exported = Export::all;
      break;
    case 'v':
      if (request_.exported == Export::unspecified) request_.exported = Export::list;
      break;  // its list is read with its quotes
    case 'S':
      request_.shell = value;
      break;
    case 'd':
    case 'w':
      request_.dir = value;
      break;
    case 'z':
      break;
    default:
      read_other(option);
  }
}

// "nodes=2:ppn=8:gpus=4", $PBS_NUM_PPN: OpenPBS has neither.
bool names_torque(const JobScript& script) {
  for (const Directive& option : script.directives)
    if (option.option == "-l" && option.value.starts_with("nodes=") &&
        option.value.find(":gpus=") != std::string::npos)
      return true;
  return std::any_of(script.body.begin(), script.body.end(), [](const ScriptLine& line) {
    for (const char* name : {"PBS_ARRAYID", "PBS_NUM_PPN", "PBS_NUM_NODES", "PBS_NP", "PBS_O_INITDIR"}) {
      const std::size_t at = line.text.find(name);
      const std::size_t end = at + std::string_view(name).size();
      if (at != std::string::npos && (end >= line.text.size() || !is_name(line.text[end]))) return true;
    }
    return false;
  });
}

ResourceRequest PbsReader::read(const JobScript& script) {
  for (const Directive& option : script.directives) {
    read_option(option);
    if (option.option == "-v")
      read_variables(option, script.lines[static_cast<std::size_t>(option.line) - 1]);
  }
  request_.torque = request_.torque || names_torque(script);
  if (request_.job_memory > 0 && !request_.chunks.empty()) {
    const std::uint64_t nodes = std::max<std::uint64_t>(1, node_count(request_));
    for (Chunk& chunk : request_.chunks)
      if (chunk.memory == 0) chunk.memory = (request_.job_memory + nodes - 1) / nodes;
  }
  return std::move(request_);
}

}  // namespace

ResourceRequest read_pbs_request(const JobScript& script) { return PbsReader().read(script); }

}  // namespace ddlrun::job_scripts
