# How everything is compiled: language, warnings, hardening, sanitizers.
include(CheckCCompilerFlag)
include(CheckPIESupported)

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_COMPILE_WARNING_AS_ERROR ${WEFT_WERROR})
set(CMAKE_UNITY_BUILD OFF) # static names are a file's own
if(PROJECT_IS_TOP_LEVEL)
	set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
endif()
set(THREADS_PREFER_PTHREAD_FLAG ON)
check_pie_supported()

# The empty value lets a file say `#define _GNU_SOURCE` for itself as well. C++ has it.
add_compile_definitions($<$<COMPILE_LANGUAGE:C>:_GNU_SOURCE=>)

add_compile_options(
	$<$<COMPILE_LANGUAGE:C>:-Wall>
	$<$<COMPILE_LANGUAGE:C>:-Wextra>
	$<$<COMPILE_LANGUAGE:C>:-Wshadow>
	$<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes>
	$<$<COMPILE_LANGUAGE:C>:-Wmissing-prototypes>
	$<$<COMPILE_LANGUAGE:C>:-Wpointer-arith>
	$<$<COMPILE_LANG_AND_ID:C,Clang>:-Wthread-safety>)

# The warnings of the project around are for its own code.
if(NOT PROJECT_IS_TOP_LEVEL)
	add_compile_options(-w)
endif()

# Reports name files as the source tree does, on whatever machine.
add_compile_options(-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)

function(weft_flag flag)
	string(MAKE_C_IDENTIFIER "WEFT_HAS${flag}" name)
	check_c_compiler_flag("-Werror ${flag}" ${name})
	if(${name})
		add_compile_options($<$<COMPILE_LANGUAGE:C>:${flag}>)
	endif()
endfunction()

# Leaves have no frame pointer, as with gcc by itself.
add_compile_options(-fno-omit-frame-pointer -momit-leaf-frame-pointer)
weft_flag(-fstack-protector-strong)
weft_flag(-fstack-clash-protection)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
	add_compile_options(-fcf-protection)
endif()
add_link_options(-Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)

# gcc warns of fences that TSan does not model; what matters is what it reports.
set(WEFT_SANITIZE_CFLAGS_tsan $<$<COMPILE_LANG_AND_ID:C,GNU>:-Wno-tsan>)

if(WEFT_SANITIZE STREQUAL "")
	# Builds that do not optimise would only warn of it.
	set(optimised $<CONFIG:Release,RelWithDebInfo,MinSizeRel>)
	add_compile_options($<${optimised}:-U_FORTIFY_SOURCE> $<${optimised}:-D_FORTIFY_SOURCE=2>)
elseif(WEFT_SANITIZE STREQUAL "address+undefined")
	add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all)
	add_link_options(-fsanitize=address,undefined)
elseif(WEFT_SANITIZE STREQUAL "thread")
	add_compile_options(-fsanitize=thread ${WEFT_SANITIZE_CFLAGS_tsan})
	add_link_options(-fsanitize=thread)
else()
	message(FATAL_ERROR "WEFT_SANITIZE: unknown: ${WEFT_SANITIZE}")
endif()
