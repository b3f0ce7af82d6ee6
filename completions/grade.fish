# Completion of ./grade for fish: link this file into ~/.config/fish/completions/.
# Flags come from the text of --help, lessons from their folders, both of the clone that is called.

function __overlap_root
    set -l command (commandline -opc)[1]
    dirname (realpath -- $command 2>/dev/null) 2>/dev/null
end

function __overlap_lessons
    for lesson in (__overlap_root)/lessons/*_*/
        set -l name (basename $lesson)
        echo $name
        string replace -r '^[0-9]+_' '' $name
    end
end

function __overlap_flags
    set -l file (__overlap_root)/grader/session/help.txt
    string replace -rf '^  (--[a-z_-]*=?).*' '$1' <$file
end

complete -c grade -a '(__overlap_lessons)'
complete -c grade -f -n 'string match -q -- "-*" (commandline -ct)' -a '(__overlap_flags)'
complete -c grade -l device -x -a 'auto gpu emulator'
complete -c grade -l submission -x -a '(__fish_complete_directories)'
complete -c grade -l class -x -a '(__fish_complete_directories)'
complete -c grade -l state -x -a '(__fish_complete_directories)'
complete -c grade -l roster -r
complete -c grade -l marks -r
complete -c grade -l report -x -a 'html: pages: json: junit: canvas: moodle: gradescope: github-classroom: autolab:'
