// Numbers and times as a person reads them. The day is written out: 1/2 is two days.

const DASH = "–";
const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
const CLOCK = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const FULL = new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeStyle: "long" });
const COUNT = new Intl.NumberFormat("en-US");

export const count = (number) => COUNT.format(number);
export const many = (number, one, more = `${one}s`) => `${count(number)} ${number === 1 ? one : more}`;
export const score = (value) => (value === null || value === undefined ? DASH : value.toFixed(3));

export function moment(iso) {
  const at = new Date(iso);
  return Number.isNaN(at.valueOf()) ? DASH : `${DAY.format(at)}, ${CLOCK.format(at)}`;
}

export function fully(iso) {
  const at = new Date(iso);
  return Number.isNaN(at.valueOf()) ? "" : FULL.format(at);
}

// 63.2 -> "1:03"
export function clock(seconds) {
  if (seconds === null || seconds === undefined) return DASH;
  const whole = Math.max(0, Math.round(seconds));
  const parts = [Math.floor(whole / 60) % 60, whole % 60];
  const hours = Math.floor(whole / 3600);
  const text = parts.map((part) => String(part).padStart(2, "0")).join(":");
  return hours ? `${hours}:${text}` : text.replace(/^0/, "");
}

export function ms(value) {
  return value === null || value === undefined ? DASH : `${count(Math.round(value))} ms`;
}

// A number of a caller is masked already: "…42".
export const number = (masked) => masked || "withheld";

// "asked_day" -> "asked day"
export const plain = (name) => String(name).replaceAll("_", " ");

export function outcome(decision) {
  const signs = { answered: "✓", refused: "✕", conversation: "·" };
  const names = { conversation: "small talk" };
  return [signs[decision] ?? "?", names[decision] ?? plain(decision || "unknown")];
}
