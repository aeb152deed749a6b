# cmake -DINPUTS=A.yaml;B.yaml -DOUTPUT=FILE.cpp -P embed_profiles.cmake: each file's name and bytes, as
# builtin_profiles().
set(arrays "")
set(rows "")
set(count 0)
foreach(input IN LISTS INPUTS)
  get_filename_component(name "${input}" NAME_WE)
  file(READ "${input}" bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(APPEND arrays "constexpr unsigned char bytes_${count}[] = {${bytes}};\n")
  string(APPEND rows "    {\"${name}\", {reinterpret_cast<const char*>(bytes_${count}), sizeof bytes_${count}}},\n")
  math(EXPR count "${count} + 1")
endforeach()
file(WRITE "${OUTPUT}" "// Made from profiles/*.yaml by embed_profiles.cmake.
#include \"templates/site_profile.hpp\"

namespace ddlrun::templates {

namespace {
${arrays}}  // namespace

std::vector<std::pair<std::string, std::string_view>> builtin_profiles() {
  return {
${rows}  };
}

}  // namespace ddlrun::templates
")
