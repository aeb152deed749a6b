// SPDX-License-Identifier: MIT
#include "schedulers/job/job_settings.hpp"

#include "base/text/text.hpp"
#include "schedulers/job/scheduler.hpp"
#include "schedulers/job/script_forms.hpp"
#include "schedulers/job/setting_reader.hpp"

#include <doctest/doctest.h>

#include <set>

using namespace ddlrun;
using namespace ddlrun::schedulers;

namespace {

JobSettings read(const std::string& text) {
  std::vector<Message> errors;
  JobSettings settings = read_job_settings(text, "ddlrun.yaml", errors);
  CHECK(errors.empty());
  return settings;
}

std::string refusal_of(const std::string& text) {
  std::vector<Message> errors;
  try {
    read_job_settings(text, "ddlrun.yaml", errors);
  } catch (const Error& error) {
    return error.message().where + " " + error.message().what;
  }
  return "";
}

}  // namespace

TEST_SUITE_BEGIN("schedulers/job/job_settings");

TEST_CASE("every key is there once, reported in one line") {
  std::set<std::string_view> seen;
  for (const JobKey& key : job_keys()) {
    CAPTURE(std::string(key.name));
    CHECK(seen.insert(key.name).second);
    CHECK(key.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string_view::npos);
    CHECK(key.summary.size() > 5);
    CHECK(key.summary.size() <= 80);
    CHECK(canonical_key(key.name) == key.name);
  }
  CHECK(canonical_key("partition") == "queue");
  CHECK(canonical_key("nonsense") == "");
}

TEST_CASE("what holds without a key is what the help names, and changes no job") {
  JobSettings bare{{"dims", flag_setting("dims", "2x2", "--dims")},
                   {"program", list_setting({"true"}, "--")},
                   {"signal", flag_setting("signal", "USR1@60", "--signal")},
                   {"walltime", flag_setting("walltime", "1h", "--walltime")},
                   {"scheduler", flag_setting("scheduler", "slurm", "--scheduler")},
                   {"workdir", flag_setting("workdir", "/w", "--workdir")}};
  const JobDirectory dir{"/w/jobs/x"};
  const std::string script = make_scheduler(SchedulerKind::slurm)->render(read_job(bare).job, dir, {}).text();
  const std::set<std::string_view> passed{
      "launcher",      "oversubscribe", "mem_bind",    "rank_output",
      "stall_timeout", "on_stall",      "max_restarts"};  // words for launch
  for (const JobKey& key : job_keys()) {
    if (key.standard.empty()) continue;
    CAPTURE(std::string(key.name));
    const std::string named = std::string("(") + std::string(key.standard);
    if (key.name != "requeue" && key.name != "srun_mpi")
      CHECK(key.summary.find(named) != std::string_view::npos);
    JobSettings with = bare;
    with[std::string(key.name)] = flag_setting(key.name, std::string(key.standard), "the table");
    if (key.name == "mail_events") with["mail"] = bare["mail"] = flag_setting("mail", "me@x.org", "--mail");
    const ParsedJob job = read_job(with);
    CHECK(job.errors.empty());
    if (key.name == "mail_events") {
      CHECK(read_job(bare).job.mail_events == job.job.mail_events);
      bare.erase("mail");
    } else if (!passed.contains(key.name)) {
      CHECK(make_scheduler(SchedulerKind::slurm)->render(job.job, dir, {}).text() == script);
    }
  }
}

TEST_CASE("values stay the text that was written") {
  const char* words[] = {"no", "022", "04:00:00", "1.10", "0x10", "1e3", "yes", "+1", "12:30"};
  for (const char* word : words) {
    CAPTURE(word);
    CHECK(read(std::string("account: ") + word + "\n").at("account").value.text == word);
  }
}

TEST_CASE("each value has its place") {
  const auto settings = read("name: a\n\n# c\nmodules:\n  - gcc\n  - mpi\n");
  CHECK(settings.at("name").origin == "ddlrun.yaml:1:7");
  const Setting& modules = settings.at("modules");
  CHECK(place_of(modules, modules.value.items[1]) == "ddlrun.yaml:6:5");
  const Setting flag = flag_setting("modules", "gcc,mpi", "--modules");
  REQUIRE(flag.value.items.size() == 2);
  CHECK(place_of(flag, flag.value.items[1]) == "--modules");
}

TEST_CASE("flags with commas") {
  CHECK(flag_setting("hosts", "h[1,3],h5", "--hosts").value.text == "h[1,3],h5");
  CHECK(flag_setting("environment", "A,B", "--environment").value.items.size() == 2);
  CHECK(flag_setting("environment", "A=1,2", "--environment").value.text == "A=1,2");
  CHECK(flag_setting("environment", "A=1,B=2", "--environment").value.items.size() == 2);
  CHECK(flag_setting("environment", "C,A=1,B=", "--environment").value.items.size() == 3);
  CHECK(flag_setting("environment", "A=x,y", "--environment").value.text == "A=x,y");
  CHECK(flag_setting("environment", "A=1,", "--environment").value.text == "A=1,");
  CHECK(repeated_flag_setting("environment", {"A=1,B=2", "C"}, "--environment").value.items.size() == 3);
  CHECK(repeated_flag_setting("modules", {"gcc,mpi", "hdf5"}, "--modules").value.items.size() == 3);
  CHECK(repeated_flag_setting("hosts", {"h[1,3]", "h5"}, "--hosts").value.items.size() == 2);
  CHECK(flag_setting("name", "a,b", "--name").value.text == "a,b");
}

