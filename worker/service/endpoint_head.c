/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * RFC 9110 sections 12.5.1 (Accept) and 7.2 (Host), as far as they are needed.
 */
#include "worker/service/endpoint_head.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/net/addr.h"

#define OPENMETRICS "application/openmetrics-text"
#define MAX_Q 1000

/* A piece of a field, without the spaces around it. */
struct piece {
	const char *text;
	size_t bytes;
};

/* The piece up to one of these bytes, or to the end; *rest goes behind it. */
static struct piece next_piece(const char **rest, const char *ends)
{
	const char *from = *rest + strspn(*rest, " \t");
	size_t bytes = strcspn(from, ends);
	*rest = from + bytes;
	while (bytes > 0 && (from[bytes - 1] == ' ' || from[bytes - 1] == '\t'))
		bytes--;
	return (struct piece){from, bytes};
}

static bool is(struct piece p, const char *text)
{
	return p.bytes == strlen(text) && strncasecmp(p.text, text, p.bytes) == 0;
}

/* "q=0.75" in thousandths; MAX_Q for another parameter. */
static unsigned q_of(struct piece p)
{
	if (p.bytes < 3 || strncasecmp(p.text, "q=", 2) != 0)
		return MAX_Q;
	if (p.text[2] != '0')
		return MAX_Q;
	unsigned q = 0, worth = 100;
	for (size_t i = 4; i < p.bytes && p.text[3] == '.' && p.text[i] >= '0' && p.text[i] <= '9';
		i++, worth /= 10)
		q += (unsigned)(p.text[i] - '0') * worth;
	return q;
}

static unsigned larger(unsigned a, unsigned b)
{
	return a > b ? a : b;
}

/* -------------------------------------------------------------------------------------------- */

bool ing_endpoint_wants_openmetrics(const char *accept)
{
	unsigned openmetrics = 0, text = 0;
	const char *rest = accept != NULL ? accept : "";
	while (*rest != '\0') {
		struct piece type = next_piece(&rest, ",;");
		bool other_version = false;
		unsigned q = MAX_Q;
		while (*rest == ';') {
			rest++;
			struct piece parameter = next_piece(&rest, ",;");
			if (parameter.bytes > 8 && strncasecmp(parameter.text, "version=", 8) == 0)
				other_version = !is(parameter, "version=1.0.0");
			q = q_of(parameter) < q ? q_of(parameter) : q;
		}
		if (*rest == ',')
			rest++;
		if (is(type, OPENMETRICS) && !other_version)
			openmetrics = larger(openmetrics, q);
		else if (is(type, "text/plain") || is(type, "text/*") || is(type, "*/*"))
			text = larger(text, q);
	}
	return openmetrics > 0 && openmetrics >= text;
}

bool ing_endpoint_is_local_host(const char *host)
{
	char name[ING_ADDR_TEXT_BYTES + 2];
	struct ing_addr addr;
	if (host == NULL)
		return true;
	size_t bytes = host[0] == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");
	if (bytes >= sizeof(name) || bytes > strlen(host) ||
		(host[bytes] != '\0' &&
			(host[bytes] != ':' ||
				host[bytes + 1 + strspn(host + bytes + 1, "0123456789")] != '\0')))
		return false;
	snprintf(name, sizeof(name), "%.*s", (int)bytes, host);
	if (strcasecmp(name, "localhost") == 0)
		return true;
	return ing_addr_parse(name, &addr) && (addr.family == 6) == (name[0] == '[') &&
	       ing_addr_is_loopback(&addr);
}
