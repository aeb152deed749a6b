# cmake -DDIRECTORY=DIR -DOUTPUT=FILE.cpp -P embed.cmake: the bytes of DIR/*.yaml as builtin_signature_files(). Bytes,
# because some compilers limit the length of a string literal.
file(GLOB inputs LIST_DIRECTORIES false "${DIRECTORY}/*.yaml")
list(SORT inputs)
set(arrays "")
set(rows "")
foreach(input IN LISTS inputs)
  get_filename_component(name "${input}" NAME_WE)
  file(READ "${input}" bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n"
         bytes "${bytes}")
  string(APPEND arrays "constexpr unsigned char ${name}[] = {\n${bytes}\n};\n")
  string(APPEND rows
         "    {\"${name}.yaml\", {reinterpret_cast<const char*>(${name}), sizeof ${name}}},\n")
endforeach()
file(WRITE "${OUTPUT}" "// Made from signatures/*.yaml by embed.cmake.
#include \"doctor/diagnose/signatures_yaml.hpp\"

namespace ddlrun::diagnose {

namespace {
${arrays}
}  // namespace

std::vector<SignatureFile> builtin_signature_files() {
  return {
${rows}  };
}

}  // namespace ddlrun::diagnose
")
