# What Weft and its apps use if it is there. Sets WEFT_HAVE_URING, WEFT_HAVE_CARES,
# WEFT_HAVE_SDT, WEFT_HAVE_VALGRIND, WEFT_HAVE_TAME, WEFT_HAVE_TLS and WEFT_HAVE_H2; AUTO takes what it
# finds, ON insists, OFF does not look.
include(CheckIncludeFile)
find_package(Threads REQUIRED)
find_package(PkgConfig)

foreach(option WEFT_URING WEFT_CARES WEFT_SDT WEFT_VALGRIND WEFT_TAME WEFT_TLS WEFT_H2)
	if(NOT ${option} MATCHES "^(AUTO|ON|OFF)$")
		message(FATAL_ERROR "${option} must be AUTO, ON or OFF, not ${${option}}")
	endif()
endforeach()

function(weft_optional name module)
	set(found OFF)
	if(NOT WEFT_${name} STREQUAL "OFF" AND PKG_CONFIG_FOUND)
		pkg_check_modules(WEFT_${name} QUIET ${module})
		if(WEFT_${name}_FOUND)
			set(found ON)
		endif()
	endif()
	if(WEFT_${name} STREQUAL "ON" AND NOT found)
		message(FATAL_ERROR "WEFT_${name}=ON, but pkg-config does not know ${module}")
	endif()
	set(WEFT_HAVE_${name} ${found} PARENT_SCOPE)
endfunction()

weft_optional(URING liburing>=2.3)
weft_optional(CARES libcares)
weft_optional(TLS openssl>=3)
weft_optional(H2 libnghttp2)

# For what is only a header.
function(weft_optional_header name header)
	set(found OFF)
	if(NOT WEFT_${name} STREQUAL "OFF")
		if(NOT WEFT_${name}_HEADER)
			unset(WEFT_${name}_HEADER CACHE) # it may be there by now
		endif()
		check_include_file(${header} WEFT_${name}_HEADER)
		if(WEFT_${name}_HEADER)
			set(found ON)
		elseif(WEFT_${name} STREQUAL "ON")
			message(FATAL_ERROR "WEFT_${name}=ON, but there is no ${header}")
		endif()
	endif()
	set(WEFT_HAVE_${name} ${found} PARENT_SCOPE)
endfunction()

weft_optional_header(SDT sys/sdt.h)
weft_optional_header(VALGRIND valgrind/valgrind.h)

# weft-tame needs no more than a compiler to be built; to run, here, it loads libclang.
function(weft_optional_tame)
	set(found OFF)
	if(NOT WEFT_TAME STREQUAL "OFF")
		find_program(WEFT_LDCONFIG ldconfig PATHS /sbin /usr/sbin NO_CMAKE_FIND_ROOT_PATH)
		mark_as_advanced(WEFT_LDCONFIG)
		if(WEFT_LDCONFIG)
			execute_process(COMMAND ${WEFT_LDCONFIG} -p OUTPUT_VARIABLE known ERROR_QUIET)
		endif()
		if(known MATCHES "libclang(-[0-9]+)?\\.so" OR NOT "$ENV{WEFT_LIBCLANG}" STREQUAL "")
			set(found ON)
		elseif(WEFT_TAME STREQUAL "ON")
			message(FATAL_ERROR "WEFT_TAME=ON, but there is no libclang")
		endif()
	endif()
	set(WEFT_HAVE_TAME ${found} PARENT_SCOPE)
endfunction()
weft_optional_tame()

message(STATUS "Weft ${PROJECT_VERSION}: io_uring ${WEFT_HAVE_URING}, "
	"c-ares ${WEFT_HAVE_CARES}, probes ${WEFT_HAVE_SDT}, valgrind ${WEFT_HAVE_VALGRIND}, "
	"libclang ${WEFT_HAVE_TAME}, TLS ${WEFT_HAVE_TLS}, HTTP/2 ${WEFT_HAVE_H2}")
