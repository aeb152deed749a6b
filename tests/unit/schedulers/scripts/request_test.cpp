// SPDX-License-Identifier: MIT
// Times and sizes from the manuals of both schedulers; requests across and back.
#include "schedulers/scripts/request.hpp"

#include "schedulers/scripts/convert.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace ddlrun::job_scripts;

TEST_SUITE_BEGIN("schedulers/scripts/request");

TEST_CASE("times and sizes") {
  CHECK(parse_pbs_time("30") == 30);
  CHECK(parse_pbs_time("1:30") == 90);
  CHECK(parse_pbs_time("04:00:00") == 14400);
  CHECK_FALSE(parse_pbs_time("4h"));
  CHECK(parse_slurm_time("30") == 1800);
  CHECK(parse_slurm_time("1:30") == 90);
  CHECK(parse_slurm_time("2-12") == 216000);
  CHECK(parse_slurm_time("1-0:30") == 88200);
  CHECK(parse_slurm_time("100:00:00") == 360000);
  CHECK_FALSE(parse_slurm_time("UNLIMITED"));
  CHECK(parse_pbs_size("8gb") == 8ull << 30);
  CHECK(parse_pbs_size("100") == 100);
  CHECK(parse_pbs_size("2mw") == 16ull << 20);
  CHECK(parse_slurm_size("8G") == 8ull << 30);
  CHECK(parse_slurm_size("100") == 100ull << 20);
  CHECK_FALSE(parse_slurm_size("lots"));
  CHECK(render_time(14400) == "04:00:00");
  CHECK(render_time(360000) == "100:00:00");
}

