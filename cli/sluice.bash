# SPDX-License-Identifier: MIT
# Completion of bash for sluice: the commands and options that its own help lists. Any other word is
# completed as a file.

# The first column of a help's lines, and its usage.
_sluice_listed() {
    "$@" --help 2>/dev/null |
        awk '/^usage: / { print }
             /^  ? ? ? ? ?[-a-z]/ { sub(/^ +/, ""); sub(/  .*/, ""); print }'
}

_sluice() {
    local word=${COMP_WORDS[COMP_CWORD]} program=${COMP_WORDS[0]} words

    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        words="--help --version $(_sluice_listed "$program" | grep -oE '^[a-z]+$')"
    elif [[ $word == -* ]]; then
        words="--help $(_sluice_listed "$program" "${COMP_WORDS[1]}" | tr ' ,[]|=' '\n' |
            grep -E -- '^-(-[a-z]|[a-zA-Z]$)')"
    else
        return
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word" | sort -u)
}

complete -o default -F _sluice sluice
