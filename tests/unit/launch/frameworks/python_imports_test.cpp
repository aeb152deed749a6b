// SPDX-License-Identifier: MIT
#include "launch/frameworks/python_imports.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using ddlrun::frameworks::PythonWords;
using ddlrun::frameworks::read_python_words;

TEST_SUITE_BEGIN("launch/frameworks/python_imports");

TEST_CASE("imports in the forms that Python has") {
  struct Row {
    std::string text, module;
    int line;  // 0: not imported
  };
  const std::vector<Row> rows{
      {"import horovod.tensorflow as hvd\n", "horovod", 1},
      {"import os, torch.distributed as dist\n", "torch.distributed", 1},
      {"import os; import horovod\n", "horovod", 1},
      {"\n\nfrom torch.nn.parallel import (\n    DataParallel,\n    DistributedDataParallel as DDP,\n)\n",
       "torch.nn.parallel.DistributedDataParallel", 3},
      {"from horovod import torch as hvd\n", "horovod", 1},
      {"from horovod import torch as hvd\n", "torch", 0},
      {"try:\n    import horovod.torch as hvd\nexcept ImportError:\n    pass\n", "horovod.torch", 2},
      {"import horovodish\n", "horovod", 0},
      {"# import horovod\n", "horovod", 0},
      {"x = 1  # import horovod\n", "horovod", 0},
      {"'''\nimport horovod\n'''\n", "horovod", 0},
      {"\"\"\"doc\n\"quoted\" import\nimport horovod\n\"\"\"\nimport os\n", "os", 5},
      {"s = 'it\\'s # no comment'; import horovod\n", "horovod", 1},
      {"s = \"unclosed\nimport horovod\n", "horovod", 2},
      {"f(1,\n  2)\nimport \\\n  horovod\n", "horovod", 3},
      {"print('import horovod')\n", "horovod", 0},
      {"import horovod", "horovod", 1},
      {"import horovod\r\n", "horovod", 1},
      {"", "horovod", 0}};
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK(read_python_words(row.text).imports_module(row.module) == row.line);
  }
}

TEST_CASE("files beside a script that its imports may mean") {
  CHECK(
      frameworks::imported_files(frameworks::read_python_words("from models.net import Net\nfrom . import x\n"
                                                               "import models\n")) ==
      std::vector<std::string>{"x.py", "x/__init__.py", "models.py", "models/__init__.py", "models/net.py"});
  CHECK(frameworks::imported_files(frameworks::read_python_words("x = 1\n")).empty());
}

TEST_CASE("names of the code, not of strings and comments") {
  const PythonWords words = read_python_words(
      "# MirroredStrategy\nparser.add('--ps_hosts')\nFLAGS.ps_hosts.split(',')\nm = "
      "tf.distribute.MirroredStrategy()\n");
  CHECK(words.names_word("ps_hosts") == 3);
  CHECK(words.names_word("MirroredStrategy") == 4);
  CHECK(words.names_word("Mirrored") == 0);
}

TEST_CASE("any bytes are read to their end") {
  for (const std::string& text :
       {std::string("'''"), std::string("\\"), std::string("\"\\"), std::string(300000, '('),
        std::string("\0\xff import x\n", 12), std::string("'''\\")}) {
    CHECK(read_python_words(text).imports_module("horovod") == 0);
  }
}

TEST_SUITE_END();
