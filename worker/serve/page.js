// SPDX-License-Identifier: GPL-3.0-or-later
// Asks until the result is there, and shows it: the server makes the page.
"use strict";
(async () => {
  const waiting = document.getElementById("waiting");
  if (!waiting)
    return;
  const id = waiting.dataset.id;
  for (let pause = 1000; ; pause = Math.min(2 * pause, 30000)) {
    const began = Date.now();
    try {
      const answer = await fetch("/ingest/" + id + "?wait=20", {cache: "no-store"});
      if (answer.status === 200) {
        location.reload();
        return;
      }
      if (answer.status === 202 && Date.now() - began > 5000)
        pause = 500; // it has waited already
    } catch (error) {
      // the server is away: ask again
    }
    await new Promise((done) => setTimeout(done, pause));
  }
})();
