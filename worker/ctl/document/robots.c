/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ingestctl robots: what a robots.txt in a file says to an agent about a URL. One thread.
 */
#include <getopt.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/net/robots.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/usage.h"

#define VERB "robots"
/* What is over ING_ROBOTS_TXT_MAX_BYTES is not looked at. */
#define MAX_FILE_BYTES ((size_t)64 << 20)

static const struct ing_option options[] = {
	{"agent", "AGENT", "a product token, or a user agent that begins with one", .code = 'a'},
	{"url", "URL", "absolute, http or https, as printed by ingestctl url clean", .code = 'u'},
	{0},
};

/* The agent as groups are matched against it. A user agent, which has a version or a comment, is
 * known by the token that it begins with. Anything else that is not a token as a whole is the name
 * of no group, even if its beginning would be; a blank stands for it. */
static const char *agent_of(const char *agent)
{
	static const char token[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_";
	bool whole = agent[strspn(agent, token)] == '\0';
	return whole || strpbrk(agent, "/(") != NULL ? agent : " ";
}

/* Of what has no host it is not known whose robots.txt is to be asked; an answer would be about
 * some other URL. The rest is taken as it is: the URL is to be matched, not fetched. */
static bool is_absolute(const char *url)
{
	size_t scheme = strncasecmp(url, "http://", 7) == 0    ? 7
			: strncasecmp(url, "https://", 8) == 0 ? 8
							       : 0;
	return scheme > 0 && strcspn(url + scheme, "/?#") > 0;
}

static int answer(const char *agent, const char *url, const char *path)
{
	struct ing_buf file;
	if (!ing_ctl_read_file(VERB, path, MAX_FILE_BYTES, &file))
		return ING_CTL_ENVIRONMENT;
	struct ing_robots_txt *r =
		ing_robots_txt_parse(ing_buf_str(&file), file.len, agent_of(agent));
	bool allowed = ing_robots_txt_allows(r, url, NULL);
	puts(allowed ? "allowed" : "disallowed");
	ing_robots_txt_free(r);
	ing_buf_done(&file);
	if (!ing_ctl_flush_stdout(VERB))
		return ING_CTL_ENVIRONMENT;
	return allowed ? ING_CTL_OK : ING_CTL_NEGATIVE;
}

/* -------------------------------------------------------------------------------------------- */

const struct ing_usage ing_ctl_robots_usage = {
	.name = "robots",
	.synopsis = "--agent AGENT --url URL FILE|-",
	.summary = "check a URL against a robots.txt file",
	.text = "Prints \"allowed\" or \"disallowed\": whether AGENT may fetch URL according to the robots.txt in "
		"FILE.",
	.options = options,
	.exits = {"allowed", "disallowed", "usage", "the file cannot be read"},
	.operands = ING_WORDS_FILE,
	.examples = "May this robot fetch that page?\n\n"
		    "  ingestctl robots --agent 'examplebot/1.0 (+https://example.org/bot)' \\\n"
		    "      --url https://journal.example/article/1 robots.txt",
};

int ing_ctl_robots(int argc, char **argv, const struct ing_ctl *ctl)
{
	const char *agent = NULL;
	const char *url = NULL;
	(void)ctl;
	for (;;) {
		int c = ing_usage_next(&ing_ctl_robots_usage, argc, argv);
		if (c == -1)
			break;
		switch (c) {
		case 'a':
			agent = optarg;
			break;
		case 'u':
			url = optarg;
			break;
		default:
			return ing_usage_code(c);
		}
	}
	if (agent == NULL || url == NULL || optind + 1 != argc)
		return ing_ctl_fail(ING_CTL_USAGE, VERB,
			"takes --agent, --url and a file, or - for standard input");
	if (!is_absolute(url))
		return ing_ctl_fail(ING_CTL_USAGE, VERB,
			"--url must be an absolute URL of http or https, as in "
			"https://example.org/page");
	return answer(agent, url, argv[optind]);
}
