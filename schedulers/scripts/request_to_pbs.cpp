// SPDX-License-Identifier: MIT
// The neutral request -> #PBS options of OpenPBS.
#include "base/text/text.hpp"
#include "schedulers/scripts/request_writer.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::job_scripts {

namespace {

class PbsWriter final : public RequestWriter {
 public:
  explicit PbsWriter(const ResourceRequest& request) : RequestWriter(request) {}

 private:
  void write_names() override;
  void write_shape() override;
  std::string render_chunk(const Chunk& chunk) const;
  void write_files() override;
  void write_life() override;
  void write_array();
  void write_mail();
  void write_begin();
  void write_attributes();
  void write_foreign();
  std::string file_of(const std::string& pattern, char kind);
  void put(std::string_view option, std::string_view value) {
    // qsub parts words at blanks; quotes keep them together.
    const bool plain = value.find_first_of(" \t'\"") == std::string_view::npos;
    const char quote = value.find('"') == std::string_view::npos ? '"' : '\'';
    result_.directives.push_back(plain ? fmt::format("{} {}", option, value)
                                       : fmt::format("{} {}{}{}", option, quote, value, quote));
  }
  void put_given(std::string_view option, const std::string& value) {
    if (!value.empty()) put(option, value);
  }
  void leave(std::string text, std::string why) {
    result_.unsupported.push_back({0, std::move(text), std::move(why)});
  }
};

// OpenPBS takes letters, digits and these; a name begins with no blank and has none.
std::string job_name(std::string_view text) {
  std::string name;
  for (const char c : text.substr(0, 230)) {
    const bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      std::string_view("-_.+").find(c) != std::string_view::npos;
    name += good ? c : '_';
  }
  return name;
}

void PbsWriter::write_names() {
  if (!request_.name.empty()) {
    const std::string name = job_name(request_.name);
    put("-N", name);
    if (name != request_.name)
      leave("--job-name=" + request_.name, "PBS does not accept this name: it becomes " + name);
  }
  put_given("-q", request_.queue);
  put_given("-A", request_.account);
  put_given("-P", request_.project);
}

std::string PbsWriter::render_chunk(const Chunk& chunk) const {
  std::string text =
      fmt::format("{}:ncpus={}:mpiprocs={}", chunk.nodes, std::max<std::uint64_t>(1, chunk.cores),
                  std::max<std::uint64_t>(1, chunk.tasks));
  if (chunk.threads > 0) text += fmt::format(":ompthreads={}", chunk.threads);
  if (chunk.gpus > 0) text += fmt::format(":ngpus={}", chunk.gpus);
  if (chunk.memory > 0) {
    const std::uint64_t mib = (chunk.memory + (1u << 20) - 1) >> 20;
    text += mib % 1024 == 0 ? fmt::format(":mem={}gb", mib / 1024) : fmt::format(":mem={}mb", mib);
  }
  if (!chunk.host.empty()) text += ":host=" + chunk.host;
  return text;
}

void PbsWriter::write_shape() {
  if (request_.chunks.empty()) return;
  std::vector<std::string> chunks;
  bool gpus = false, types = false;
  for (const Chunk& chunk : request_.chunks) {
    chunks.push_back(render_chunk(chunk));
    gpus = gpus || chunk.gpus > 0;
    types = types || !chunk.gpu_type.empty();
  }
  put("-l", "select=" + join(chunks, "+"));
  const bool many = node_count(request_) > 1;
  std::string place = request_.spread == Spread::pack              ? "pack"
                      : request_.spread == Spread::scatter && many ? "scatter"
                                                                   : "free";
  if (request_.exclusive) place += ":excl";
  if (request_.shared && !request_.exclusive) place += ":shared";
  put("-l", "place=" + place);
  if (gpus) leave("GPUs", "ngpus is a resource that each centre defines itself: ask for its name");
  if (types) leave("the type of GPU", "PBS needs the centre's own resource for it");
}

// What Slurm's pattern means where PBS has no patterns.
std::string PbsWriter::file_of(const std::string& pattern, char kind) {
  const std::string usual = fmt::format("%x.{}%j", kind), usual_array = fmt::format("%x.{}%A.%a", kind);
  if (pattern.empty() || pattern == usual || pattern == usual_array) return "";
  std::string path = pattern;
  const std::string name = job_name(request_.name);
  for (std::size_t at = 0; !name.empty() && (at = path.find("%x", at)) != std::string::npos;
       at += name.size())
    path.replace(at, 2, name);
  if (path.find('%') == std::string::npos) return path;
  const std::size_t slash = path.rfind('/');
  const std::string dir = slash == std::string::npos ? "" : path.substr(0, slash + 1);
  leave(fmt::format("--{}={}", kind == 'o' ? "output" : "error", pattern),
        fmt::format("PBS has no such pattern: the file is {}NAME.{}NUMBER", dir, kind));
  return dir.find('%') == std::string::npos ? dir : "";
}

void PbsWriter::write_files() {
  const std::string output = file_of(request_.output, 'o');
  put_given("-o", output);
  if (request_.error.empty() || request_.error == request_.output) {
    put("-j", "oe");  // Slurm's default: one file
  } else {
    put_given("-e", file_of(request_.error, 'e'));
  }
  if (request_.append && request_.requeue.value_or(true))
    leave("--open-mode=append",
          "a job that PBS runs again overwrites its output file: let the program append to "
          "a file of its own");
}

void PbsWriter::write_array() {
  if (!request_.array) return;
  const ArrayText& array = *request_.array;
  if (array.range.find(',') != std::string::npos || array.range.find('-') == std::string::npos) {
    leave("--array=" + array.range,
          "-J takes one range, first-last:step: submit the jobs one by one, or exit early "
          "in the jobs that are not wanted");
    return;
  }
  put("-J", array.max_parallel.empty() ? array.range : array.range + "%" + array.max_parallel);
}

void PbsWriter::write_mail() {
  put_given("-M", request_.mail_user);
  std::string events;
  if (request_.mail_fail) events += 'a';
  if (request_.mail_begin) events += 'b';
  if (request_.mail_end) events += 'e';
  if (events.empty() && request_.mail_none) events = "n";
  if (!events.empty()) put("-m", events);
}

// "2026-11-21T12:30:00" -> "202611211230.00"; "12:30" -> "1230"
void PbsWriter::write_begin() {
  const std::string& text = request_.begin;
  if (text.empty()) return;
  std::string digits;
  for (const char c : text)
    if (c >= '0' && c <= '9') digits += c;
  const bool marks_only = text.find_first_not_of("0123456789-T:") == std::string::npos;
  if (marks_only && text.size() == 5 && digits.size() == 4) {
    put("-a", digits);
  } else if (marks_only && text.find('T') == 10 && digits.size() == 14) {
    put("-a", digits.substr(0, 12) + "." + digits.substr(12));
  } else if (marks_only && text.find('T') == 10 && digits.size() == 12) {
    put("-a", digits);
  } else {
    leave("--begin=" + text, "PBS takes a date: -a CCYYMMDDhhmm");
  }
}

void PbsWriter::write_attributes() {
  std::vector<std::string> kept;
  for (const auto& [kind, jobs] : request_.dependencies) {
    if (kind == "after" || kind == "afterok" || kind == "afternotok" || kind == "afterany") {
      kept.push_back(kind + ":" + jobs);
      leave(fmt::format("--dependency={}:{}", kind, jobs),
            "the job ids are Slurm's: put those of PBS in their place");
    } else {
      leave(fmt::format("--dependency={}:{}", kind, jobs),
            "PBS supports after, afterok, afternotok and afterany");
    }
  }
  if (!kept.empty()) put("-W", "depend=" + join(kept, ","));
  if (request_.block) put("-W", "block=true");
}

// What has a name in Slurm only.
void PbsWriter::write_foreign() {
  const auto leave_out = [&](const char* option, const std::string& value, const char* why) {
    if (!value.empty()) leave(fmt::format("--{}={}", option, value), why);
  };
  leave_out("qos", request_.qos, "PBS has queues instead");
  leave_out("reservation", request_.reservation, "in PBS a reservation is a queue: -q R123");
  leave_out("comment", request_.comment, "PBS keeps no comment of the user's");
  leave_out("constraint", request_.constraint, "PBS needs the centre's own resource in select");
  leave_out("nodelist", request_.hosts,
            "one chunk with host=NAME for each: -l select=1:ncpus=8:host=NAME+...");
  leave_out("exclude", request_.not_hosts, "PBS cannot leave hosts out by name");
  leave_out("signal", request_.signal,
            "PBS sends no early signal: the script has to wait for walltime minus the lead itself");
}

void PbsWriter::write_life() {
  if (request_.walltime_seconds > 0) put("-l", "walltime=" + render_time(request_.walltime_seconds));
  write_array();
  write_mail();
  if (request_.requeue) put("-r", *request_.requeue ? "y" : "n");
  if (request_.hold) result_.directives.emplace_back("-h");
  write_begin();
  write_attributes();
  if (request_.priority)
    put("-p", fmt::format("{}", std::clamp<std::int64_t>(*request_.priority, -1024, 1023)));
  if (request_.exported == Export::all) result_.directives.emplace_back("-V");
  if (!request_.export_list.empty()) put("-v", request_.export_list);
  write_foreign();
}

}  // namespace

RenderedRequest render_pbs_request(const ResourceRequest& request) { return PbsWriter(request).write(); }

}  // namespace ddlrun::job_scripts
