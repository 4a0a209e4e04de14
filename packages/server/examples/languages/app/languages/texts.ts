import type { Language } from "./languages";

const en = {
  title: "Bicycles, repaired",
  intro: "Bring yours in the morning, and ride home in the evening.",
  waiting: (count: number) => (count === 1 ? "One bicycle is waiting." : `${count} bicycles are waiting.`),
  prices: "Prices",
  tyre: "A new tyre",
  brakes: "Brakes",
  language: "Language",
  asInBrowser: "As in the browser",
  choose: "Choose",
};

/** TypeScript reports a text that a language lacks. */
type Texts = typeof en;

const de: Texts = {
  title: "Wir reparieren Fahrräder",
  intro: "Morgens bringen, abends nach Hause fahren.",
  waiting: (count) => (count === 1 ? "Ein Fahrrad wartet." : `${count} Fahrräder warten.`),
  prices: "Preise",
  tyre: "Ein neuer Reifen",
  brakes: "Bremsen",
  language: "Sprache",
  asInBrowser: "Wie im Browser",
  choose: "Wählen",
};

const fr: Texts = {
  title: "Vélos réparés",
  intro: "Apportez le vôtre le matin, et repartez le soir.",
  waiting: (count) => (count < 2 ? `${count} vélo attend.` : `${count} vélos attendent.`),
  prices: "Prix",
  tyre: "Un nouveau pneu",
  brakes: "Freins",
  language: "Langue",
  asInBrowser: "Comme dans le navigateur",
  choose: "Choisir",
};

export const TEXTS: Record<Language, Texts> = { en, de, fr };
