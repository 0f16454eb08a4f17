# SPDX-License-Identifier: GPL-3.0-or-later
# bash completion for ingestctl(1) and ingest-worker(8)                      -*- shell-script -*-
#
# Verbs and options are asked from the program itself, whose help cannot be out of date.

_ingestctl_words()
{
	# Long options anywhere, and the first word of lines that start with exactly two blanks.
	"$@" --help 2>/dev/null | grep -oE -e '--[a-z][a-z-]*' -e '^  [a-z]+'
}

_ingestctl()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	local program=${COMP_WORDS[0]} verb='' at=1
	COMPREPLY=()
	case $prev in
	--config | --out | --dir | --batch | --journals | --webpages | --checkpoint | --warc-dir | --pages | --yield | --warc | --token-file | \
		--tls-cert | --tls-key)
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		return
		;;
	--what)
		mapfile -t COMPREPLY < <(compgen -W 'text thumbnail html xml grobid scrape' -- "$cur")
		return
		;;
	--part | --not-part | --has | --not-has)
		mapfile -t COMPREPLY < <(compgen -W 'pmid pmcid doi title keywords mesh efo go abstract fulltext' -- "$cur")
		return
		;;
	--by)
		mapfile -t COMPREPLY < <(compgen -W 'list source link_source type status host domain prefix code mimetype hour day week month' -- "$cur")
		return
		;;
	--format)
		mapfile -t COMPREPLY < <(compgen -W 'table csv json' -- "$cur")
		return
		;;
	--lane)
		mapfile -t COMPREPLY < <(compgen -W 'priority requests daily bulk' -- "$cur")
		return
		;;
	esac
	while [ "$at" -lt "$COMP_CWORD" ]; do
		case ${COMP_WORDS[at]} in
		--config | --set) at=$((at + 1)) ;;
		-*) ;;
		*)
			verb=${COMP_WORDS[at]}
			break
			;;
		esac
		at=$((at + 1))
	done
	local words=("$program" "$verb")
	case $verb:${COMP_WORDS[at + 1]} in
	publication:list | publication:show | publication:export | publication:stats | publication:import | \
		webpage:list | webpage:show | webpage:export | webpage:stats | webpage:import)
		words+=("${COMP_WORDS[at + 1]}")
		;;
	requests:[a-z]*) words+=("${COMP_WORDS[at + 1]}") ;;
	esac
	case $verb:$prev in
	:* | requests:requests) mapfile -t COMPREPLY < <(compgen -W "$(_ingestctl_words "$program" $verb)" -- "$cur") ;;
	seedlist:seedlist) mapfile -t COMPREPLY < <(compgen -W "--list --check $("$program" seedlist --list 2>/dev/null | cut -d' ' -f1)" -- "$cur") ;;
	run:--source) mapfile -t COMPREPLY < <(compgen -W "$("$program" seedlist --list 2>/dev/null | cut -d' ' -f1)" -- "$cur") ;;
	topics:topics) mapfile -t COMPREPLY < <(compgen -W 'create check' -- "$cur") ;;
	dead:dead) mapfile -t COMPREPLY < <(compgen -W 'list show replay' -- "$cur") ;;
	positions:positions) mapfile -t COMPREPLY < <(compgen -W 'show forget' -- "$cur") ;;
	stats:stats) mapfile -t COMPREPLY < <(compgen -W "$("$program" stats 2>/dev/null | awk '{print $1}')" -- "$cur") ;;
	reingest:*) mapfile -t COMPREPLY < <(compgen -W "$(_ingestctl_words "$program" reingest) $("$program" reingest --list 2>/dev/null | awk '{print $1}')" -- "$cur") ;;
	db:db) mapfile -t COMPREPLY < <(compgen -W 'migrate status' -- "$cur") ;;
	hosts:hosts) mapfile -t COMPREPLY < <(compgen -W 'explain top block unblock blocks' -- "$cur") ;;
	publication:publication | webpage:webpage) mapfile -t COMPREPLY < <(compgen -W 'list show export stats import' -- "$cur"; compgen -f -- "$cur") ;;
	url:url) mapfile -t COMPREPLY < <(compgen -W 'clean parse surt' -- "$cur") ;;
	rules:rules) mapfile -t COMPREPLY < <(compgen -W 'check site webpage test yield' -- "$cur") ;;
	warc:warc) mapfile -t COMPREPLY < <(compgen -W 'verify index cat' -- "$cur") ;;
	page:page) mapfile -t COMPREPLY < <(compgen -W 'save' -- "$cur") ;;
	extract:extract) mapfile -t COMPREPLY < <(compgen -W 'pdf html xml' -- "$cur") ;;
	*)
		case $cur in
		-*) mapfile -t COMPREPLY < <(compgen -W "$(_ingestctl_words "${words[@]}")" -- "$cur") ;;
		*) mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
		esac
		;;
	esac
}

complete -o filenames -F _ingestctl ingestctl
