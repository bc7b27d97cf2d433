// The colours of things that charts compare: models, keys, end users. A name has the same colour on
// every page and in every period. Its hash selects the colour; where another name has it already,
// the next free one is taken and remembered in this browser. Without storage, each has that of its
// hash.

import { readStoredJson, store } from './stored.ts';

const COLOURS = 10;
const STORED_AS = 'tollgate-chart-colours';
const KEPT_MAX = 200;

type Slot = readonly [hash: number, slot: number];

/** The colour of a name, for `fill` and `stroke`. */
export function colourOf(name: string): string {
  return `var(--chart-${slotOf(hashOf(name)) + 1})`;
}

/** The colour of the nth of few series that are always the same. */
export function nthColour(nth: number): string {
  return `var(--chart-${(nth % COLOURS) + 1})`;
}

function slotOf(hash: number): number {
  const slots = stored();
  const known = slots.find(([own]) => own === hash);
  if (known !== undefined) return known[1];
  const slot = chooseSlot(hash, new Set(slots.map(([, taken]) => taken)));
  store(STORED_AS, JSON.stringify([...slots, [hash, slot]].slice(-KEPT_MAX)));
  return slot;
}

/** The first free colour from the one of the hash on; that one if all are taken. */
export function chooseSlot(hash: number, taken: ReadonlySet<number>): number {
  const wanted = hash % COLOURS;
  const slots = Array.from({ length: COLOURS }, (_, index) => (wanted + index) % COLOURS);
  return slots.find((slot) => !taken.has(slot)) ?? wanted;
}

/** Only hashes are stored, no names. */
function stored(): readonly Slot[] {
  const slots = readStoredJson(STORED_AS);
  return Array.isArray(slots) ? slots.filter(isSlot) : [];
}

function isSlot(slot: unknown): slot is Slot {
  return Array.isArray(slot) && slot.every((number) => Number.isSafeInteger(number) && number >= 0);
}

/** FNV-1a. */
function hashOf(name: string): number {
  let hash = 2_166_136_261;
  for (let index = 0; index < name.length; index += 1) {
    hash = Math.imul(hash ^ name.charCodeAt(index), 16_777_619);
  }
  return hash >>> 0;
}
