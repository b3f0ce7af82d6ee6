# Writes OUTPUT, a C file with the bytes of INPUT and a 0 after them as `const char NAME[]`, which
# HEADER declares.
file(READ ${INPUT} bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(................................................................................)"
    "\\1\n" bytes "${bytes}")
file(WRITE ${OUTPUT} "#include \"${HEADER}\"\n\nconst char ${NAME}[] = {\n${bytes}0};\n")
