# Alt-K chooses documents in ken tui, and inserts their paths:  source <(ken completions zsh --keys)
__ken_choose() {
    local address text=
    command ken tui --choose --null </dev/tty | while IFS= read -r -d '' address; do
        text+="${(q)address} "
    done
    LBUFFER+=$text
    zle reset-prompt
}
zle -N __ken_choose
bindkey -M emacs '^[k' __ken_choose
bindkey -M viins '^[k' __ken_choose
