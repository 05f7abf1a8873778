# Alt-K chooses documents in ken tui, and inserts their paths:  eval "$(ken completions bash --keys)"
__ken_choose() {
    local address text=
    while IFS= read -r -d '' address; do
        printf -v address '%q ' "$address"
        text+=$address
    done < <(command ken tui --choose --null </dev/tty)
    READLINE_LINE=${READLINE_LINE:0:READLINE_POINT}$text${READLINE_LINE:READLINE_POINT}
    READLINE_POINT=$((READLINE_POINT + ${#text}))
}
bind -m emacs-standard -x '"\ek": __ken_choose'
bind -m vi-insert -x '"\ek": __ken_choose'