namespace {

struct RequestRow {
  const char* pbs;
  const char* slurm;  // every line is requested
};

// From the manuals of qsub and sbatch.
const RequestRow to_slurm[] = {
    {"#PBS -l select=4:ncpus=68:mpiprocs=1:ompthreads=68\n#PBS -l place=scatter",
     "--nodes=4\n--ntasks-per-node=1\n--cpus-per-task=68"},
    {"#PBS -l select=2:ncpus=40:mpiprocs=4:ompthreads=10:mem=64gb",
     "--nodes=2\n--ntasks-per-node=4\n--cpus-per-task=10\n--mem=64G"},
    {"#PBS -l select=1:ncpus=8:ngpus=2", "--nodes=1\n--cpus-per-task=8\n--gpus-per-node=2"},
    {"#PBS -l nodes=2:ppn=8", "--nodes=2\n--ntasks-per-node=8\n--cpus-per-task=1"},
    {"#PBS -l nodes=2:ppn=8:gpus=1", "--gpus-per-node=1"},
    {"#PBS -l select=4:ncpus=4:mpiprocs=2 -l place=pack",
     "--nodes=1\n--ntasks-per-node=8\n--cpus-per-task=2"},
    {"#PBS -l select=2:ncpus=8 -l place=scatter:excl", "--exclusive"},
    {"#PBS -l select=1:ncpus=7:mpiprocs=2", "--ntasks-per-node=2\n--cpus-per-task=4"},
    {"#PBS -l select=2:ncpus=68:mpiprocs=3 -l place=scatter:excl",
     "--ntasks-per-node=3\n--cpus-per-task=22\n--exclusive"},
    {"#PBS -l walltime=1:02:03", "--time=01:02:03"},
    {"#PBS -l walltime=90", "--time=00:01:30"},
    {"#PBS -N a -q long -A lab -P p", "--job-name=a\n--partition=long\n--account=lab\n--wckey=p"},
    {"#PBS -j oe", "--output=%x.o%j"},
    {"#PBS -o h:/tmp/out -e /tmp/err", "--output=/tmp/out\n--error=/tmp/err"},
    {"#PBS -J 0-9:2%3", "--array=0-9:2%3\n--output=%x.o%A.%a"},
    {"#PBS -W depend=afterok:12.s:13.s,afterany:4", "--dependency=afterok:12:13,afterany:4"},
    {"#PBS -m abe -M a@b", "--mail-type=BEGIN,END,FAIL\n--mail-user=a@b"},
    {"#PBS -m n", "--mail-type=NONE"},
    {"#PBS -r y", "--requeue\n--open-mode=append"},
    {"#PBS -r n", "--no-requeue"},
    {"#PBS -h -a 202701020304.05", "--hold\n--begin=2027-01-02T03:04:05"},
    {"#PBS -V", "--export=ALL"},
    {"#PBS -v A=1,B", "--export=ALL,A=1,B"},
    {"#PBS -p -5", "--nice=5"},
    {"#PBS -W block=true", "--wait"},
    {"#PBS -l select=1:host=n3:ncpus=2", "--nodelist=n3"},
    // Torque's qsub(1B)
    {"#PBS -l nodes=2:ppn=8:gpus=4\n#PBS -t 0-9%2", "--array=0-9%2\n--output=%x.o%A.%a"},
    {"#PBS -t 0,2,4-8%2", "--array=0,2,4-8%2"},
    {"#PBS -d /home/me/run", "--chdir=/home/me/run"},
    // Chunks that differ: as many ranks and cores on each node as the largest has.
    {"#PBS -l select=1:ncpus=4:mpiprocs=1+2:ncpus=16:mpiprocs=16 -l place=scatter",
     "--nodes=3\n--ntasks-per-node=16\n--cpus-per-task=1"},
    {"#PBS -l select=1:ncpus=16:mpiprocs=1+2:ncpus=4:mpiprocs=4",
     "--nodes=3\n--ntasks-per-node=4\n--cpus-per-task=4"},
    {"#PBS -l select=1:ncpus=4:mpiprocs=1+2:ncpus=8:mpiprocs=2 -l place=pack",
     "--nodes=1\n--ntasks-per-node=5\n--cpus-per-task=4"},
    {"#PBS -l nodes=h1:ppn=2+h2:ppn=2", "--nodes=2\n--ntasks-per-node=2\n--nodelist=h1,h2"},
    {"#PBS -o $PBS_O_WORKDIR/out.log -e $PBS_O_WORKDIR/$PBS_JOBNAME.$PBS_JOBID.err",
     "--output=out.log\n--error=%x.%j.err"},
    {"#PBS -q long@server2", "--partition=long"},
    {"#PBS -v A=\"x,y\",B='c d',C", "--export=\"ALL,B=c d,C\""},
    {"#PBS -v \"A='x,y',B=2\"", "--export=ALL,B=2"},
    {"#PBS -v A=\"x,y\"", "--export=ALL"},
};

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

void check_lines(const std::string& text, std::string wanted, const char* sentinel) {
  wanted += "\n";
  for (std::size_t at = 0; at < wanted.size();) {
    const std::size_t end = wanted.find('\n', at);
    const std::string line = std::string(sentinel) + " " + wanted.substr(at, end - at);
    CAPTURE(line);
    CHECK(has_line(text, line));
    at = end + 1;
  }
}

const RequestRow to_pbs[] = {
    {"-l select=2:ncpus=32:mpiprocs=4:ompthreads=8\n-l place=scatter",
     "#SBATCH -N 2 --ntasks-per-node=4 -c 8"},
    {"-l select=8:ncpus=2:mpiprocs=1:ompthreads=2\n-l place=free", "#SBATCH --ntasks=8 --cpus-per-task=2"},
    {"-l select=1:ncpus=3:mpiprocs=3:ompthreads=1+2:ncpus=2:mpiprocs=2:ompthreads=1", "#SBATCH -N 3 -n 7"},
    {"-l select=2:ncpus=4:mpiprocs=4:ompthreads=1:ngpus=4",
     "#SBATCH -N 2 --ntasks-per-node=4 --gres=gpu:a100:4"},
    {"-l select=2:ncpus=4:mpiprocs=4:ompthreads=1:ngpus=4",
     "#SBATCH -N 2 --ntasks-per-node=4 --gpus-per-task=1"},
    {"-l select=2:ncpus=1:mpiprocs=1:ompthreads=1:ngpus=4", "#SBATCH -N 2 --gpus=8"},
    {"-l select=1:ncpus=4:mpiprocs=1:ompthreads=4:mem=8gb", "#SBATCH -c 4 --mem-per-cpu=2G -N 1"},
    {"-l place=scatter:excl\n-l walltime=02:00:00", "#SBATCH -N 2 --exclusive --time=120"},
    {"-N a_b\n-q gpu\n-A lab", "#SBATCH -J \"a b\" -p gpu -A lab"},
    {"-j oe", "#SBATCH -N 1"},
    {"-o /tmp/out\n-e /tmp/err", "#SBATCH -o /tmp/out -e /tmp/err"},
    {"-J 0-9:2%3", "#SBATCH --array=0-9:2%3"},
    {"-W depend=afterok:12:13", "#SBATCH -d afterok:12:13"},
    {"-m abe\n-M a@b", "#SBATCH --mail-type=ALL --mail-user=a@b"},
    {"-r y", "#SBATCH --requeue"},
    {"-h\n-a 202701020304.05", "#SBATCH --hold --begin=2027-01-02T03:04:05"},
    {"-v A=1", "#SBATCH --export=A=1"},
    {"-V", "#SBATCH --export=ALL"},
};

}  // namespace

