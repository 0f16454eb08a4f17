# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# This machine's own package sources, for a root of Debian 12 that is made from them. Sourced by deploy/ and tests/.

# debian_apt_files DIR: writes DIR/sources (one-line style), DIR/options (of apt) and DIR/preferences. Of this machine's sources only
# Debian's main ones for bookworm are taken, and unstable, for liblexbor* alone, from where bookworm comes from.
debian_apt_files()
{
	local dir=$1 main
	mkdir -p "$dir"
	apt-get indextargets --format '$(CREATED_BY)|$(ORIGIN)|$(COMPONENT)|$(REPO_URI)|$(CODENAME)' |
		awk -F '|' '$1 == "Packages" && $2 == "Debian" && $3 == "main" && $5 ~ /^bookworm/ && !seen[$4 $5]++ {
			print "deb " $4 " " $5 " main" }' >"$dir/sources"
	main=$(awk '$3 == "bookworm" { print $2; exit }' "$dir/sources")
	if [ -z "$main" ]; then
		printf 'no Debian 12 (bookworm) among the package sources of this machine, or no lists yet: apt-get update\n' >&2
		return 3
	fi
	# A mirror that is a snapshot serves lists whose validity has passed; their signatures are checked all the same.
	printf 'deb [check-valid-until=no] %s unstable main\n' "$main" >>"$dir/sources"
	# Proxies and the like are the machine's.
	apt-config dump | grep -E '^Acquire::(http|https|ftp|Check-Valid-Until|Check-Date|Retries)' >"$dir/options" || true
	cat >"$dir/preferences" <<-'PREFERENCES'
	Explanation: lexbor comes from unstable, and nothing else does
	Package: liblexbor*
	Pin: release o=Debian,a=unstable
	Pin-Priority: 500

	Package: *
	Pin: release o=Debian,a=unstable
	Pin-Priority: -1
	PREFERENCES
}
