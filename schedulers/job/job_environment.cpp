// SPDX-License-Identifier: MIT
// What stands around the program, and the program itself.
#include "base/text/text.hpp"
#include "schedulers/job/job_parser.hpp"
#include "schedulers/job/script_forms.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::schedulers {

namespace {

using Kind = YamlValue::Kind;

bool is_mapping(const Setting* setting) { return setting != nullptr && setting->value.kind == Kind::mapping; }

void read_modules(SettingReader& reader, JobSpec& job) {
  for (const PlacedText& module : reader.texts("modules", "[gcc/12.2, openmpi/4.1.4]")) {
    if (is_name(NameKind::module, module.text)) {
      job.modules.push_back(module.text);
      continue;
    }
    const bool several = module.text.find_first_of(" ,") != std::string::npos;
    reader.add_error_at(
        fmt::format("modules {} may hold only {}", shown(module.text), alphabet_of(NameKind::module)),
        module.where,
        several ? reader.hint("modules", "[gcc/12.2, openmpi/4.1.4]   # several are a list")
                : std::string("module avail"));
  }
  job.purge_modules = reader.yes_no("purge_modules").value_or(true);
}

// An image that a registry has keeps its spelling; a file becomes an absolute path.
std::string checked_image(SettingReader& reader, const PlacedText& image, const std::string& base) {
  const std::size_t scheme = image.text.find("://");
  if (scheme == std::string::npos) return reader.checked_path("container", image, base);
  const std::string_view known[] = {"docker", "oras", "library", "shub"};
  const std::string_view rest = std::string_view(image.text).substr(scheme + 3);
  const bool good =
      std::find(std::begin(known), std::end(known), image.text.substr(0, scheme)) != std::end(known) &&
      is_name(NameKind::module, rest);
  if (good) return image.text;
  reader.add_error_at(
      fmt::format("container {}: not an image's address", shown(image.text)), image.where,
      reader.hint("container",
                  "docker://pytorch/pytorch:2.4.0   # or oras://, library://, shub://, or a file"));
  return {};
}

std::vector<std::string> read_binds(SettingReader& reader, const Setting& setting) {
  std::vector<std::string> binds;
  const YamlValue* list = setting.value.find("binds");
  if (list == nullptr) return binds;
  std::vector<YamlValue> items = list->items;
  if (list->kind == Kind::scalar) items.push_back(*list);
  for (const YamlValue& item : items) {
    const auto parts = split(item.text, ':');
    bool good = item.kind == Kind::scalar && parts.size() <= 3 && item.text.find('$') == std::string::npos &&
                item.text.find(',') == std::string::npos && printable(item.text, 4096) == item.text;
    for (std::size_t i = 0; i < parts.size() && i < 2; ++i) good = good && parts[i].starts_with('/');
    if (parts.size() == 3) good = good && (parts[2] == "ro" || parts[2] == "rw");
    if (good) {
      binds.push_back(item.text);
    } else {
      reader.add_error_at(
          fmt::format("container: bind {}: not DIR[:DIR[:ro]] with whole paths", shown(item.text)),
          place_of(setting, item), "binds: [\"/scratch:/data:ro\"]");
    }
  }
  return binds;
}

void read_container(SettingReader& reader, JobSpec& job) {
  const Setting* setting = reader.find("container");
  if (setting == nullptr) return;
  Container container;
  if (is_mapping(setting)) {
    const std::vector<std::string> known{"image", "runtime", "binds"};
    reader.known_fields("container", setting->value, known);
    if (const auto image = reader.field("container", *setting, "image", "/scratch/me/train.sif")) {
      container.image = checked_image(reader, *image, job.workdir);
    } else if (setting->value.find("image") == nullptr) {
      reader.add_error_at("container: there is no image", setting->origin, "image: /scratch/me/train.sif");
    }
    if (const auto runtime = reader.field("container", *setting, "runtime", "apptainer")) {
      container.runtime = runtime->text;
      if (runtime->text != "apptainer" && runtime->text != "singularity") {
        reader.add_error_at(
            fmt::format("container: runtime {}: apptainer and singularity are known", shown(runtime->text)),
            runtime->where, "runtime: apptainer");
      }
    }
    container.binds = read_binds(reader, *setting);
  } else if (const auto image = reader.text("container", "/scratch/me/train.sif")) {
    container.image = checked_image(reader, {*image, setting->origin}, job.workdir);
  }
  if (!container.image.empty()) job.container = std::move(container);
}

void read_data(SettingReader& reader, JobSpec& job) {
  const Setting* setting = reader.find("data");
  if (setting == nullptr) return;
  Staging staging;
  if (is_mapping(setting)) {
    const std::vector<std::string> known{"from", "to"};
    reader.known_fields("data", setting->value, known);
    if (const auto from = reader.field("data", *setting, "from", "/scratch/me/mnist")) {
      staging.from = reader.checked_path("data", *from, job.workdir);
    } else if (setting->value.find("from") == nullptr) {
      reader.add_error_at("data: the source (from) is missing", setting->origin, "from: /scratch/me/mnist");
    }
    if (const auto to = reader.field("data", *setting, "to", "/tmp/mnist")) {
      staging.to = reader.checked_path("data", *to, "");
    }
    if (!staging.to.empty() && staging.to == staging.from) {
      reader.add_error_at(fmt::format("data: from and to are both {}", shown(staging.to)), setting->origin,
                          "leave out to:, and the data is used where it is");
    }
  } else {
    staging.from = reader.path("data", job.workdir, "/scratch/me/mnist");
  }
  if (!staging.from.empty()) job.data = std::move(staging);
}

// "HOME", "http_proxy=x" and "NCCL_*"; not "compact", "1" and "granularity=fine".
bool resembles_variable(std::string_view part) {
  std::string_view name = part.substr(0, part.find('='));
  if (name.ends_with('*')) name.remove_suffix(1);
  const bool has_mark = std::ranges::any_of(name, [](char c) { return c == '_' || (c >= 'A' && c <= 'Z'); });
  return has_mark && is_name(NameKind::variable, std::string(name));
}

// One variable whose value has commas: KMP_AFFINITY=granularity=fine,compact,1,0.
bool is_one_variable(std::string_view text) {
  const auto parts = split(text, ',');
  return parts[0].find('=') != std::string_view::npos &&
         std::none_of(parts.begin() + 1, parts.end(), resembles_variable);
}

// What was typed and could not be split: one variable whose value has a comma, or several?
void refuse_comma(SettingReader& reader, const PlacedText& written) {
  const std::string name = written.text.substr(0, written.text.find('='));
  const bool good = is_name(NameKind::variable, name);
  reader.add_error_at(
      fmt::format("environment {}: one value with a comma, or several variables?", shown(written.text)),
      written.where,
      fmt::format("--environment '{}=...' --environment B=...   # a comma in a value: environment: {{{}: "
                  "'x,y'}} in ddlrun.yaml",
                  good ? name : "A", good ? name : "A"));
}

void add_variable(SettingReader& reader, JobSpec& job, const PlacedText& written) {
  const std::string name = written.text.substr(0, written.text.find('='));
  const bool wildcard = written.text.size() > 1 && is_wildcard(written.text);  // NCCL_*
  const bool good = is_name(NameKind::variable, wildcard ? name.substr(0, name.size() - 1) : name);
  if (!good) {
    reader.add_error_at(
        fmt::format("environment {}: a variable's name has {}", shown(name), alphabet_of(NameKind::variable)),
        written.where, reader.hint("environment", "[DATA_ROOT, NCCL_DEBUG=INFO]"));
    return;
  }
  const auto same = [&](const std::string& other) { return other.substr(0, other.find('=')) == name; };
  if (std::any_of(job.environment.begin(), job.environment.end(), same)) {
    reader.add_error_at(fmt::format("environment: {} is named twice", name), written.where,
                        "keep one of the two");
  } else if (written.text.find('\0') != std::string::npos) {
    reader.add_error_at(fmt::format("environment {}: a value holds no NUL byte", name), written.where,
                        name + "=value");
  } else {
    job.environment.push_back(written.text);
  }
}

void read_environment(SettingReader& reader, JobSpec& job) {
  const Setting* setting = reader.find("environment");
  if (!is_mapping(setting)) {
    const bool typed = setting != nullptr && setting->value.line == 0;
    for (const PlacedText& one : reader.texts("environment", "[DATA_ROOT, NCCL_DEBUG=INFO]")) {
      if (typed && one.text.find(',') != std::string::npos && !is_one_variable(one.text))
        refuse_comma(reader, one);
      else
        add_variable(reader, job, one);
    }
    return;
  }
  for (const auto& [name, value] : setting->value.fields) {
    const PlacedText one{name + "=" + value.text, place_of(*setting, value)};
    if (value.kind == Kind::scalar && name.find('=') == std::string::npos) {
      add_variable(reader, job, one);
    } else {
      reader.add_error_at(fmt::format("environment {}: one value is wanted", shown(name)), one.where,
                          "NCCL_DEBUG: INFO");
    }
  }
}

void read_setup(SettingReader& reader, JobSpec& job) {
  for (const PlacedText& written : reader.texts("setup", "ulimit -c 0")) {
    const bool bad =
        written.text.find('\0') != std::string::npos || written.text.find('\r') != std::string::npos;
    if (bad) {
      reader.add_error_at("setup: a shell line holds no NUL and no carriage return", written.where,
                          "setup: ulimit -c 0");
      continue;
    }
    for (const std::string_view line : split(written.text, '\n')) {
      if (!trim(line).empty()) job.setup.emplace_back(line);
    }
  }
}

void read_directives(SettingReader& reader, JobSpec& job) {
  for (const PlacedText& written : reader.texts("directives", "[\"--comment=test\"]")) {
    const std::string line(trim(written.text));
    const auto outside = std::find_if(line.begin(), line.end(), [](char c) { return c < 0x20 || c > 0x7e; });
    if (outside != line.end()) {
      reader.add_error_at(
          fmt::format("directives {}: a byte that is no printable ASCII (a dash from a web page?)",
                      shown(line)),
          written.where, "type the line by hand: - and \" as on the keyboard");
    } else if (!line.starts_with('-') || line.size() < 2 || line.size() > 4096) {
      reader.add_error_at(fmt::format("directives {}: a directive begins with -", shown(line)), written.where,
                          line.starts_with("#SBATCH ") || line.starts_with("#PBS ")
                              ? fmt::format("\"{}\"", trim(std::string_view(line).substr(line.find(' '))))
                              : std::string("\"-W sandbox=PRIVATE\", \"--comment=test\""));
    } else {
      job.directives.push_back(line);
    }
  }
}

// It stands in a directive, which takes less than a path may hold.
void read_output(SettingReader& reader, JobSpec& job) {
  job.output = reader.path("output", job.workdir, "/scratch/me/run/output.log");
  try {
    if (!job.output.empty()) directive_value(ValueKind::path, job.output, "output");
  } catch (const Error& error) {
    reader.add_error("output", fmt::format("output {}: {}", shown(job.output), error.message().hint),
                     "/scratch/me/run/output.log");
  }
}

}  // namespace

