// Keys for reviewing, and nothing that a page needs to work: every action is a form or a link.
"use strict";
(() => {
  const root = document.documentElement.dataset.root;
  const items = [...document.querySelectorAll("[data-item]")];
  const KEPT = "reverie-place";
  let place = -1;

  const go = (to) => {
    if (!items.length) return;
    place = Math.max(0, Math.min(items.length - 1, to));
    items.forEach((item, at) => item.classList.toggle("current", at === place));
    items[place].focus({ preventScroll: true });
    items[place].scrollIntoView({ block: "nearest" });
    sessionStorage.setItem(KEPT, String(place));
  };

  const act = (key) => {
    const within = key === "u" ? document : items[Math.max(place, 0)] || document;
    const found = within.querySelector(`[data-key="${key}"]`);
    if (!found) return;
    if (found.tagName === "SUMMARY") {
      found.parentElement.open = true;
      found.parentElement.querySelector("input[name=because]").focus();
    } else if (found.tagName === "TEXTAREA") {
      found.focus();
    } else {
      found.click();
    }
  };

  document.addEventListener("keydown", (event) => {
    const help = document.getElementById("keys");
    const typing = event.target.closest("input, textarea, select");
    if (event.key === "Escape" && typing) typing.blur();
    if (typing || event.ctrlKey || event.metaKey || event.altKey || (help && help.open)) return;
    if (event.key === "j") go(place + 1);
    else if (event.key === "k") go(place - 1);
    else if (event.key === "i") location.assign(`${root}/`);
    else if (event.key === "?" && help) help.showModal();
    else if ("aeroux".includes(event.key)) act(event.key);
    else return;
    event.preventDefault();
  });

  if (location.pathname === `${root}/` && items.length) {
    go(new URLSearchParams(location.search).has("done") ? Number(sessionStorage.getItem(KEPT) || 0) : 0);
  }
})();
