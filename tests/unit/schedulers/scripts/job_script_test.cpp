// SPDX-License-Identifier: MIT
// What sbatch and qsub read of a script, as their sources and real runs show; nothing breaks the reader.
#include "schedulers/scripts/job_script.hpp"

#include "schedulers/scripts/convert.hpp"
#include "schedulers/scripts/lint.hpp"
#include "tests/support/mutate.hpp"

#include <doctest/doctest.h>

using namespace ddlrun::job_scripts;

namespace {

std::string render(const std::vector<Directive>& directives) {
  std::string text;
  for (const Directive& each : directives)
    text += std::to_string(each.line) + ":" + std::to_string(each.column) + " " + each.option + "=" +
            each.value + ";";
  return text;
}

struct ReadRow {
  const char* text;
  Dialect dialect;
  const char* read;
  const char* unread;
};

const ReadRow read_rows[] = {
    {"#!/bin/sh\n#SBATCH -N2 --time=1:00 -J x\n", Dialect::slurm, "2:9 -N=2;2:13 --time=1:00;2:25 -J=x;", ""},
    {"#SBATCH --nodes 2\n", Dialect::slurm, "1:9 --nodes=2;", ""},
    {"#SBATCH--nodes=2\n", Dialect::slurm, "1:8 --nodes=2;", ""},
    {"#SBATCH -J a#b -N 3\n", Dialect::slurm, "1:9 -J=a;", ""},
    {"#SBATCH -J 'my job' # why\n", Dialect::slurm, "1:9 -J=my job;", ""},
    {"#SBATCH -J my job\n", Dialect::slurm, "1:9 -J=my;1:15 =job;", ""},
    {"#SBATCH -J \"a \\\"b\"\n", Dialect::slurm, "1:9 -J=a \"b;", ""},
    {"#SBATCH --exclusive --requeue -n 4\n", Dialect::slurm, "1:9 --exclusive=;1:21 --requeue=;1:31 -n=4;",
     ""},
    {"\n# a comment\n#SBATCH -n 1\nhostname\n#SBATCH -N 2\n", Dialect::slurm, "3:9 -n=1;", "5:9 -N=2;"},
    {"#SBATCH -n 1\n #SBATCH -N 2\n", Dialect::slurm, "1:9 -n=1;", "2:10 -N=2;"},
    {"#SBATCH -n 1\n#PBS -N x\n", Dialect::slurm, "1:9 -n=1;", "2:6 -N=x;"},
    {"#PBS -N x\n #PBS -q long\ntrue\n#PBS -V\n", Dialect::pbs, "1:6 -N=x;2:7 -q=long;", "4:6 -V=;"},
    {"#PBS -l select=1:ncpus=2,walltime=1 -l place=free\n", Dialect::pbs,
     "1:6 -l=select=1:ncpus=2,walltime=1;1:37 -l=place=free;", ""},
    {"#PBS -lselect=2\n#PBS -koed\n", Dialect::pbs, "1:6 -l=select=2;2:6 -k=oed;", ""},
    {"#PBS -v A=1,B=\"x y\"\r\n", Dialect::pbs, "1:6 -v=A=1,B=x y;", ""},
    {"#sbatch -N 2\n", Dialect::slurm, "", "1:9 -N=2;"},
    {"# PBS -N x\n", Dialect::pbs, "", "1:7 -N=x;"},
    {"# PBS is nice\n##SBATCH -N 2\n", Dialect::none, "", ""},
    {"cat > b.sh <<EOF\n#SBATCH -N 2\nEOF\n", Dialect::slurm, "", ""},
    {"", Dialect::none, "", ""},
};

std::string lines_of(const JobScript& script) {
  std::string text;
  for (const ddlrun::ScriptLine& line : script.body)
    text += std::to_string(line.line) + "-" + std::to_string(line.last_line) + (line.damaged ? "!" : "") +
            (line.here_text ? "h" : "") + " " + line.text + ";";
  return text;
}

}  // namespace

TEST_SUITE_BEGIN("schedulers/scripts/job_script");

