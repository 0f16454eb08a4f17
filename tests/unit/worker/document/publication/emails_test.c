/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Whose an e-mail address is: lists of authors with addresses, and what becomes of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/buf.h"
#include "common/base/macros.h"
#include "worker/document/publication/emails.h"

/* "Name <address>; …", in the same form as they come out. */
static const struct {
	const char *name, *in, *want;
} cases[] = {
	{"his own", "Ana Bee <ana.bee@x>; Cy Dee", "Ana Bee <ana.bee@x>; Cy Dee"},
	{"the last author's in the first one's affiliation",
		"Willian G Nunes <hzanin@u>; Ana Bee; Hudson Zanin",
		"Willian G Nunes; Ana Bee; Hudson Zanin <hzanin@u>"},
	{"one that two have, and one's name",
		"Patrick Shaffer <geissler@b>; Phillip Geissler <geissler@b>",
		"Patrick Shaffer; Phillip Geissler <geissler@b>"},
	{"one that all have and nobody's name", "Ana Bee <info@x>; Cy Dee <info@x>",
		"Ana Bee <info@x>; Cy Dee <info@x>"},
	{"nobody else's", "Ana Bee <info@x>; Cy Dee", "Ana Bee <info@x>; Cy Dee"},
	{"two others of that name", "Ana Bee <zanin@x>; Hudson Zanin; Maria Zanin",
		"Ana Bee <zanin@x>; Hudson Zanin; Maria Zanin"},
	{"who has one of his own", "Ana Bee <zanin@x>; Hudson Zanin <h@x>",
		"Ana Bee <zanin@x>; Hudson Zanin <h@x>"},
	{"initials", "Ana B Cee <abc@x>; Abc Dee", "Ana B Cee <abc@x>; Abc Dee"},
	{"accents and case", "Ana Bee <NUNEZ7@x>; José Núñez", "Ana Bee; José Núñez <NUNEZ7@x>"},
	{"two letters are no name", "Ana Bee <xuli@x>; Xu Li", "Ana Bee <xuli@x>; Xu Li"},
	{"nobody", "", ""},
};

static void add(struct ing_publication_found *p, const char *s, size_t bytes)
{
	const char *mail = memchr(s, '<', bytes);
	size_t name = mail != NULL ? (size_t)(mail - s) - 1 : bytes;
	ing_publication_add_author(
		p, (struct ing_publication_author){.name = ing_strndup(s, name),
			   .email = mail != NULL ? ing_strndup(mail + 1, bytes - name - 3) : NULL,
			   .corresponding = mail != NULL});
}

static void read_people(struct ing_publication_found *p, const char *s)
{
	while (*s != '\0') {
		size_t n = strcspn(s, ";");
		add(p, s, n);
		s += n + (s[n] == ';' ? 2 : 0);
	}
}

static void addresses_go_to_their_owners(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_publication_found p = {.citations = -1};
		struct ing_buf out;
		read_people(&p, cases[i].in);
		ing_publication_settle_emails(&p);
		ing_buf_init(&out, 4096);
		for (uint32_t k = 0; k < p.author_count; k++) {
			const struct ing_publication_author *a = &p.authors[k];
			ing_buf_printf(&out, "%s%s", k > 0 ? "; " : "", a->name);
			if (a->email != NULL)
				ing_buf_printf(&out, " <%s>", a->email);
			assert_int_equal(a->corresponding, a->email != NULL);
		}
		if (strcmp(ing_buf_str(&out), cases[i].want) != 0)
			fail_msg("%s: %s", cases[i].name, ing_buf_str(&out));
		ing_buf_done(&out);
		ing_publication_found_done(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_go_to_their_owners),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
