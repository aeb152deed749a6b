// SPDX-License-Identifier: MIT
#include "cli/app.hpp"

#include "tests/support/fake_host_info.hpp"
#include "tests/support/fake_system.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;

namespace {

struct Outcome {
  int status;
  std::string out, err;
};

Outcome run(std::vector<std::string> words) {
  tests::FakeSystem fake;
  const int status = cli::run_app(words, fake.interfaces());
  return {status, fake.out, fake.err};
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_SUITE_BEGIN("cli/app");

TEST_CASE("help goes to stdout, a missing command is a usage error") {
  CHECK(run({"--help"}).status == 0);
  CHECK(contains(run({"--help"}).out, "gen-rankfile"));
  CHECK(contains(run({"help"}).out, "check-rankfile"));
  CHECK_FALSE(contains(run({"--help"}).out, "read-topology"));  // hidden
  CHECK(run({}).status == 2);
  CHECK(run({}).out.empty());
  CHECK(contains(run({"help", "topo"}).out, "Usage: ddlrun topo"));
  CHECK(run({"--version"}).out.starts_with("ddlrun "));
}

TEST_CASE("-v and -q may stand before the command") {
  CHECK(contains(run({"-q", "topo", "--help"}).out, "Usage: ddlrun topo"));
  CHECK(run({"-v", "-q", "--version"}).out.starts_with("ddlrun "));
  CHECK(contains(run({"-x", "topo"}).err, "no program follows the options"));  // IBM's -x
  CHECK(contains(run({"-z", "topo"}).err, "unknown command '-z'"));
}

TEST_CASE("a typo is named, and what was meant is offered") {
  struct Row {
    std::vector<std::string> words;
    const char* what;
    const char* hint;
  };
  const Row rows[] = {
      {{"gen-rakfile"}, "unknown command 'gen-rakfile'", "try: ddlrun gen-rankfile"},
      {{"predict", "ckpt", "a.jpg"}, "a command of ddl-train", "try: ddl-train predict ckpt a.jpg"},
      {{"predict"}, "a command of ddl-train", "try: ddl-train predict --help"},
      {{"help", "test"}, "a command of ddl-train", "try: ddl-train test --help"},
      {{"train", "--data", "x y"},
       "a command of ddl-train",
       "try: ddlrun launch 2 -- ddl-train train --data 'x y'"},
      {{"train"}, "a command of ddl-train", "try: ddlrun launch 2 -- --data PATH"},
      {{"frobnicate"}, "unknown command 'frobnicate'", "try: ddlrun --help"},
      {{"topo", "--jsno"}, "unknown option '--jsno' of ddlrun topo", "try: --json"},
      {{"gen-rankfile", "4", "h1", "h2"}, "unknown argument 'h2'", "try: join hosts with commas: h1,h2"},
      {{"gen-rankfile", "4", "ann@h1", "ann@h2"},
       "unknown argument 'ann@h2'",
       "try: join hosts with commas: ann@h1,ann@h2"},
      {{"submit", "-q", "normal", "2x2", "--", "x"},
       "-q is --quiet, and 'normal' follows it",
       "try: --queue normal"},
      {{"submit", "-p", "gpu", "2x2", "--", "x"}, "unknown option '-p'", "try: --queue NAME"},
      {{"submit", "-lselect=2:ncpus=4", "2x2", "--", "x"},
       "unknown option '-lselect=2:ncpus=4'",
       "try: DIMS for the nodes: 4x2"},
      {{"submit", "--gres=gpu:2", "2x2", "--", "x"}, "unknown option '--gres=gpu:2'", "try: --gpus N"},
      {{"topo", "--", "x"}, "unknown argument 'x'", "try: ddlrun topo --help"},
  };
  for (const Row& row : rows) {
    const Outcome outcome = run(row.words);
    CAPTURE(outcome.err);
    CHECK(outcome.status == 2);
    CHECK(outcome.out.empty());
    CHECK(contains(outcome.err, row.what));
    CHECK(contains(outcome.err, row.hint));
  }
}

TEST_CASE("--tee takes no file: the word behind it is no host") {
  using Words = std::vector<std::string>;
  for (const Words& words : {Words{"launch", "2", "--tee", "run.log", "--", "true"},
                             Words{"launch", "--tee", "/tmp/x", "2", "--", "true"},
                             Words{"launch", "2", "h1", "--tee=run.log", "--", "true"}}) {
    const Outcome outcome = run(words);
    CHECK(outcome.status == 2);
    CHECK(contains(outcome.err, "--tee takes no file, and '"));
    CHECK(contains(outcome.err, "RUN/out/rank-0000.out"));
  }
  for (const Words& words : {Words{"launch", "2", "--tee", "h1.site.org", "--", "true"},
                             Words{"launch", "--tee", "2x1", "--", "true"}})
    CHECK_FALSE(contains(run(words).err, "--tee takes no file"));
}

TEST_CASE("--tee and a bare word: a host by its name here, else what is typed without it") {
  tests::FakeHostInfo kernel;
  kernel.names["h1"].addresses = {"10.0.0.1"};
  const auto err_of = [&](const std::vector<std::string>& words) {
    tests::FakeSystem fake;
    fake.environment.host_name = "here";
    System system = fake.interfaces();
    system.kernel = &kernel;
    CHECK(cli::run_app(words, system) != 0);
    return fake.err;
  };
  using Words = std::vector<std::string>;
  const std::string files = "   # writes RUN/out/rank-0000.out";
  for (const auto& [words, meant] :
       {std::pair{Words{"launch", "--tee", "out", "2", "h1", "--", "prog", "a b"},
                  "try: ddlrun launch --tee 2 h1 -- prog 'a b'"},
        std::pair{Words{"launch", "2x1", "h1", "--tee", "out", "--", "prog"},
                  "try: ddlrun launch 2x1 h1 --tee -- prog"},
        std::pair{Words{"launch", "2x1", "--tee", "out"}, "try: ddlrun launch 2x1 --tee"},
        std::pair{Words{"launch", "2x1", "--tee=out", "h1", "--", "prog"},
                  "try: ddlrun launch 2x1 --tee h1 -- prog"}}) {
    const std::string err = err_of(words);
    CAPTURE(err);
    CHECK(contains(err, "--tee takes no file, and 'out' follows it"));
    CHECK(contains(err, meant + files));
  }
  CHECK(contains(err_of({"launch", "2x1", "--tee", "out"}), "a host stands before --tee"));
  for (const Words& words :
       {Words{"launch", "2x1", "--tee", "h1", "--", "true"},
        Words{"launch", "1", "--tee", "here", "--", "true"},
        Words{"launch", "1", "--tee", "localhost", "--", "true"},
        Words{"launch", "1x2", "--tee", "x1,x2", "--", "true"},
        Words{"launch", "1x2", "--tee", "x[1-2]", "--", "true"},
        Words{"launch", "1x2", "--tee", "@x", "--", "true"}, Words{"launch", "--tee", "2", "--", "true"},
        Words{"launch", "--tee", "-q", "2", "--", "true"}}) {
    CAPTURE(words[2]);
    CHECK_FALSE(contains(err_of(words), "--tee takes no file"));
  }
}

TEST_CASE("-v shows each call of a door, -q nothing but errors") {
  tests::FakeSystem fake;
  fake.files.files["/hosts"] = "h1\nh2\n";
  const std::vector<std::string> words{"gen-rankfile", "6x2", "@/hosts", "--sockets", "2", "--cores", "8"};
  auto verbose = words;
  verbose.push_back("-v");
  CHECK(cli::run_app(verbose, fake.interfaces()) == 0);
  CHECK(contains(fake.err, "+ cat /hosts\n"));
  CHECK(contains(fake.err, "note: "));  // 8 cores for 3 ranks
  fake.err.clear();
  auto quiet = words;
  quiet.push_back("-q");
  CHECK(cli::run_app(quiet, fake.interfaces()) == 0);
  CHECK(fake.err.empty());
}

TEST_SUITE_END();
