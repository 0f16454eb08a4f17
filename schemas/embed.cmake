# SPDX-License-Identifier: GPL-3.0-or-later
# cmake -DFILES=… -DOUT=… -P embed.cmake: numbered migrations as C source, an array of bytes each, so that their
# text needs no quoting. Numbers run from 0001 without a gap.
set(arrays "")
set(table "")
set(version 0)
foreach(file IN LISTS FILES)
	math(EXPR version "${version} + 1")
	get_filename_component(name "${file}" NAME_WE)
	if(NOT name MATCHES "^([0-9][0-9][0-9][0-9])_[a-z0-9_]+$")
		message(FATAL_ERROR "${file}: not named NNNN_name.sql")
	endif()
	string(REGEX REPLACE "^0+" "" number "${CMAKE_MATCH_1}")
	if(NOT number EQUAL version)
		message(FATAL_ERROR "${file}: migration ${version} was expected here")
	endif()
	file(READ "${file}" hex HEX)
	string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${hex}")
	string(REPLACE "'\\x0a'," "'\\n',\n" bytes "${bytes}")
	string(APPEND arrays "static const char sql_${version}[] = {\n${bytes}0};\n")
	string(APPEND table "\t{${version}, \"${name}\", sql_${version}},\n")
endforeach()
file(WRITE "${OUT}" "/* Made by schemas/embed.cmake from schemas/sql. */
#include \"schemas/migrations.h\"

${arrays}
const struct ing_migration ing_migrations[] = {
${table}};
const int ing_migration_count = ${version};
")
