# SPDX-License-Identifier: GPL-3.0-or-later
# Puts the key list that `ingest-worker --dump-man` prints into the frame of ingest-worker.conf(5).
execute_process(COMMAND "${WORKER}" --dump-man OUTPUT_VARIABLE keys RESULT_VARIABLE result)
if(NOT result EQUAL 0)
	message(FATAL_ERROR "${WORKER} --dump-man failed: ${result}")
endif()
# mdoc wants each sentence on a line of its own.
string(REGEX REPLACE "\\. ([A-Z0-9])" ".\n\\1" keys "${keys}")
file(READ "${FRAME}" frame)
string(FIND "${frame}" "@KEYS@" at)
if(at EQUAL -1)
	message(FATAL_ERROR "${FRAME} has no line @KEYS@")
endif()
string(REPLACE "@KEYS@\n" "${keys}" page "${frame}")
file(WRITE "${OUTPUT}" "${page}")
