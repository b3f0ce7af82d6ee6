# overlap_embed(OUTPUT HEADER NAME FILE [NAME FILE]...): writes the C file OUTPUT, with each FILE of
# this folder as a string called NAME. HEADER, which OUTPUT includes, declares them. A program has its
# texts with it then, wherever it runs.
function(overlap_embed output header)
    set(content "#include \"${header}\"\n")
    set(pairs ${ARGN})
    while(pairs)
        list(POP_FRONT pairs name file)
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
            ${CMAKE_CURRENT_SOURCE_DIR}/${file})
        file(READ ${file} bytes HEX)
        string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
        string(APPEND content "const char ${name}[] = {${bytes}0};\n")
    endwhile()
    file(CONFIGURE OUTPUT ${output} CONTENT "${content}" @ONLY)
endfunction()
