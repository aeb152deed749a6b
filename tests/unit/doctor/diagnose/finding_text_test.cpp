// SPDX-License-Identifier: MIT
#include "doctor/diagnose/finding_text.hpp"

#include "doctor/diagnose/diagnosis.hpp"
#include "doctor/diagnose/signatures_yaml.hpp"
#include "tests/unit/doctor/diagnose/examples.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace ddlrun::diagnose;
using ddlrun::tests::diagnose_text;

TEST_SUITE_BEGIN("doctor/diagnose/finding_text");

TEST_CASE("a value from a log is one shell word in a remedy") {
  const Diagnosis diagnosis = diagnose_text(
      "mpirun was unable to launch the specified application as it could not access\nor execute an "
      "executable:\n\n"
      "Executable: $(touch owned); x'y\nNode: --oProxyCommand\n");
  REQUIRE(diagnosis.cause);
  CHECK(diagnosis.cause->remedies[0] ==
        "mpirun -n 1 -H oProxyCommand ls -l '$(touch owned); x'\\''y'   # as the job sees it, in its "
        "directory");
}

TEST_CASE("remedies name the file of the message") {
  struct Row {
    const char* log;
    const char* remedy;
  };
  const Row rows[] = {
      {"Traceback (most recent call last):\n  File \"/usr/bin/torchrun\", line 33, in <module>\n"
       "    sys.exit(main())\nValueError: bad\n",
       "sed -n 31,35p /usr/bin/torchrun   #"},
      {"  File \"/w/t.py\", line 3\n    x = = 3\n        ^\nSyntaxError: invalid syntax\n",
       "python3 -m py_compile /w/t.py   #"},
      {"run.sh: line 31: syntax error: unexpected end of file\n", "bash -n run.sh   #"},
      {"./a.sh: 3: [[: not found\n", "bash ./a.sh   #"},
      {"./ddp.py: 1: import: not found\n", "python3 ./ddp.py ...   #"},
  };
  for (const Row& row : rows) {
    CAPTURE(std::string(row.log));
    CHECK(render_diagnosis(diagnose_text(row.log)).find(row.remedy) != std::string::npos);
  }
}

TEST_CASE("a host out of a log is a name or nothing") {
  const Diagnosis diagnosis = diagnose_text(
      "MPICH ERROR [Rank 3] [job id 77.0] [Tue] [nid1;touch x;b] - Abort(1): Fatal error in PMPI_Init: no "
      "memory\n");
  REQUIRE(diagnosis.cause);
  CHECK(diagnosis.cause->place.host.empty());
  CHECK(render_diagnosis(diagnosis).find("ddlrun doctor nid1;") == std::string::npos);
}

TEST_CASE("only a name stands in quotes") {
  TemplateValues with;
  with.is_prose = true;
  CHECK(fill_in("no partition \"{value}\" on \"{host}\"", with) == "no partition \"...\" on a host");
  with.value = "debug";
  with.place.host = "n1";
  CHECK(fill_in("no partition \"{value}\" on \"{host}\"", with) == "no partition \"debug\" on \"n1\"");
}

TEST_CASE("no {name} of a signature reaches the output, whether the log has its value or not") {
  TemplateValues all;
  all.place = {3, "n1"};
  all.value = all.advice = all.path = all.library = all.script = "x";
  all.status = 7;
  all.signal = 9;
  for (TemplateValues with : {TemplateValues{}, all}) {
    for (const Signature& signature : builtin_signatures()->signatures) {
      CAPTURE(signature.id);
      for (const bool is_prose : {true, false}) {
        with.is_prose = is_prose;
        for (const std::string& text : {signature.title, signature.cause}) CHECK(unknown_word(text) == "");
        std::vector<std::string> texts = signature.remedies;  // also with braces of a shell or of Python
        texts.insert(texts.end(), {signature.title, signature.cause});
        for (const std::string& text : texts)
          for (const std::string_view word : template_words)
            CHECK(fill_in(text, with).find('{' + std::string(word) + '}') == std::string::npos);
      }
    }
  }
}

TEST_CASE("status and signal of a message stand in its texts; unknown ones are called so") {
  const Diagnosis diagnosis =
      diagnose_text("libddl: rank 0 (n1) called abort: all ranks end with status 3\n");
  REQUIRE(diagnosis.cause);
  CHECK(diagnosis.cause->title == "rank 0 (n1) ended all ranks: it called abort with status 3");
  TemplateValues with;
  with.is_prose = true;
  CHECK(fill_in("it ended with status {status}", with) == "it ended with an unknown status");
}

TEST_CASE("a port that is taken: the one of the message, else MASTER_PORT") {
  const std::string taken =
      "RuntimeError: The server socket has failed to listen on any local network address. ";
  const auto found = [&](const std::string& rest) {
    return *ddlrun::tests::diagnose_text(taken + rest + "\n").cause;
  };
  const Finding named = found("port: 29511, useIpv6: false, code: -98, name: EADDRINUSE");
  CHECK(named.id == "D38");
  CHECK(named.cause.ends_with(" uses port 29511."));
  CHECK(named.remedies.front().starts_with("ss -ltnp | grep 29511 "));
  const Finding unnamed = found("");
  CHECK(unnamed.cause.ends_with(" uses MASTER_PORT."));
  CHECK(unnamed.remedies.front().starts_with("ss -ltnp | grep 29500 "));
}

TEST_SUITE_END();