TEST_CASE("a word of other tools has its key") {
  CHECK(key_of_foreign_word("wallclock") == "walltime");
  CHECK(key_of_foreign_word("job-name") == "name");
  CHECK(key_of_foreign_word("partition") == "queue");
  CHECK(key_of_foreign_word("waltime") == "");
  CHECK(key_of_foreign_word("") == "");
}

TEST_CASE("errors are reported in the order of the files") {
  const std::vector<Message> reported = sorted_by_place({{"a", "job.yaml:9:1", "x"},
                                                         {"b", "--flag", "x"},
                                                         {"c", "conf.yaml:1:1", "x"},
                                                         {"d", "job.yaml:2:7", "x"}});
  std::string order;
  for (const Message& message : reported) order += message.what;
  CHECK(order == "dacb");
}

TEST_CASE("what is no job's file") {
  CHECK(refusal_of("") == "ddlrun.yaml the file is empty");
  CHECK(refusal_of("# only a comment\n") == "ddlrun.yaml the file is empty");
  CHECK(refusal_of("- a\n").find("no mapping") != std::string::npos);
  CHECK(refusal_of("name: a\nname: b\n").find("ddlrun.yaml:2:1 ") == 0);
  CHECK(refusal_of("name: a\n---\nname: b\n") ==
        "ddlrun.yaml:2:1 a second document begins here, a job is one");
  CHECK(refusal_of("---\nname: a\n") == "");
  CHECK(refusal_of("name: &x a\n").find("anchor") != std::string::npos);
  CHECK(refusal_of("name: [a\n") != "");
}

TEST_CASE("layers: what lies above wins, key by key") {
  const auto all = merge_settings(
      {{"name", flag_setting("name", "a", "--name")}},
      {{"name", flag_setting("name", "b", "file")}, {"queue", flag_setting("queue", "q", "file")}});
  CHECK(all.at("name").origin == "--name");
  CHECK(all.at("queue").origin == "file");
}

TEST_CASE("the words of a program") {
  struct Row {
    const char* line;
    std::vector<std::string> words;  // empty: refused
  };
  // What bash makes of each line that it would not expand.
  const Row rows[] = {
      {"a b  c", {"a", "b", "c"}},
      {"a 'b c' \"d e\"", {"a", "b c", "d e"}},
      {"a\\ b c", {"a b", "c"}},
      {"a '' b", {"a", "", "b"}},
      {"a \"x\\\"y\\z\"", {"a", "x\"y\\z"}},
      {"a 'it'\\''s'", {"a", "it's"}},
      {"a --x={1} b#c", {"a", "--x={1}", "b#c"}},
      {"a $HOME", {}},
      {"a \"$HOME\"", {}},
      {"a; b", {}},
      {"a > b", {}},
      {"a *.py", {}},
      {"a ~/b", {}},
      {"a # b", {}},
      {"a 'b", {}},
      {"a \\", {}},
      {"a `b`", {}},
      {"a & b", {}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.line);
    const ShellWords found = split_shell_words(row.line);
    CHECK(found.words == row.words);
    CHECK(found.error.empty() == !row.words.empty());
  }
}

TEST_CASE("quoted words come back") {
  std::uint32_t seed = 7;
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::string> words(1 + round % 4);
    for (std::string& word : words) {
      for (int i = 0; i < round % 9; ++i)
        word += static_cast<char>(1 + (seed = seed * 1664525u + 1013904223u) / 16777216u % 126);
    }
    CAPTURE(render_shell(words));
    CHECK(split_shell_words(render_shell(words)).words == words);
  }
}

TEST_CASE("amounts of memory") {
  struct Row {
    const char* text;
    std::uint64_t bytes;  // 0: refused
  };
  const Row rows[] = {{"64GiB", 64ull << 30},
                      {"64G", 64ull << 30},
                      {"64gb", 64ull << 30},
                      {"512MiB", 512ull << 20},
                      {"1T", 1ull << 40},
                      {"8K", 8192},
                      {"64", 0},
                      {"0G", 0},
                      {"1.5G", 0},
                      {"64 G", 0},
                      {"-1G", 0},
                      {"64X", 0},
                      {"G", 0},
                      {"", 0},
                      {"9999999999T", 0},
                      {"64GiBs", 0}};
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK(parse_memory(row.text).value_or(0) == row.bytes);
  }
}

TEST_CASE("a name that passes holds no byte that a shell or a scheduler reads as its own") {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string text = std::string("a") + static_cast<char>(byte) + "b";
    CAPTURE(byte);
    const bool plain =
        (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z');
    const auto among = [&](const char* set) {
      return plain || (byte != 0 && std::string(set).find(static_cast<char>(byte)) != std::string::npos);
    };
    CHECK(is_name(NameKind::job, text) == among("._+-"));
    CHECK(is_name(NameKind::plain, text) == among("._-"));
    CHECK(is_name(NameKind::variable, text) == among("_"));
  }
  CHECK_FALSE(is_name(NameKind::job, std::string(65, 'a')));
  CHECK(is_name(NameKind::job, std::string(64, 'a')));
  CHECK_FALSE(is_name(NameKind::plain, "-a"));
  CHECK_FALSE(is_name(NameKind::job, "."));
}

TEST_SUITE_END();
