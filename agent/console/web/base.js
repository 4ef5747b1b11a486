// Elements made of text alone: whatever a caller said stays text, whatever it looks like.

// el("p", {class: "soft", on: {click}}, "text", child…): strings become text nodes; null is left out.
export function el(tag, given = {}, ...children) {
  const made = document.createElement(tag);
  setAll(made, given);
  made.append(...children.flat(2).filter((child) => child !== null && child !== undefined));
  return made;
}

// The same for SVG.
export function svg(tag, given = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  setAll(made, given);
  made.append(...children);
  return made;
}

function setAll(made, given) {
  for (const [name, value] of Object.entries(given)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") {
      for (const [event, act] of Object.entries(value)) made.addEventListener(event, act);
    } else if (name === "style") Object.assign(made.style, value);
    else made.setAttribute(name, value === true ? "" : value);
  }
}

export const byId = (id) => document.getElementById(id);

// Words for who hears the page and does not see it.
export const unseen = (text) => el("span", { class: "unseen" }, text);

// A word with a sign, so that colour is never all that tells them apart.
export function chip(kind, sign, ...text) {
  return el("span", { class: `chip ${kind}` }, el("span", { "aria-hidden": "true" }, sign), ...text);
}

export const calmly = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

export function show(element, options = {}) {
  element.scrollIntoView({ block: "nearest", behavior: calmly() ? "auto" : "smooth", ...options });
}
