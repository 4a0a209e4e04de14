import type { Language } from "./languages";

const en = {
  title: "Visit us",
  intro: "The workshop is open from Tuesday to Saturday.",
  way: "The way",
  tram: "Tram 4 to Millstream, then two minutes on foot.",
  languages: "Other languages",
  missing: "This page does not exist",
};

/** TypeScript reports a text that a language lacks. */
type Texts = typeof en;

const de: Texts = {
  title: "Besuchen Sie uns",
  intro: "Die Werkstatt ist von Dienstag bis Samstag geöffnet.",
  way: "Der Weg",
  tram: "Mit der Linie 4 bis Mühlbach, dann zwei Minuten zu Fuß.",
  languages: "Andere Sprachen",
  missing: "Diese Seite gibt es nicht",
};

export const TEXTS: Record<Language, Texts> = { en, de };
