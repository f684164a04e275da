# weft_library(TARGET STATIC|SHARED) makes the library of all of src/.
file(GLOB WEFT_SOURCES CONFIGURE_DEPENDS
	${PROJECT_SOURCE_DIR}/src/*/*.c ${PROJECT_SOURCE_DIR}/src/*/*.S)

# Code for one CPU says so at the end of its name, as switch_x86_64.S does.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
	list(FILTER WEFT_SOURCES EXCLUDE REGEX "_aarch64\\.[cS]$")
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
	list(FILTER WEFT_SOURCES EXCLUDE REGEX "_x86_64\\.[cS]$")
else()
	message(FATAL_ERROR "Weft knows x86-64 and aarch64, not ${CMAKE_SYSTEM_PROCESSOR}")
endif()

# Settings that the library and those who compile its sources (sim) share.
add_library(weft_settings INTERFACE)
target_compile_definitions(weft_settings INTERFACE
	$<$<BOOL:${WEFT_DEBUG}>:WEFT_DEBUG>
	$<$<BOOL:${WEFT_FAULTS}>:WEFT_FAULTS>
	$<$<BOOL:${WEFT_TINY}>:WEFT_TINY>
	$<$<BOOL:${WEFT_HAVE_URING}>:WEFT_HAVE_URING>
	$<$<BOOL:${WEFT_HAVE_CARES}>:WEFT_HAVE_CARES>
	$<$<BOOL:${WEFT_HAVE_SDT}>:WEFT_HAVE_SDT>
	$<$<BOOL:${WEFT_HAVE_VALGRIND}>:WEFT_HAVE_VALGRIND>)

function(weft_library target kind)
	add_library(${target} ${kind} ${WEFT_SOURCES})
	target_include_directories(${target}
		PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
			$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
		PRIVATE ${PROJECT_SOURCE_DIR}/src ${URING_INCLUDE_DIRS} ${CARES_INCLUDE_DIRS})
	target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:weft_settings>)
	target_link_libraries(${target} PUBLIC Threads::Threads)
	if(WEFT_HAVE_URING)
		target_link_libraries(${target} PRIVATE uring)
		target_link_directories(${target} PRIVATE ${URING_LIBRARY_DIRS})
	endif()
	if(WEFT_HAVE_CARES)
		target_link_libraries(${target} PRIVATE cares)
		target_link_directories(${target} PRIVATE ${CARES_LIBRARY_DIRS})
	endif()
	if(kind STREQUAL "STATIC")
		# For executables: the worker of a thread is then one load away.
		set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
		target_compile_options(${target} PRIVATE -fPIE)
	endif()
endfunction()
