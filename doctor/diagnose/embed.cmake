# cmake -DINPUT=FILE -DOUTPUT=FILE.cpp -P embed.cmake: the file's bytes as builtin_signatures_text().
file(READ "${INPUT}" bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n"
       bytes "${bytes}")
file(WRITE "${OUTPUT}" "// Made from signatures.yaml by embed.cmake.
#include \"doctor/diagnose/signatures_yaml.hpp\"

namespace ddlrun::diagnose {

namespace {
constexpr unsigned char bytes[] = {
${bytes}
};
}  // namespace

std::string_view builtin_signatures_text() {
  return {reinterpret_cast<const char*>(bytes), sizeof bytes};
}

}  // namespace ddlrun::diagnose
")