void read_job_environment(SettingReader& reader, JobSpec& job) {
  read_modules(reader, job);
  // A name stays a name: the environment's own; anything with a slash is a directory.
  if (const auto conda = reader.text("conda", "my_environment")) {
    const bool dir = conda->find('/') != std::string::npos;
    job.conda = dir ? reader.path("conda", job.workdir, "my_environment")
                    : reader.name("conda", NameKind::plain, "my_environment");
  }
  job.venv = reader.path("venv", job.workdir, "/home/me/venv");
  if (!job.conda.empty() && !job.venv.empty()) {
    reader.add_error_at(
        fmt::format("conda ({}) and venv: one Python environment, not two", reader.origin_of("conda")),
        reader.origin_of("venv"), "keep one of the two");
  }
  read_container(reader, job);
  read_environment(reader, job);
  read_setup(reader, job);
  read_data(reader, job);
  read_output(reader, job);
  if (const auto binary = reader.text("ddlrun", "ddlrun")) {
    const bool dir = binary->find('/') != std::string::npos;
    job.ddlrun =
        dir ? reader.path("ddlrun", job.workdir, "ddlrun") : reader.name("ddlrun", NameKind::plain, "ddlrun");
  }
}

void read_program(SettingReader& reader, JobSpec& job) {
  read_directives(reader, job);
  const Setting* setting = reader.find("program");
  if (setting == nullptr) {
    if (reader.find("template") != nullptr) return;  // it may have its own
    reader.add_error_at("there is no program", "",
                        "program: python train.py   # or: ddlrun submit ... -- python train.py; the bundled "
                        "trainer: -- ddl-train --epochs 1");
    return;
  }
  if (setting->value.kind == Kind::sequence) {
    for (const PlacedText& word : reader.texts("program", "[python, train.py]")) {
      if (word.text.find('\0') == std::string::npos) {
        job.program.push_back(word.text);
      } else {
        reader.add_error_at("program: an argument holds no NUL byte", word.where,
                            "program: [python, train.py]");
      }
    }
    if (!job.program.empty() && job.program.front().empty()) {
      reader.add_error("program", "program: the program's name is empty", "[python, train.py]");
    }
    return;
  }
  const auto line = reader.text("program", "python train.py");
  if (!line) return;
  ShellWords split = split_shell_words(*line);
  if (!split.error.empty() || line->find('\0') != std::string::npos) {
    reader.add_error("program",
                     fmt::format("program: {}", split.error.empty() ? "it holds a NUL byte" : split.error),
                     "[bash, -c, 'python train.py > log']   # or a list of words");
    return;
  }
  job.program = std::move(split.words);
}

}  // namespace ddlrun::schedulers
