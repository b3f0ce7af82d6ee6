file(WRITE @MARKS@/overlap-hostile-forge-shadow-files-cmake "")
