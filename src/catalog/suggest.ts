// Drafts catalog entries from a price list: the costs of an upstream's models, and models that are
// new. The price of a model in the catalog never changes. Pure.

import { formatDecimal, PICO_DECIMALS, parseDecimal, type UsdRate } from '../core/money.ts';
import { listAt, memberOf, textAt } from './document.ts';
import {
  type CatalogEntry,
  entriesOf,
  type MemberChange,
  memberChanges,
  withEntry,
} from './entries.ts';
import { type ListedRates, type PricedModel, RATES } from './price-source.ts';

type Suggesting = {
  /** The present catalog, with environment references as text. */
  readonly document: CatalogEntry;
  readonly upstream: string;
  readonly usdPerMillion: UsdRate;
  /** The names to draft; undefined: those that the upstream serves already. */
  readonly names: readonly string[] | undefined;
  /** Added to the cost of new models, in 10⁻⁴ of a percent. */
  readonly margin: bigint;
};

export type Suggestion = {
  readonly document: CatalogEntry;
  readonly changes: readonly {
    readonly slug: string;
    readonly isNew: boolean;
    readonly members: readonly MemberChange[];
  }[];
  /** Names of the list that are neither served nor drafted. */
  readonly others: readonly string[];
  readonly notes: readonly string[];
};

export function suggest(list: readonly PricedModel[], wanted: Suggesting): Suggestion {
  const { upstream, usdPerMillion, margin } = wanted;
  const isHere = (placement: unknown) => textAt(placement, 'upstream') === upstream;
  const served = [...entriesOf(wanted.document, 'model')].flatMap(([slug, model]) =>
    listAt(model, 'served_by')
      .filter(isHere)
      .map((at) => ({ slug, name: textAt(at, 'model') ?? '' })),
  );
  const drafted = new Set(wanted.names ?? served.map(({ name }) => name));
  const changes: Suggestion['changes'][number][] = [];
  const notes: string[] = [];
  let { document } = wanted;

  for (const name of drafted) {
    const listed = list.find((model) => model.name === name);
    if (listed === undefined) {
      notes.push(`${name} is not in the list, or has no price there`);
      continue;
    }
    const cost = costOf(listed, usdPerMillion, (note) => notes.push(`${name}: ${note}`));
    const slugs = served.filter((at) => at.name === name).map(({ slug }) => slug);
    if (slugs.length === 0) addModel(listed, cost);
    for (const slug of slugs) updateModel(slug, listed, cost);
  }
  const known = new Set([...drafted, ...served.map(({ name }) => name)]);
  const others = list.map(({ name }) => name).filter((name) => !known.has(name));
  return { document, changes, others, notes };

  function addModel(listed: PricedModel, cost: Rates): void {
    const { name, title, created = '', features } = listed;
    const slug = slugOf(name);
    const isTaken = [...entriesOf(document, 'model')].some(([id, model]) => {
      return id === slug || listAt(model, 'aliases').includes(slug);
    });
    if (isTaken) {
      notes.push(`${slug} is in the catalog already: add ${upstream} to its served_by by hand`);
      return;
    }
    if (listed.isPromptWindow)
      notes.push(`${name}: the list has the limit of its prompt, not its window`);
    const entry = {
      ...{ slug, ...(title === undefined ? {} : { display_name: title }) },
      ...(/^\d{4}-\d{2}-\d{2}$/.test(created) ? { created } : {}),
      ...{ ...windowsOf(listed), features, price: eachRate(cost, (rate) => priceOf(rate, margin)) },
      served_by: [{ upstream, model: name, cost }],
    };
    document = withEntry(document, { kind: 'model', id: undefined, entry }).document;
    changes.push({ slug, isNew: true, members: memberChanges({}, entry) });
  }

  function updateModel(slug: string, listed: PricedModel, cost: Rates): void {
    const model = entriesOf(document, 'model').get(slug) ?? {};
    const isIt = (at: unknown) => isHere(at) && textAt(at, 'model') === listed.name;
    const present = Object(memberOf(listAt(model, 'served_by').find(isIt), 'cost'));
    // Rates that the list lacks stay.
    const next = { ...present, ...cost };
    const { context_window, max_output } = model;
    const before = { context_window, max_output, cost: sameDigits(present) };
    const windows = listed.isPromptWindow ? {} : windowsOf(listed);
    const members = memberChanges(before, { ...before, ...windows, cost: sameDigits(next) });
    if (members.length === 0) return;
    const isCost = members.some(({ member }) => member.startsWith('cost'));
    const placements = listAt(model, 'served_by').map((at) =>
      isIt(at) && isCost ? { ...Object(at), cost: next } : at,
    );
    const entry = { ...model, ...windows, served_by: placements };
    document = withEntry(document, { kind: 'model', id: slug, entry }).document;
    changes.push({ slug, isNew: false, members });
    const price = memberOf(model, 'price');
    const below = RATES.filter((rate) => {
      const [sold, paid] = [memberOf(price, rate), memberOf(cost, rate)];
      return sold !== undefined && paid !== undefined && picoOf(sold) < picoOf(paid);
    });
    if (below.length > 0) notes.push(`${slug}: its price of ${below.join(', ')} is below the cost`);
  }
}

