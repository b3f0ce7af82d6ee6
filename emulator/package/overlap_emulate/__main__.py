from overlap_emulate import main

main()
