# br2_library(NAME SRC... ): a static library of our own code, with our
# warnings. Generated code is built without them (see proto/).
add_library(br2_flags INTERFACE)
target_compile_definitions(br2_flags INTERFACE _POSIX_C_SOURCE=200809L _DEFAULT_SOURCE)
target_compile_options(br2_flags INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes
    -Wvla -Wformat=2 -Wundef -Wcast-qual -Wwrite-strings -Wswitch-enum -Wconversion
    -fno-common
    -include ${CMAKE_SOURCE_DIR}/ingest/util/banned.h)
if(BR2_WERROR)
    target_compile_options(br2_flags INTERFACE -Werror)
endif()
if(BR2_ANALYZE)
    target_compile_options(br2_flags INTERFACE -fanalyzer)
endif()
# Hardening, of generated code too: it reads what strangers send.
# tests/lint/check_hardening.py looks at what comes out.
add_compile_options(-fPIE -fstack-protector-strong -fstack-clash-protection)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    add_compile_options(-fcf-protection)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
    add_compile_options(-mbranch-protection=standard)
endif()
add_link_options("$<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-pie>" -Wl,-z,relro,-z,now,-z,noexecstack)
if(BR2_SANITIZE)
    add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
    add_link_options(-fsanitize=address,undefined)
else()
    # 3 also checks sizes that are known only while it runs (gcc 12, clang 9). It needs -O.
    add_compile_options("$<$<NOT:$<CONFIG:Debug>>:SHELL:-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3>")
endif()

function(br2_library name)
    add_library(${name} STATIC ${ARGN})
    target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR}/ingest)
    target_link_libraries(${name} PRIVATE br2_flags)
endfunction()
