// SPDX-License-Identifier: MIT
#include "scripts_jobs.hpp"

#include <array>

using namespace ddlrun::schedulers;

namespace {

// What has broken other generators of scripts; @ stands for the canary's path.
const std::vector<std::string> attacks{"$(touch @)",
                                       "`touch @`",
                                       "; touch @ ;",
                                       "' ; touch @ ; '",
                                       "\" ; touch @ ; \"",
                                       "x\ntouch @\n",
                                       "x\r\ntouch @\r\n",
                                       "'\ntouch @\n'",
                                       "$'\\'' ; touch @ #",
                                       "a\n#SBATCH -o @",
                                       "\n#SBATCH --ntasks=8\n",
                                       "#PBS -o @",
                                       "a\n#PBS -l select=9\n",
                                       "| touch @",
                                       "& touch @ &",
                                       "> @",
                                       ">>@",
                                       "<(touch @)",
                                       ">(touch @)",
                                       "${x:=$(touch @)}",
                                       "$((x[$(touch @)]))",
                                       "*",
                                       "?",
                                       "[a-z]*",
                                       "~",
                                       "~root",
                                       "{a,b}",
                                       "!!",
                                       "!touch",
                                       "\\",
                                       "\\'",
                                       "\\\n",
                                       "--",
                                       "-",
                                       "-x",
                                       "--help",
                                       "-e",
                                       "=",
                                       "A=B",
                                       "A=$(touch @)",
                                       "[0]=x",
                                       "[$(touch @)]=x",
                                       "",
                                       " ",
                                       "\t",
                                       "\n",
                                       "$HOME",
                                       "$@",
                                       "\"$@\"",
                                       "$IFS",
                                       "'",
                                       "''",
                                       "'''",
                                       "\"",
                                       "\"\"",
                                       "\\\"",
                                       "$'\\n'",
                                       "$\"x\"",
                                       "EOF\ntouch @\nEOF",
                                       ")",
                                       "(",
                                       "((",
                                       "))",
                                       "}",
                                       "{",
                                       ";;",
                                       "esac",
                                       "fi",
                                       "done",
                                       "\x01",
                                       "\x7f",
                                       "\x01\x7f\x01",
                                       "\x81'",
                                       "\x81\\",
                                       "\xe0\x80",
                                       "\xc3",
                                       "\xc3\xa9",
                                       "\xed\x95\x9c\xea\xb8\x80",
                                       "\xf0\x9f\x98\x80",
                                       "\xe2\x80\x93o",
                                       "\xff\xfe",
                                       "\x1b[31m",
                                       "a b  c",
                                       " lead",
                                       "trail ",
                                       "%j",
                                       "%s%n",
                                       "%x",
                                       "\\x41",
                                       "\\041",
                                       "@(a|b)",
                                       "a#b",
                                       "# x",
                                       "/dev/null",
                                       "../../x",
                                       "+",
                                       "+e",
                                       "local",
                                       "cd",
                                       "exit 9",
                                       "ddl_on_EXIT",
                                       "ddl_say"};

std::string with_canary(std::string text, const std::string& canary) {
  for (std::size_t at = text.find('@'); at != std::string::npos; at = text.find('@', at + canary.size()))
    text.replace(at, 1, canary);
  return text;
}

std::string random_bytes(Random& random) {
  std::string text;
  const std::uint64_t length = below(random, 40);
  for (std::uint64_t i = 0; i < length; ++i) text += static_cast<char>(1 + below(random, 255));
  return text;
}

std::string signs(Random& random) {
  constexpr std::string_view alphabet = "'\"\\$`(){}[]<>|&;!#~*? \n\r\tax0=-\x01\x7f\x81\xc3\xa9";
  std::string text;
  const std::uint64_t length = 1 + below(random, 12);
  for (std::uint64_t i = 0; i < length; ++i) text += alphabet[below(random, alphabet.size())];
  return text;
}

bool chance(Random& random, std::uint64_t one_in) { return below(random, one_in) == 0; }

template <std::size_t N>
std::string pick(Random& random, const std::array<const char*, N>& words) {
  return words[below(random, N)];
}

std::string variable(Random& random, std::size_t index) {
  std::string name = "V" + std::to_string(index);
  for (std::uint64_t i = below(random, 6); i > 0; --i) name += static_cast<char>('a' + below(random, 26));
  return name + (chance(random, 3) ? "_" : "");
}

std::string path_of_host(Random& random, std::size_t index) {
  return "node" + std::to_string(index) + (chance(random, 4) ? ".cluster.example" : "");
}

void choose_shape(JobSpec& job, Random& random) {
  job.dims.gpus_per_node = static_cast<std::uint32_t>(1 + below(random, 4));
  job.dims.nodes_per_rack = static_cast<std::uint32_t>(1 + below(random, 3));
  job.dims.racks = static_cast<std::uint32_t>(1 + below(random, 2));
  if (chance(random, 2)) job.threads = static_cast<std::uint32_t>(1 + below(random, 60));
  if (chance(random, 2)) job.cores_per_node = 68;
  if (chance(random, 3)) job.hardware_threads_per_core = 4;
  if (chance(random, 2)) job.gpus_per_node = job.dims.gpus_per_node;
  if (job.gpus_per_node > 0 && job.scheduler == SchedulerKind::slurm && chance(random, 2))
    job.gpu_type = "v100";
  if (chance(random, 3)) job.memory_bytes = (1 + below(random, 300)) * (1u << 28);
  job.exclusive = !chance(random, 3);
  if (chance(random, 3))
    for (std::size_t i = 0; i < job.nodes(); ++i) job.hosts.push_back(path_of_host(random, i));
  if (job.scheduler == SchedulerKind::slurm && chance(random, 4)) job.constraint = "knl&(flat|cache)";
  if (job.scheduler == SchedulerKind::pbs && chance(random, 4)) job.constraint = "cpu_type=knl";
  if (chance(random, 2)) job.order = ddlrun::topology::RankOrder::packed;
}

void choose_life(JobSpec& job, Random& random) {
  const bool slurm = job.scheduler == SchedulerKind::slurm, local = job.scheduler == SchedulerKind::local;
  job.walltime_seconds = chance(random, 4) ? 0 : 600 + below(random, 400000);
  if (job.walltime_seconds > 0 && chance(random, 2)) job.signal.before_seconds = 120;
  if (chance(random, 2)) job.signal.name = pick(random, std::array{"USR1", "USR2", "TERM", "INT"});
  if (!local && chance(random, 4))
    job.array = ArrayRange{0, 9, static_cast<std::uint32_t>(1 + below(random, 3)), 2, {}};
  job.requeue.wanted = chance(random, 2) && (slurm || !job.array);
  if (!local && chance(random, 4)) job.dependencies = {{"afterok", "12"}, {"afterany", "13"}};
  if (!slurm && !local && !job.dependencies.empty()) job.dependencies[0].job = "12.server";
  if (chance(random, 3)) job.mail = "someone@example.org";
  if (chance(random, 3)) job.mail_events = "begin,fail";
  if (!local && chance(random, 4)) job.directives = {slurm ? "--exclude=n7" : "-W umask=077"};
}

}  // namespace

