// SPDX-License-Identifier: MIT
// The comments of waiting jobs in PBS, and the messages of qsub, qstat and qdel when they refuse.
#include "base/text/text.hpp"
#include "schedulers/pbs/pbs_answers.hpp"

#include <fmt/format.h>

#include <utility>

namespace ddlrun::schedulers {

namespace {

using Phrase = std::string_view;

// "ncpus (R: 340 A: 272 T: 272)": requested, free, there are in all.
struct Shortage {
  std::string resource, asked, free, total;
};

std::string word_after(Phrase text, Phrase key) {
  const std::size_t at = text.find(key);
  if (at == Phrase::npos) return "";
  const Phrase rest = text.substr(at + key.size());
  return std::string(rest.substr(0, rest.find_first_of(" )")));
}

Shortage parse_shortage(Phrase comment) {
  return {word_after(comment, "resource: "), word_after(comment, "R: "), word_after(comment, "A: "),
          word_after(comment, "T: ")};
}

std::string explain_never(Phrase comment) {
  const Shortage shortage = parse_shortage(comment);
  std::string fact = "it can never run";
  // PBS compares a chunk with one host, or all chunks with all hosts, and does not say which.
  if (!shortage.resource.empty() && !shortage.total.empty())
    fact = fmt::format("it requests {} {}, more than the {} of a host, or of all hosts", shortage.asked,
                       shortage.resource, shortage.total);
  else if (comment.find("nodes") != Phrase::npos)
    fact = "it requests more nodes than there are";
  return fact + ": it would wait forever";
}

std::string explain_shortage(Phrase comment) {
  const Shortage shortage = parse_shortage(comment);
  if (shortage.resource == "host") return "a host that it requests by name is taken or down: pbsnodes -l";
  if (!shortage.asked.empty())
    return fmt::format("it waits for {} {}; {} of {} are free now", shortage.asked, shortage.resource,
                       shortage.free, shortage.total);
  return fmt::format(
      "not enough {} free; if this stays while hosts are idle, no single host has what one chunk asks for: "
      "compare "
      "with `pbsnodes -a`",
      shortage.resource.empty() ? "of something" : shortage.resource);
}

// The first whose words occur.
constexpr std::pair<Phrase, Phrase> kComments[] = {
    {"Queue not started", "its queue accepts jobs but starts none now: qstat -Q"},
    {"Queue not an execution queue", "its queue only passes jobs on; another --queue may run it: qstat -Q"},
    {"User has reached", "as many of your jobs run as you may have at once; it waits for one of them"},
    {"would exceed", "a limit of the queue or of yours is reached; it waits for one of your jobs"},
    {"Group has reached", "your group has as many jobs running as it may; it waits for one of them"},
    {"has reached", "a limit on running jobs is reached; it waits for one to end: qstat -Qf"},
    {"limit reached", "a limit of the queue or of yours is reached: qstat -Qf"},
    {"conflict with reservation",
     "a reservation or a job of higher priority needs the hosts before its walltime "
     "would end; a shorter walltime may fit in before it"},
    {"dedicated time",
     "a maintenance begins before its walltime would end; a shorter one may fit in before it"},
    {"prime time", "it may start only at the queue's own hours, or its walltime crosses their end"},
    {"Draining", "the system is being emptied for a large job; it waits"},
    {"Not enough free nodes", "enough hosts are there, but not free; it waits"},
    {"Not enough total nodes", "it requests more hosts than there are: pbsnodes -a"},
    {"No available resources on nodes", "no host has all that one chunk requests free now: pbsnodes -a"},
    {"Host set to", "a host that it requests by name is taken or down: pbsnodes -l"},
    {"held, too many failed attempts",
     "it failed to start again and again and is held: qrls when it is mended"},
    {"Placement set", "its hosts must be in one group, and no such group is free"},
    {"Fairshare", "you have used more than your share lately; it waits for the others"},
    {"License", "it waits for a licence"},
};

constexpr Phrase kTryAgain = "qstat -B; try again in some minutes, jobs that run go on meanwhile";

constexpr Phrase kWrapper = "--slurm on a login node of Slurm, --pbs on one of PBS: command -v qsub sbatch";

// By words first, as one exit status has several; then by exit status (the number of the error, modulo 256).
constexpr KnownError kPbsRefusals[] = {
    // qsub of Debian's slurm-wlm-torque, which calls sbatch.
    {0, "Could not establish a configuration source",
     "no server answers: qsub is Slurm's wrapper here, and this host has no Slurm configuration", kWrapper,
     true},
    {0, "Unable to contact slurm controller", "no server answers: qsub is Slurm's wrapper here", kWrapper,
     true},
    {0, "pbsconf error", "this host has no PBS configuration, so no server is known",
     "a login node of the cluster; /etc/pbs.conf names the server", true},
    {0, "trqauthd", "Torque's trqauthd, which proves who you are to the server, does not answer",
     "a login node of the cluster; trqauthd must run on this host", true},
    {0, "Cannot connect to default server", "the PBS server does not answer", kTryAgain, true},
    {0, "Unknown Host", "the name of the PBS server does not resolve on this host",
     "a login node of the cluster; qstat -B SERVER, or PBS_SERVER of /etc/pbs.conf", true},
    {0, "cannot connect to server", "the PBS server does not answer", kTryAgain, true},
    {0, "Connection refused", "the PBS server does not answer", kTryAgain, true},
    {0, "pbs_iff", "this host cannot prove to PBS who you are",
     "ask the administrators whether this host may submit jobs; use a login node", true},
    {0, "Communication failure", "the connection to the PBS server broke", kTryAgain, true},
    {0, "Expired credential", "the PBS server does not take this host's proof of who you are", kTryAgain,
     true},
    {0, "directive error", "qsub does not support a #PBS line", "ddlrun lint-script FILE"},
    {0, "contains cr, lf", "the script has Windows line ends", "sed -i 's/\\r$//' FILE"},
    {0, "illegal -N value",
     "the job's name holds what PBS does not take: a blank, or more than 230 characters", "--name train"},
    {0, "Job name is too long", "the job's name has more characters than this PBS takes", "--name train"},
    {0, "llegal -l value", "a resource line is malformed", "ddlrun lint-script FILE"},
    {0, "cannot be used with \"select\"", "two styles of asking for hosts are mixed",
     "drop -l ncpus=, mem=, ... outside of select from `directives`"},
    {0, "Cannot be used with select or place", "two styles of asking for hosts are mixed",
     "drop -l nodes= from `directives`, or the site profile"},
    {0, "Unknown queue", "there is no such queue", "qstat -Q; then --queue NAME"},
    {0, "Unknown resource: ngpus", "this site has no resource `ngpus`",
     "--gpus 0, or the site's own name for GPUs in `directives`: pbsnodes -a shows it"},
    {0, "Unknown resource", "this site has no resource of that name", "pbsnodes -a; qmgr -c 'list resource'"},
    {0, "Job violates queue and/or server resource limits",
     "the walltime or the size is above what the queue allows (or below)",
     "qstat -Qf shows resources_max; then --walltime, --queue or fewer nodes"},
    {0, "exceeds queue resource limits", "the walltime or the size is above what the queue allows",
     "qstat -Qf shows resources_max; then --walltime, --queue or fewer nodes"},
    {0, "Illegal attribute or resource value", "a resource's value is malformed",
     "ddlrun lint-script FILE: select needs N >= 1, walltime HH:MM:SS"},
    {0, "No default queue", "this site has no default queue", "qstat -Q; then --queue NAME"},
    {0, "Queue is not enabled", "the queue takes no jobs now", "qstat -Q; then another --queue, or later"},
    {0, "Access to queue is denied", "the queue is not for you, your group or this host",
     "qstat -Qf shows acl_users and acl_groups; then another --queue"},
    {0, "Not allowed to submit", "the queue is not for you or your group", "qstat -Q; then another --queue"},
    {0, "Maximum number of jobs already in queue", "the queue is full",
     "qstat -Q; then later, or another --queue"},
    {0, "would exceed", "a limit on your waiting jobs is reached",
     "ddlrun status; then cancel some, or later"},
    {0, "Bad UID for job execution", "PBS does not have your user on the server, or refuses root",
     "submit as an ordinary user of the cluster"},
    {0, "nvalid account", "the account or the application code is not one the site takes",
     "--account or --application as the site's guide lists them"},
    {0, "Invalid project", "there is no such project", "--project NAME"},
    {0, "Undefined attribute", "this PBS does not support an option of the script",
     "ddlrun lint-script FILE"},
    {0, "script file", "qsub cannot read the script", "ls -l FILE"},
    {0, "hook", "a hook of the site refused it",
     "its own message gives the reason; ask the site's help desk"},
    {0, "dependency", "the job it shall depend on is unknown, or already over", "ddlrun status"},
    {0, "Unauthorized Request",
     "that is not yours to do, the queue is not for you, or this host may not submit",
     "qstat -Qf shows acl_users, acl_groups and acl_hosts; then another --queue, or a login node"},
    {154, "", "this PBS does not support an option of the script", "ddlrun lint-script FILE"},
    {159, "", "that is not yours to do, or this host may not submit", "use a login node"},
    {160, "", "this host may not talk to the PBS server", "use a login node", true},
    {162, "", "the PBS server does not answer, or failed", kTryAgain, true},
    {166, "", "a resource's value is malformed", "ddlrun lint-script FILE"},
    {170, "", "there is no such queue", "qstat -Q; then --queue NAME"},
    {173, "", "the queue takes no jobs now", "qstat -Q; then another --queue, or later"},
    {174, "", "the queue is not for you", "qstat -Q; then another --queue"},
    {175, "", "PBS does not have your user on the server, or refuses root", "submit as an ordinary user"},
    {187, "", "this site has no resource of that name", "pbsnodes -a; then the site's own name for it"},
    {188, "", "the walltime or the size is above what the queue allows",
     "qstat -Qf shows resources_max; then --walltime, --queue or fewer nodes"},
    {255, "", "the PBS server does not answer", kTryAgain, true},
    {5, "", "two styles of asking for hosts are mixed", "ddlrun lint-script FILE"},
    {6, "", "two styles of asking for hosts are mixed", "ddlrun lint-script FILE"},
    {2, "", "an option of the script is malformed", "ddlrun lint-script FILE"},
};

}  // namespace

std::string explain_pbs_comment(Phrase comment) {
  if (comment.find("Can Never Run") != Phrase::npos) return explain_never(comment);
  if (comment.find("Insufficient amount of") != Phrase::npos) return explain_shortage(comment);
  for (const auto& [words, text] : kComments)
    if (comment.find(words) != Phrase::npos) return std::string(text);
  return "";
}

std::span<const KnownError> pbs_refusals() { return kPbsRefusals; }

}  // namespace ddlrun::schedulers
