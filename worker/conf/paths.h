/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * paths.h - where the installation keeps its parts. From a build tree: the source tree's rules/ and deploy/seedlists/, and
 * the built examiner; else what was configured at build time. Found once from /proc/self/exe;
 * strings live for ever. Any thread after the first call.
 */
#pragma once

const char *ing_path_examiner(void);  /* the ingest-examiner program */
const char *ing_path_rules(void);     /* the folder of rule files */
const char *ing_path_seedlists(void); /* the folder of the sources of seed lists */
const char *ing_path_config(
	void); /* ingest-worker.yaml where it is installed, whether or not it exists */
const char *ing_path_jobs(void); /* the re-ingest jobs that come with the program */
