# SPDX-License-Identifier: GPL-3.0-or-later
# Writes FRAME to OUTPUT, with what `PROGRAM help --print NAME` prints in place of each line "@PART NAME@", DATE in place of @DATE@.
cmake_minimum_required(VERSION 3.25)
file(READ "${FRAME}" page)
while(page MATCHES "@PART ([a-z]+)@\n")
	set(line "${CMAKE_MATCH_0}")
	execute_process(COMMAND "${PROGRAM}" help --print "${CMAKE_MATCH_1}" OUTPUT_VARIABLE part RESULT_VARIABLE result)
	if(NOT result EQUAL 0)
		message(FATAL_ERROR "${PROGRAM} help --print ${CMAKE_MATCH_1} failed: ${result}")
	endif()
	string(REPLACE "${line}" "${part}" page "${page}")
endwhile()
string(REPLACE "@DATE@" "${DATE}" page "${page}")
file(WRITE "${OUTPUT}" "${page}")