TEST_CASE("directives are read as the scheduler reads them") {
  for (const ReadRow& row : read_rows) {
    CAPTURE(row.text);
    const JobScript script = parse_job_script(row.text, "f");
    const bool here = std::string_view(row.text).starts_with("cat");
    if (!here) CHECK(script.dialect == row.dialect);
    CHECK(render(script.directives) == row.read);
    CHECK(render(script.ignored_directives) == row.unread);
  }
}

TEST_CASE("shell lines are joined, here-documents set apart") {
  const auto lines = [](const char* text) { return lines_of(parse_job_script(text, "f")); };
  CHECK(lines("a \\\nb\nc\n") == "1-2 a b;3-3 c;");
  CHECK(lines("a </p>\nb </p>\nc\n") == "1-3! a  b  c;");
  CHECK(lines("a 'x\ny'\nb\n") == "1-2 a 'x\ny';3-3 b;");
  CHECK(lines("a # it's\nb\n") == "1-1 a # it's;2-2 b;");
  CHECK(lines("cat <<E\n#PBS -N x\nE\nb\n") == "1-1 cat <<E;2-2h #PBS -N x;3-3h E;4-4 b;");
  CHECK(lines("a \\\\\nb\n") == "1-1 a \\\\;2-2 b;");
  const JobScript script = parse_job_script("echo \\\n  two\n", "f");
  CHECK(place_in(script.body[0], 7).line == 2);
  CHECK(place_in(script.body[0], 7).column == 3);
}

TEST_CASE("exports") {
  const JobScript script = parse_job_script(
      "export A=1 B='x y'\nC=3\nD=4 program\ndeclare -x E=\"5\"\nexport F=$(nproc)\nif true; then export "
      "G=7; fi\n",
      "f");
  CHECK(script.exports.at("A").text == "1");
  CHECK(script.exports.at("B").text == "x y");
  CHECK(script.exports.at("C").line == 2);
  CHECK_FALSE(script.exports.contains("D"));
  CHECK(script.exports.at("E").text == "5");
  CHECK(script.exports.at("F").text == "$(nproc)");
  CHECK(script.exports.at("G").text == "7");
}

TEST_CASE("mutated scripts and random bytes go through reader, linter and converter") {
  const std::string pbs =
      "#!/bin/sh\n#PBS -N test\n#PBS -l select=4:ncpus=68:mpiprocs=1:ompthreads=68\n#PBS -W "
      "depend=afterok:1.a\n"
      "cd $PBS_O_WORKDIR\nexport A='b c' KMP_AFFINITY=compact=1\nmpirun -n 4 --hostfile $PBS_NODEFILE ./a "
      "</p>\n  --x\n"
      "cat <<EOF\n$PBS_JOBID ${X:-1}\nEOF\nif [ \"$(hostname)\" ]; then a | b & fi\n";
  const std::string slurm =
      "#!/bin/bash\n#SBATCH --nodes=2 -n 8 -c4 --gres=gpu:a:4\n#SBATCH --array=0-9%2 --mem=8G -t 1-2\n"
      "srun -n 8 \\\n --cpus-per-task=4 bash -c \"echo $SLURM_PROCID\"\nwait\n";
  std::size_t texts = 0;
  const std::uint64_t rounds = ddlrun::tests::mutation_rounds(6'000);
  for (std::uint64_t number = 0; number < rounds; ++number) {
    std::string text = ddlrun::tests::mutate(number % 2 == 0 ? pbs : slurm, number);
    if (number % 10 == 9) {
      std::mt19937_64 random(number);
      text.assign(random() % 400, ' ');
      for (char& c : text) c = static_cast<char>(random());
    }
    CAPTURE(number);
    const JobScript script = parse_job_script(text, "f");
    for (const Finding& finding : lint_script(script, {})) {
      CHECK_FALSE(finding.hint.empty());
      CHECK(finding.place.line <= static_cast<int>(script.lines.size()));
      texts += render_finding("f", finding).size();
    }
    if (script.dialect == Dialect::none) continue;
    const Dialect to = script.dialect == Dialect::slurm ? Dialect::pbs : Dialect::slurm;
    texts += convert_script(script, to, nullptr).text.size();
  }
  CHECK(texts > rounds);
}

TEST_SUITE_END();
