/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * kinds.h - words for findings that leave the scraping: plain enumerations, for those who must not
 * know trees and rules (worker/examine, worker/job).
 */
#pragma once

enum ing_link_kind {
	ING_LINK_PDF,
	ING_LINK_HTML,
	ING_LINK_XML,
	ING_LINK_COMPONENT,
	ING_LINK_KINDS_
};

enum ing_wall {
	ING_WALL_NONE,
	ING_WALL_COOKIE,
	ING_WALL_CAPTCHA,
	ING_WALL_LOGIN,
	ING_WALL_CHALLENGE
};
