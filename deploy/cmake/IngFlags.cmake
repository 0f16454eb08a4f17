# SPDX-License-Identifier: GPL-3.0-or-later
# One interface target, ing_flags, carries the language level, warnings, hardening and sanitizers, so that
# no folder edits global flags.
option(ING_WERROR "Treat warnings as errors" OFF)
option(ING_SANITIZE "Build with AddressSanitizer and UndefinedBehaviorSanitizer" OFF)
option(ING_FUZZ "Build libFuzzer targets (clang); without it they replay their seeds" OFF)
option(ING_TESTS "Build the tests" ON)

if(NOT CMAKE_BUILD_TYPE)
	set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()

add_library(ing_flags INTERFACE)
target_compile_features(ing_flags INTERFACE c_std_17)
target_include_directories(ing_flags INTERFACE "${CMAKE_SOURCE_DIR}" "${CMAKE_BINARY_DIR}")
target_compile_definitions(ing_flags INTERFACE _GNU_SOURCE)
target_compile_options(ing_flags INTERFACE
	-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wwrite-strings -Wcast-qual
	-Wformat=2 -Wvla -Wnull-dereference -Wimplicit-fallthrough -Wconversion
	-fno-omit-frame-pointer -fstack-protector-strong -fno-common)
if(ING_WERROR)
	target_compile_options(ing_flags INTERFACE -Werror)
endif()
if(ING_FUZZ)
	# Coverage of the code under test, not only of the target's own file.
	target_compile_options(ing_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(ING_SANITIZE)
	target_compile_definitions(ing_flags INTERFACE ING_SANITIZED=1)
	target_compile_options(ing_flags INTERFACE
		-fsanitize=address,undefined -fno-sanitize-recover=undefined)
	target_link_options(ing_flags INTERFACE -fsanitize=address,undefined)
else()
	target_compile_options(ing_flags INTERFACE $<$<NOT:$<CONFIG:Debug>>:-D_FORTIFY_SOURCE=2>)
endif()
target_link_options(ing_flags INTERFACE -Wl,-z,relro,-z,now)
