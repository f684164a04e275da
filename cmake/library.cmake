# weft_library(TARGET STATIC|SHARED) makes the library of all of src/. weft_libraries(NAME) makes
# both kinds, as they are installed.
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

# What the code of a library is compiled with, and what it is linked with.
function(weft_library_options target)
	target_include_directories(${target}
		PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
			$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
		PRIVATE ${PROJECT_SOURCE_DIR}/src ${WEFT_URING_INCLUDE_DIRS}
			${WEFT_CARES_INCLUDE_DIRS})
	target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:weft_settings>)
	target_link_libraries(${target} PUBLIC Threads::Threads)
	if(WEFT_HAVE_URING)
		target_link_libraries(${target} PRIVATE uring)
		target_link_directories(${target} PRIVATE ${WEFT_URING_LIBRARY_DIRS})
	endif()
	if(WEFT_HAVE_CARES)
		target_link_libraries(${target} PRIVATE cares)
		target_link_directories(${target} PRIVATE ${WEFT_CARES_LIBRARY_DIRS})
	endif()
	# Calls within the library go to the library's own functions.
	target_compile_options(${target} PRIVATE -fno-semantic-interposition)
endfunction()

function(weft_library target kind)
	add_library(${target} ${kind} ${WEFT_SOURCES})
	weft_library_options(${target})
endfunction()

# NAME_static and NAME_shared, which others know as Weft::NAME_static and Weft::NAME, in files
# libNAME.* (with - for _). Both are of the same objects, NAME_objects: position-independent code
# costs under 1% of the instructions of a call, and the static library is for plugins, too.
function(weft_libraries name)
	weft_library(${name}_objects OBJECT)
	string(REPLACE "_" "-" file ${name})
	foreach(kind static shared)
		string(TOUPPER ${kind} type)
		add_library(${name}_${kind} ${type} $<TARGET_OBJECTS:${name}_objects>)
		weft_library_options(${name}_${kind})
		set_target_properties(${name}_${kind} PROPERTIES OUTPUT_NAME ${file}
			LINKER_LANGUAGE C)
	endforeach()
	# While interfaces may change, a minor version is another library.
	set(soversion ${PROJECT_VERSION_MAJOR})
	if(soversion EQUAL 0)
		set(soversion 0.${PROJECT_VERSION_MINOR})
	endif()
	set_target_properties(${name}_shared PROPERTIES
		EXPORT_NAME ${name}
		VERSION ${PROJECT_VERSION}
		SOVERSION ${soversion}
		LINK_DEPENDS ${PROJECT_SOURCE_DIR}/src/weft.map)
	target_link_options(${name}_shared PRIVATE
		-Wl,--version-script=${PROJECT_SOURCE_DIR}/src/weft.map)
	add_library(Weft::${name} ALIAS ${name}_shared)
	add_library(Weft::${name}_static ALIAS ${name}_static)
	if(NOT PROJECT_IS_TOP_LEVEL)
		set_target_properties(${name}_objects ${name}_static ${name}_shared
			PROPERTIES EXCLUDE_FROM_ALL ON)
	endif()
endfunction()
