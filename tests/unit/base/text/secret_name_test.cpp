// SPDX-License-Identifier: MIT
#include "base/text/secret_name.hpp"

#include <doctest/doctest.h>

using ddlrun::is_secret_name;

TEST_SUITE_BEGIN("base/text/secret_name");

TEST_CASE("names of secrets") {
  for (const char* name :
       {// Hugging Face, Weights & Biases, OpenAI, Comet, Neptune, GitHub, GitLab
        "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "WANDB_API_KEY", "OPENAI_API_KEY", "OPENAI_APIKEY",
        "COMET_API_KEY", "NEPTUNE_API_TOKEN", "GITHUB_TOKEN", "CI_JOB_TOKEN", "TOKENIZER_TOKEN",
        "ACCESS_TOKENS", "GITHUB_TOKEN2",
        // Amazon, Azure, Google
        "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_MFA_SERIAL",
        "AZURE_CLIENT_SECRET", "AZURE_STORAGE_KEY", "GOOGLE_APPLICATION_CREDENTIALS", "X_CREDENTIALS",
        // databases, registries, ssh, Slurm's REST interface
        "DB_PASSWORD", "db_password", "PGPASSWORD", "MYSQL_PWD", "REDIS_PASS", "SSHPASS", "ROOT_PASSWD",
        "GPG_PASSPHRASE", "KEY_PASSPHRASE", "DEPLOY_SSH_KEY", "SSH_PRIVATE_KEY", "REGISTRY_AUTH", "HTTP_AUTH",
        "MYAPP_KEY", "my_secret", "SLURM_JWT"}) {
    CAPTURE(name);
    CHECK(is_secret_name(name));
  }
}

TEST_CASE("names that only resemble those of secrets") {
  for (const char* name :
       {// the shell and the desktop
        "", "PATH", "PWD", "OLDPWD", "KEYBOARD", "XKEYSYMDB", "XAUTHORITY", "SSH_AUTH_SOCK", "SSH_ASKPASS",
        "GIT_ASKPASS", "SUDO_ASKPASS", "SSH_AGENT_PID", "KRB5CCNAME", "LD_LIBRARY_PATH", "MONKEY", "COMPASS",
        "BYPASS", "NUM_PASSES", "PASSTHROUGH",
        // machine learning
        "TOKENIZERS_PARALLELISM", "TOKENIZER_NAME", "MAX_TOKENS", "VLLM_MAX_NUM_BATCHED_TOKENS", "NUM_TOKENS",
        "TOKENS_PER_BATCH", "MASTER_ADDR", "MASTER_PORT", "HF_HOME", "WANDB_PROJECT", "WANDB_MODE",
        "CUDA_VISIBLE_DEVICES", "TORCH_NCCL_ASYNC_ERROR_HANDLING",
        // launchers, schedulers, networks, threads
        "NCCL_DEBUG", "NCCL_SOCKET_IFNAME", "NCCL_IB_PKEY", "UCX_IB_PKEY", "UCX_TLS", "OMPI_MCA_btl",
        "PMIX_SECURITY_MODE", "I_MPI_FABRICS", "FI_PROVIDER", "OMP_PLACES", "OMP_NUM_THREADS", "KMP_AFFINITY",
        "SLURM_JOB_ID", "SLURM_NTASKS_PER_NODE", "SLURM_SUBMIT_DIR", "PBS_JOBID", "PBS_NODEFILE",
        "PBS_O_WORKDIR", "MODULEPATH", "_LMFILES_", "APPTAINER_PWD", "SINGULARITY_TARGET_PWD",
        // places and public parts of secrets, and what Amazon's tools and AWS Batch set beside them
        "DDL_TOKEN_FILE", "HF_TOKEN_PATH", "DB_PASSWORD_FILE", "DDL_PUBLIC_KEY", "SSH_PUBLIC_KEY",
        "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_DEFAULT_OUTPUT", "AWS_CONFIG_FILE",
        "AWS_CA_BUNDLE", "AWS_ENDPOINT_URL", "AWS_BATCH_JOB_NODE_INDEX"}) {
    CAPTURE(name);
    CHECK_FALSE(is_secret_name(name));
  }
}

TEST_SUITE_END();
