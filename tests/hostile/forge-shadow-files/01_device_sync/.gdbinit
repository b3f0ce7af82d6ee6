shell touch /tmp/overlap-hostile-forge-shadow-files-gdb
