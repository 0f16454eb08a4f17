# SPDX-License-Identifier: GPL-3.0-or-later

# ing_room(NAME SOURCES file… [LIBS target…]): one folder's code as a static library.
function(ing_room name)
	cmake_parse_arguments(arg "" "" "SOURCES;LIBS" ${ARGN})
	add_library(${name} STATIC ${arg_SOURCES})
	target_link_libraries(${name} PUBLIC ing_flags ${arg_LIBS})
endfunction()

# ing_unit_test(NAME [SOURCES file…] [LIBS target…] [COST s] [COMPUTES] [PARTS n]): NAME.c as a cmocka program, run by ctest. COST: the
# seconds that it takes, for those that must be begun first. COMPUTES: it keeps a core busy, or measures what that took; ctest is
# run with two jobs for each core, of which it then takes both. PARTS: as n tests at once, with the arguments "1 n" … "n n".
function(ing_unit_test name)
	cmake_parse_arguments(arg "COMPUTES" "COST;PARTS" "SOURCES;LIBS" ${ARGN})
	add_executable(${name} ${name}.c ${arg_SOURCES})
	target_link_libraries(${name} PRIVATE ing_flags ${arg_LIBS} PkgConfig::CMOCKA)
	target_compile_definitions(${name} PRIVATE
		ING_TEST_DATA="${CMAKE_SOURCE_DIR}/tests/data" ING_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
		ING_BINARY_DIR="${CMAKE_BINARY_DIR}")
	set(tests ${name})
	if(arg_PARTS)
		set(tests "")
		foreach(part RANGE 1 ${arg_PARTS})
			add_test(NAME ${name}_${part} COMMAND ${name} ${part} ${arg_PARTS})
			list(APPEND tests ${name}_${part})
		endforeach()
	else()
		add_test(NAME ${name} COMMAND ${name})
	endif()
	set_tests_properties(${tests} PROPERTIES TIMEOUT 300)
	if(arg_COST)
		set_tests_properties(${tests} PROPERTIES COST ${arg_COST})
	endif()
	if(arg_COMPUTES)
		set_tests_properties(${tests} PROPERTIES PROCESSORS 2)
	endif()
endfunction()

# ing_fuzz(NAME [LIBS target…]): NAME.c is a target as tests/fuzz/target.h has it. With ING_FUZZ (clang) it is a libFuzzer
# program; otherwise it is linked with a driver that replays NAME.in/ and NAME.repro/, as a test.
function(ing_fuzz name)
	cmake_parse_arguments(arg "" "" "LIBS" ${ARGN})
	if(ING_FUZZ)
		add_executable(fuzz_${name} ${name}.c driver.c)
		target_compile_definitions(fuzz_${name} PRIVATE ING_FUZZING=1)
		target_compile_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
		target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
	else()
		add_executable(fuzz_${name} ${name}.c driver.c replay.c)
		add_test(NAME fuzz_${name} COMMAND fuzz_${name}
			"${CMAKE_CURRENT_SOURCE_DIR}/${name}.in" "${CMAKE_CURRENT_SOURCE_DIR}/${name}.repro")
		set_tests_properties(fuzz_${name} PROPERTIES TIMEOUT 300)
	endif()
	target_link_libraries(fuzz_${name} PRIVATE ing_flags ${arg_LIBS})
endfunction()
