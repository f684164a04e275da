# What Weft uses if it is there. Sets WEFT_HAVE_URING, WEFT_HAVE_CARES,
# WEFT_HAVE_SDT and WEFT_HAVE_VALGRIND; AUTO takes what it finds, ON insists,
# OFF does not look.
include(CheckIncludeFile)
find_package(Threads REQUIRED)
find_package(PkgConfig)

foreach(option WEFT_URING WEFT_CARES WEFT_SDT WEFT_VALGRIND)
	if(NOT ${option} MATCHES "^(AUTO|ON|OFF)$")
		message(FATAL_ERROR "${option} must be AUTO, ON or OFF, not ${${option}}")
	endif()
endforeach()

function(weft_optional name module)
	set(found OFF)
	if(NOT WEFT_${name} STREQUAL "OFF" AND PKG_CONFIG_FOUND)
		pkg_check_modules(${name} QUIET ${module})
		if(${name}_FOUND)
			set(found ON)
		endif()
	endif()
	if(WEFT_${name} STREQUAL "ON" AND NOT found)
		message(FATAL_ERROR "WEFT_${name}=ON, but pkg-config does not know ${module}")
	endif()
	set(WEFT_HAVE_${name} ${found} PARENT_SCOPE)
endfunction()

weft_optional(URING liburing)
weft_optional(CARES libcares)

# For what is only a header.
function(weft_optional_header name header)
	set(found OFF)
	if(NOT WEFT_${name} STREQUAL "OFF")
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
message(STATUS "Weft ${PROJECT_VERSION}: io_uring ${WEFT_HAVE_URING}, "
	"c-ares ${WEFT_HAVE_CARES}, probes ${WEFT_HAVE_SDT}, valgrind ${WEFT_HAVE_VALGRIND}")
