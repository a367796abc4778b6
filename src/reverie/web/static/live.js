// Tells what happens elsewhere while the page is open. Only words are put in, never HTML.
"use strict";
(() => {
  const live = document.getElementById("live");
  if (!live) return;
  const root = document.documentElement.dataset.root;
  let source = null;

  const line = (text, address) => {
    const made = document.createElement("p");
    made.className = "notice";
    if (address) {
      const link = document.createElement("a");
      link.href = address;
      link.textContent = text;
      made.append(link);
    } else {
      made.textContent = text;
    }
    return made;
  };

  const show = (event) => {
    const news = JSON.parse(event.data);
    const lines = news.nights.map((night) => line(`A night runs. ${night}.`));
    const seen = live.dataset.waiting;
    if (seen && seen !== news.waiting) lines.push(line("What waits has changed. Show it as it is now.", `${root}/`));
    live.replaceChildren(...lines);
  };

  // A browser has few connections to one server: a page that nobody looks at keeps none.
  const follow = () => {
    if (document.visibilityState === "visible" && !source) {
      source = new EventSource(`${root}/events`);
      source.onmessage = show;
    } else if (document.visibilityState !== "visible" && source) {
      source.close();
      source = null;
    }
  };
  document.addEventListener("visibilitychange", follow);
  window.addEventListener("pagehide", () => source && source.close());
  follow();
})();
