# cmake -DINPUTS=A.yaml;B.yaml -DOUTPUT=FILE.cpp -P embed_nets.cmake: each file's name and bytes, as
# builtin_nets().
set(arrays "")
set(rows "")
set(count 0)
foreach(input IN LISTS INPUTS)
  get_filename_component(name "${input}" NAME_WE)
  file(READ "${input}" bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(APPEND arrays "constexpr unsigned char net_bytes_${count}[] = {${bytes}};\n")
  string(APPEND rows "    {\"${name}\", {reinterpret_cast<const char*>(net_bytes_${count}), sizeof net_bytes_${count}}},\n")
  math(EXPR count "${count} + 1")
endforeach()
file(WRITE "${OUTPUT}" "// Made from nets/*.yaml by embed_nets.cmake.
#include \"runtime/net_library.hpp\"

namespace ddlrun::runtime {

namespace {
${arrays}}  // namespace

std::vector<std::pair<std::string, std::string_view>> builtin_nets() {
  return {
${rows}  };
}

}  // namespace ddlrun::runtime
")