std::uint64_t below(Random& random, std::uint64_t limit) { return random() % limit; }

std::string attack_word(Random& random, const std::string& canary) {
  switch (below(random, 4)) {
    case 0:
      return random_bytes(random);
    case 1:
      return signs(random);
    case 2:
      return with_canary(attacks[below(random, attacks.size())], canary);
    default: {
      const std::string one = with_canary(attacks[below(random, attacks.size())], canary);
      return one + signs(random) + with_canary(attacks[below(random, attacks.size())], canary);
    }
  }
}

std::string attack_file_name(Random& random, const std::string& canary) {
  std::string name = attack_word(random, canary).substr(0, 120);
  for (char& c : name) c = c == '/' ? '%' : c;
  return "d" + name;
}

AttackedJob attacked_job(Random& random, const std::string& place, const std::string& canary) {
  constexpr std::array kinds{SchedulerKind::slurm, SchedulerKind::pbs, SchedulerKind::torque,
                             SchedulerKind::local};
  AttackedJob made;
  JobSpec& job = made.job;
  job.scheduler = kinds[below(random, kinds.size())];
  job.doctor = chance(random, 4) ? DoctorLevel::stop : DoctorLevel::off;
  job.dims.gpus_per_node = static_cast<std::uint32_t>(1 + below(random, 4));
  job.requeue.wanted = chance(random, 2);
  job.workdir = place + "/" + attack_file_name(random, canary);
  // Schedulers get the directory in a directive and refuse most of these; without one it may be anything.
  made.directory.path =
      job.scheduler == SchedulerKind::local ? place + "/f" + attack_file_name(random, canary) : place;
  const std::uint64_t words = 1 + below(random, 6);
  for (std::uint64_t i = 0; i < words; ++i) job.program.push_back(attack_word(random, canary));
  for (std::size_t i = below(random, 5); i > 0; --i)
    job.environment.push_back(variable(random, i) + "=" + attack_word(random, canary));
  if (chance(random, 4)) job.data = Staging{attack_word(random, canary), ""};
  if (chance(random, 6)) {
    for (int i = 0; i < 2; ++i) job.modules.push_back("m" + attack_word(random, canary));
    job.purge_modules = false;
  }
  if (chance(random, 8)) {
    job.container = Container{"i" + attack_word(random, canary), "apptainer", {attack_word(random, canary)}};
    job.program[0] = "p" + job.program[0];
  }
  if (chance(random, 3))
    job.runner = Runner::none;
  else if (job.scheduler == SchedulerKind::slurm && chance(random, 3))
    job.runner = Runner::srun;
  return made;
}

