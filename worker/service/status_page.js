// SPDX-License-Identifier: GPL-3.0-or-later
// Shows the page anew every few seconds: the server makes it, here it is put in its place, so that nothing jumps.
"use strict";
(() => {
  const page = document.getElementById("page");
  let answered = new Date();
  const show = (text) => {
    const next = new DOMParser().parseFromString(text, "text/html").getElementById("page");
    if (!next)
      return;
    page.replaceChildren(...next.childNodes);
    answered = new Date();
  };
  const complain = () => {
    let note = document.getElementById("away");
    if (!note) {
      note = document.createElement("p");
      note.id = "away";
      note.className = "stale";
      note.setAttribute("role", "status");
      page.prepend(note);
    }
    note.textContent = "No answer since " + answered.toLocaleTimeString([], {hour12: false}) + ": the worker is away, or this page cannot reach it.";
  };
  const look = async () => {
    if (document.hidden)
      return;
    try {
      const answer = await fetch(location.href, {cache: "no-store"});
      if (!answer.ok)
        throw new Error(answer.status);
      show(await answer.text());
    } catch (error) {
      complain();
    }
  };
  setInterval(look, 5000);
  document.addEventListener("visibilitychange", look);
})();
