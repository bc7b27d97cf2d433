// The data of a chart, shared by the chart, its table and its drawing.

import { locale } from '../text/t.ts';
import { formatInstant } from './format.ts';
import { readStoredJson, store } from './stored.ts';

export type Series = {
  readonly label: string;
  /** One value per instant; null if missing. */
  readonly values: readonly (number | null)[];
  /** The thing that the series is about (a model, a key), which has the same colour everywhere. */
  readonly name?: string | undefined;
  /** Marks values that signal a problem; the colours of other series only distinguish them. */
  readonly tone?: 'danger' | 'warning' | 'muted';
};

export type ChartStep = 'month' | 'day' | 'hour' | 'minute';

export type ChartProps = {
  /** The heading of the chart: `"Requests per day"`. */
  readonly title: string;
  /** The unit of all values, which the axis shows: `"USD"`, `"ms"`. */
  readonly unit: string;
  /** In pixels, for a chart above what the page is about. */
  readonly height?: number;
  /** ISO instants, ascending. */
  readonly times: readonly string[];
  readonly series: readonly Series[];
  /** `bars` for sums over a period, stacked by series; `line` for values measured at an instant. */
  readonly kind?: 'bars' | 'line';
  /** Formats a value in full, and on the axis. */
  readonly format?: (value: number) => string;
  readonly formatAxis?: (value: number) => string;
  /** Days and months are UTC, as in the ledger; otherwise the viewer's time zone. */
  readonly step?: ChartStep | undefined;
  /** The total of the period before, drawn as an outline; null if missing. */
  readonly before?: readonly (number | null)[] | undefined;
  /** The page with what is behind a point, of one series (by its place) or of all. */
  readonly href?: (index: number, nth: number | undefined) => string | undefined;
};

/** The colour of the nth series, for `fill` and `stroke`. */
export function seriesColour({ name, tone }: Series, nth: number): string {
  if (tone !== undefined) return TONES[tone];
  return name === undefined ? nthColour(nth) : colourOf(name);
}

const TONES: Readonly<Record<NonNullable<Series['tone']>, string>> = {
  danger: 'var(--danger)',
  warning: 'var(--chart-2)',
  muted: 'var(--chart-muted)',
};

/** The sum of all series at a point; null if all are missing. */
export function totalAt(series: readonly Series[], index: number): number | null {
  return series.reduce<number | null>((sum, { values }) => {
    const value = values[index] ?? null;
    return value === null ? sum : (sum ?? 0) + value;
  }, null);
}

export function shown(value: number | null | undefined, format: (value: number) => string): string {
  return value === null || value === undefined ? '–' : format(value);
}

/** A day of the ledger is a UTC day in every time zone. */
export function pointName(iso: string, step: ChartStep | undefined): string {
  if (step !== 'day' && step !== 'month') return formatInstant(iso);
  return new Date(iso).toLocaleDateString(locale, {
    timeZone: 'UTC',
    ...(step === 'day' && { day: 'numeric' }),
    month: 'short',
    year: 'numeric',
  });
}

/** The shortest axis label that distinguishes a point from its neighbours. */
export function pointLabel(
  times: readonly string[],
  index: number,
  step: ChartStep | undefined,
): string {
  const at = new Date(times[index] ?? '');
  const day = { day: 'numeric', month: 'short' } as const;
  if (step === 'day') return at.toLocaleDateString(locale, { ...day, timeZone: 'UTC' });
  if (step === 'month') {
    const month = { month: 'short', year: '2-digit' } as const;
    return at.toLocaleDateString(locale, { ...month, timeZone: 'UTC' });
  }
  const span = Date.parse(times.at(-1) ?? '') - Date.parse(times[0] ?? '');
  return span > 2 * 86_400_000
    ? at.toLocaleDateString(locale, day)
    : at.toLocaleTimeString(locale, { hour: '2-digit', minute: '2-digit' });
}

// The colours of things that charts compare: models, keys, end users. A name has the same colour on
// every page and in every period. Its hash selects the colour; where another name has it already,
// the next free one is taken and remembered in this browser. Without storage, each has that of its
// hash.

const COLOURS = 10;
const STORED_AS = 'tollgate-chart-colours';
const KEPT_MAX = 200;

type Slot = readonly [hash: number, slot: number];

/** The colour of a name, for `fill` and `stroke`. */
export function colourOf(name: string): string {
  return `var(--chart-${slotOf(hashOf(name)) + 1})`;
}

/** The colour of the nth of few series that are always the same. */
function nthColour(nth: number): string {
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