TEST_CASE("PBS directives have their Slurm counterparts") {
  for (const RequestRow& row : to_slurm) {
    CAPTURE(row.pbs);
    const auto script = parse_job_script(std::string("#!/bin/bash\n") + row.pbs + "\ncd /\ntrue\n", "f");
    check_lines(convert_script(script, Dialect::slurm, nullptr).text, row.slurm, "#SBATCH");
  }
}

TEST_CASE("Slurm directives have their PBS counterparts") {
  for (const RequestRow& row : to_pbs) {
    CAPTURE(row.slurm);
    const auto script = parse_job_script(std::string("#!/bin/bash\n") + row.slurm + "\ntrue\n", "f");
    check_lines(convert_script(script, Dialect::pbs, nullptr).text, row.pbs, "#PBS");
  }
}

TEST_CASE("PBS to Slurm and back keeps the request") {
  const char* selects[] = {"4:ncpus=68:mpiprocs=1:ompthreads=68", "2:ncpus=40:mpiprocs=4:ompthreads=10",
                           "1:ncpus=8:mpiprocs=8:ompthreads=1:ngpus=4:mem=32gb",
                           "16:ncpus=6:mpiprocs=2:ompthreads=3", "2:ncpus=68:mpiprocs=2:ompthreads=30"};
  for (const char* select : selects) {
    CAPTURE(select);
    const std::string text =
        std::string("#!/bin/bash\n#PBS -N t\n#PBS -q long\n#PBS -A lab\n#PBS -l select=") + select +
        "\n#PBS -l place=scatter:excl\n#PBS -l walltime=04:00:00\n#PBS -r y\n#PBS -m be\n#PBS -M a@b\n"
        "#PBS -J 0-3\n#PBS -h\n#PBS -v A=1\nexport OMP_NUM_THREADS=" +
        std::string(select)
            .substr(std::string(select).find("ompthreads=") + 11, 2)
            .substr(0, std::string(select).find("ompthreads=1:") != std::string::npos ? 1 : 2) +
        "\ncd \"$PBS_O_WORKDIR\"\nmpirun -n 4 ./a\n";
    const auto before = parse_job_script(text, "f");
    const auto there = parse_job_script(convert_script(before, Dialect::slurm, nullptr).text, "f");
    const auto back = parse_job_script(convert_script(there, Dialect::pbs, nullptr).text, "f");
    const auto a = read_pbs_request(before), b = read_pbs_request(back);
    CHECK(a.chunks == b.chunks);
    CHECK(a.name == b.name);
    CHECK(a.queue == b.queue);
    CHECK(a.account == b.account);
    CHECK(a.walltime_seconds == b.walltime_seconds);
    CHECK(a.exclusive == b.exclusive);
    CHECK((a.spread == b.spread || node_count(a) == 1));
    CHECK(a.requeue == b.requeue);
    CHECK(a.hold == b.hold);
    CHECK(a.mail_user == b.mail_user);
    CHECK(a.array->range == b.array->range);
    CHECK(back.body.back().text == before.body.back().text);
  }
}

TEST_SUITE_END();
