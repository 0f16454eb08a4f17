# SPDX-License-Identifier: GPL-3.0-or-later
# cmake -DFILES=… -DOUT=… -P embed.cmake: files as C source, an array of bytes each. Each is served under its name.
set(arrays "")
set(table "")
set(number 0)
foreach(file IN LISTS FILES)
	get_filename_component(name "${file}" NAME)
	get_filename_component(ending "${file}" LAST_EXT)
	if(name STREQUAL "ingest-api.openapi.json")
		set(name "openapi.json")
	endif()
	set(type_.js "text/javascript; charset=utf-8")
	set(type_.css "text/css; charset=utf-8")
	set(type_.json "application/json")
	file(READ "${file}" hex HEX)
	string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${hex}")
	string(REPLACE "'\\x0a'," "'\\n',\n" bytes "${bytes}")
	string(APPEND arrays "static const char file_${number}[] = {\n${bytes}0};\n")
	string(APPEND table
		"\t{\"/${name}\", \"${type_${ending}}\", file_${number}, sizeof(file_${number}) - 1},\n")
	math(EXPR number "${number} + 1")
endforeach()
file(WRITE "${OUT}" "/* Made by worker/serve/embed.cmake. */
#include \"worker/serve/files.h\"

${arrays}
const struct ing_serve_file ing_serve_files[] = {
${table}};
const size_t ing_serve_file_count = ${number};
")