JobSpec plain_job(Random& random, SchedulerKind kind) {
  JobSpec job;
  job.scheduler = kind;
  job.name = pick(random, std::array{"train", "resnet50-4x4", "3rd.try", "a_b+c"});
  choose_shape(job, random);
  choose_life(job, random);
  if (chance(random, 2)) job.queue = kind == SchedulerKind::slurm ? "normal,debug" : "normal";
  const bool with_account = chance(random, 2);
  if (with_account) job.account = "lab42";
  if (!with_account && chance(random, 2)) job.application = "caffe";
  if (kind != SchedulerKind::torque && chance(random, 3)) job.project = "p-7";
  if (kind == SchedulerKind::slurm && chance(random, 3)) job.qos = "high";
  if (kind == SchedulerKind::slurm && chance(random, 4)) job.reservation = "course";
  if (chance(random, 2)) job.modules = {"gcc/8.3.0", "openmpi/4.1.4"};
  job.purge_modules = chance(random, 2);
  if (chance(random, 4)) job.conda = "torch";
  if (chance(random, 4)) job.venv = "/home/me/venv with blank";
  if (chance(random, 4)) job.container = Container{"/scratch/me/torch.sif", "apptainer", {"/scratch:/data"}};
  if (chance(random, 2)) job.environment = {"NCCL_DEBUG=INFO", "DATA", "PRICE=$5, `x`", "LINES=a\nb"};
  if (chance(random, 4)) job.environment = {"DATA"};
  if (chance(random, 4)) job.data = Staging{"/scratch/me/data", chance(random, 2) ? "/tmp/data" : ""};
  job.program = {"./train", "--epochs", "90"};
  if (chance(random, 2))
    job.program = {"python", "train.py", "--name", "it's $HOME", "--text", "a\nb", "\xc3\xa9"};
  if (chance(random, 3)) job.program.insert(job.program.end(), 12, "--a-rather-long-option=1");
  job.workdir = chance(random, 2) ? "/scratch/me/run" : "/scratch/me/a 'run' $x";
  if (chance(random, 3)) job.runner = kind == SchedulerKind::slurm ? Runner::srun : Runner::none;
  job.doctor = std::array{DoctorLevel::off, DoctorLevel::warn, DoctorLevel::stop}[below(random, 3)];
  job.affinity = pick(random, std::array{"auto", "off", "libgomp", "libomp"});
  return job;
}

std::string attack_directive(JobSpec& job, Random& random, const std::string& text) {
  struct Field {
    const char* key;
    std::string JobSpec::*member;
  };
  constexpr std::array<Field, 11> fields{{{"name", &JobSpec::name},
                                          {"queue", &JobSpec::queue},
                                          {"account", &JobSpec::account},
                                          {"project", &JobSpec::project},
                                          {"application", &JobSpec::application},
                                          {"qos", &JobSpec::qos},
                                          {"reservation", &JobSpec::reservation},
                                          {"constraint", &JobSpec::constraint},
                                          {"mail", &JobSpec::mail},
                                          {"output", &JobSpec::output},
                                          {"gpu_type", &JobSpec::gpu_type}}};
  const std::uint64_t which = below(random, fields.size() + 3);
  if (which == fields.size()) {
    job.hosts.assign(job.nodes(), text);
    return "hosts";
  }
  if (which == fields.size() + 1) {
    job.dependencies = {{"afterok", text}};
    return "dependency";
  }
  if (which == fields.size() + 2) {
    job.environment = {text};
    return "environment";
  }
  job.*fields[which].member = text;
  return fields[which].key;
}

Script render_any(const JobSpec& job, const JobDirectory& directory) {
  const ddlrun::templates::SiteProfile site;
  switch (job.scheduler) {
    case SchedulerKind::slurm:
      return render_slurm(job, directory, site);
    case SchedulerKind::pbs:
      return render_pbs(job, directory, site);
    case SchedulerKind::torque:
      return render_torque(job, directory, site);
    case SchedulerKind::local:
      break;
  }
  return render_local(job, directory, site);
}
