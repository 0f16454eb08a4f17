# SPDX-License-Identifier: GPL-3.0-or-later
# cmake -DDIR=… -DOUT=… -P embed_page.cmake: status_page.css and status_page.js as C strings.
set(arrays "")
foreach(ending css js)
	file(READ "${DIR}/status_page.${ending}" hex HEX)
	string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${hex}")
	string(REPLACE "'\\x0a'," "'\\n',\n" bytes "${bytes}")
	string(APPEND arrays "const char ing_status_page_${ending}[] = {\n${bytes}0};\n")
endforeach()
file(WRITE "${OUT}" "/* Made by worker/service/embed_page.cmake. */
#include \"worker/service/status_page_files.h\"

${arrays}")
