# ddlrun_embed(PATTERN FUNCTION HEADER NAMESPACE OUTPUT): the files of PATTERN ("profiles/*.yaml") become part of the
# binary. The variable OUTPUT gets the source to compile: FUNCTION() of HEADER and NAMESPACE returns each file's name
# without extension and its content. Some compilers limit the length of a string literal, but not of an array of bytes.
if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  set(arrays "")
  set(rows "")
  set(count 0)
  foreach(input IN LISTS INPUTS)
    get_filename_component(name "${input}" NAME_WE)
    set(array "${FUNCTION}_${count}")
    file(READ "${input}" bytes HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    string(APPEND arrays "constexpr unsigned char ${array}[] = {${bytes}};\n")
    string(APPEND rows "    {\"${name}\", {reinterpret_cast<const char*>(${array}), sizeof ${array}}},\n")
    math(EXPR count "${count} + 1")
  endforeach()
  file(WRITE "${OUTPUT}" "// Made by DdlrunEmbed.cmake.
#include \"${HEADER}\"

namespace ${NAMESPACE} {

namespace {
${arrays}}  // namespace

std::vector<std::pair<std::string, std::string_view>> ${FUNCTION}() {
  return {
${rows}  };
}

}  // namespace ${NAMESPACE}
")
  return()
endif()

set(ddlrun_embed_script "${CMAKE_CURRENT_LIST_FILE}")
function(ddlrun_embed pattern function header namespace output)
  file(GLOB inputs CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${pattern}")
  set(source "${CMAKE_CURRENT_BINARY_DIR}/${function}.cpp")
  add_custom_command(
    OUTPUT "${source}"
    COMMAND "${CMAKE_COMMAND}" "-DINPUTS=${inputs}" "-DFUNCTION=${function}" "-DHEADER=${header}"
            "-DNAMESPACE=${namespace}" "-DOUTPUT=${source}" -P "${ddlrun_embed_script}"
    DEPENDS ${inputs} "${ddlrun_embed_script}"
    VERBATIM)
  set(${output} "${source}" PARENT_SCOPE)
endfunction()
