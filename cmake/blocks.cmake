# What those who write weft_async in C must tell the compiler: the target weft_async, and
# WEFT_ASYNC_CFLAGS for pkg-config. First the canary tells whether the compiler makes
# blocks as it must (WEFT_BLOCKS); if not, weft_async is an error that says so.
set(canary ${PROJECT_BINARY_DIR}/canary ${PROJECT_SOURCE_DIR}/cmake/canary.c
	COMPILE_DEFINITIONS -fopenmp -O2 -I${PROJECT_SOURCE_DIR}/include)
if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
	try_compile(WEFT_CANARY_COMPILES ${canary})
	set(WEFT_CANARY_EXIT 0)
else()
	try_run(WEFT_CANARY_EXIT WEFT_CANARY_COMPILES ${canary})
endif()
if(WEFT_CANARY_COMPILES AND WEFT_CANARY_EXIT EQUAL 0)
	set(WEFT_BLOCKS ON)
	set(WEFT_ASYNC_CFLAGS -fopenmp)
else()
	set(WEFT_BLOCKS OFF)
	set(WEFT_ASYNC_CFLAGS -DWEFT_NO_BLOCKS)
	message(WARNING "no weft_async in C: this compiler's blocks are not as Weft needs them "
		"(compiles: ${WEFT_CANARY_COMPILES}, exit code: ${WEFT_CANARY_EXIT}); "
		"weft_async_call and C++ have all that it has")
endif()

add_library(weft_async INTERFACE)
target_compile_options(weft_async INTERFACE $<$<COMPILE_LANGUAGE:C>:${WEFT_ASYNC_CFLAGS}>)
set_target_properties(weft_async PROPERTIES EXPORT_NAME async)
add_library(Weft::async ALIAS weft_async)
