# SPDX-License-Identifier: GPL-3.0-or-later
"""Servers that the scenarios talk to. The real ones are in deploy/lib/servers.py and deploy/sampleweb/."""