function windowsOf({ window, maxOutput }: PricedModel) {
  return { context_window: window, max_output: Math.min(maxOutput, window) };
}

type Rates = Readonly<Record<string, unknown>>;

/** In service tokens a model token, as the catalog writes it. */
function costOf(listed: PricedModel, usdPerMillion: UsdRate, note: (text: string) => void): Rates {
  const convert = (rates: ListedRates): Rates => {
    const members = RATES.flatMap((name) => {
      const usd = rates[name];
      if (usd === undefined) return [];
      const scaled = usd * 1_000_000n;
      if (scaled % usdPerMillion !== 0n)
        note(`${name} is rounded: usd_per_million does not divide it`);
      const rate = (scaled + usdPerMillion / 2n) / usdPerMillion;
      return [[name, formatDecimal(rate, PICO_DECIMALS)] as const];
    });
    return Object.fromEntries(members);
  };
  const { rates: base, tiers, notes } = listed;
  for (const text of notes) note(text);
  if (tiers.length === 0) return convert(base);
  const converted = tiers.map(({ aboveTokens, ...tier }) => {
    const missing = RATES.filter((name) => base[name] !== undefined && tier[name] === undefined);
    // A tier sets every rate that the price sets: the dearest one that it could be.
    const { input = 0n } = { ...base, ...tier };
    const guesses = missing.map((name) => {
      note(`the list has no ${name} above ${aboveTokens} tokens: check it`);
      const rate = base[name] ?? 0n;
      return [name, name === 'output' || rate > input ? rate : input] as const;
    });
    return { above_tokens: aboveTokens, ...convert({ ...tier, ...Object.fromEntries(guesses) }) };
  });
  return { ...convert(base), tiers: converted };
}

/** Rounded up, so that the margin is kept. */
function priceOf(rate: unknown, margin: bigint): string {
  const value = picoOf(rate) * (1_000_000n + margin);
  return formatDecimal((value + 999_999n) / 1_000_000n, PICO_DECIMALS);
}

function sameDigits(rates: Rates): Rates {
  return eachRate(rates, (rate) => priceOf(rate, 0n));
}

/** Also those of tiers. Bounds, and members that are not rates, stay. */
function eachRate(rates: Rates, change: (rate: unknown) => string): Rates {
  const isRate = (name: string) => RATES.some((rate) => rate === name);
  const members = Object.entries(rates).map(([name, value]) => {
    if (Array.isArray(value)) return [name, value.map((tier) => eachRate(tier, change))];
    return [name, isRate(name) ? change(value) : value];
  });
  return Object.fromEntries(members);
}

function picoOf(rate: unknown): bigint {
  return parseDecimal(String(rate), PICO_DECIMALS) ?? 0n;
}

function slugOf(name: string): string {
  const last = name.toLowerCase().split('/').at(-1) ?? '';
  return last
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[^a-z0-9]+/, '')
    .slice(0, 64);
}
