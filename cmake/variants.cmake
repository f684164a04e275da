# Libraries for programs that are compiled with a sanitizer, next to the plain ones: WEFT_VARIANTS
# says which. Weft::weft_tsan and Weft::weft_tsan_static, in libweft-tsan.*, and the same for asan.
# Who links one compiles with the sanitizer, too. The sanitizer's own library comes with the
# program and not with ours, so that programs of gcc and of clang can use either.
set(WEFT_VARIANT_asan -fsanitize=address)
set(WEFT_VARIANT_tsan -fsanitize=thread)
set(WEFT_VARIANT_TARGETS "")

if(WEFT_VARIANTS AND NOT WEFT_SANITIZE STREQUAL "")
	message(FATAL_ERROR "WEFT_VARIANTS are for a build without WEFT_SANITIZE")
endif()
foreach(variant ${WEFT_VARIANTS})
	if(NOT DEFINED WEFT_VARIANT_${variant})
		message(FATAL_ERROR "WEFT_VARIANTS: unknown: ${variant}")
	endif()
	set(name weft_${variant})
	set(flag ${WEFT_VARIANT_${variant}})
	weft_libraries(${name})
	target_compile_options(${name}_objects PRIVATE ${WEFT_SANITIZE_CFLAGS_${variant}} ${flag})
	foreach(target ${name}_static ${name}_shared)
		target_compile_options(${target} INTERFACE ${flag})
		target_link_options(${target} INTERFACE ${flag})
	endforeach()
	list(APPEND WEFT_VARIANT_TARGETS ${name}_static ${name}_shared)
endforeach()
