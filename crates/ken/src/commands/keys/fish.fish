# Alt-K chooses documents in ken tui, and inserts their paths:  ken completions fish --keys | source
function __ken_choose
    command ken tui --choose --null </dev/tty | while read -lz address
        commandline -i -- (string escape -- $address)" "
    end
    commandline -f repaint
end
bind \ek __ken_choose
bind -M insert \ek __ken_choose 2>/dev/null
