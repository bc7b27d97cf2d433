// Drafts catalog entries from a price list: the costs of an upstream's models, and models that are
// new. The price of a model in the catalog never changes. Pure.

import { formatDecimal, PICO_DECIMALS, parseDecimal } from '../core/money.ts';
import { listAt, memberOf, textAt } from './document.ts';
import {
  type CatalogEntry,
  entriesOf,
  type MemberChange,
  memberChanges,
  withEntry,
} from './entries.ts';
import type { PricedModel } from './price-source.ts';

type Suggesting = {
  /** The present catalog, with environment references as text. */
  readonly document: CatalogEntry;
  readonly upstream: string;
  /** The names to draft; undefined: those that the upstream serves already. */
  readonly names: readonly string[] | undefined;
  /** Added to the cost of new models, in 10⁻⁴ of a percent. */
  readonly margin: bigint;
};

export function suggest(list: readonly PricedModel[], wanted: Suggesting) {
  const { upstream, names, margin } = wanted;
  const models = [...entriesOf(wanted.document, 'model')];
  const nameAt = (placement: unknown) =>
    textAt(placement, 'upstream') === upstream ? textAt(placement, 'model') : undefined;
  const served = models.flatMap(([, model]) =>
    listAt(model, 'served_by').flatMap((placement) => nameAt(placement) ?? []),
  );
  const drafted = new Set(names ?? served);
  const changes: ({ readonly slug: string } & MemberChange)[] = [];
  const notes: string[] = [];
  let { document } = wanted;

  for (const name of drafted) {
    const listed = list.find((model) => model.name === name);
    if (listed === undefined) {
      notes.push(`${name} is not in the list, or has no price there`);
      continue;
    }
    const { facts, cost } = listed;
    notes.push(...listed.notes.map((note) => `${name}: ${note}`));
    for (const [slug, model] of models) {
      const placements = listAt(model, 'served_by');
      const placement = placements.find((each) => nameAt(each) === name);
      const present = Object(memberOf(placement, 'cost'));
      // Rates that the list lacks stay.
      const next = { ...present, ...cost };
      const served_by = placements.map((each) =>
        nameAt(each) === name ? { ...Object(each), cost: next } : each,
      );
      // Other digits of the same number are no change.
      const [before = {}, after = {}] = [present, next].map((rates) => withMargin(rates, 0n));
      const members = memberChanges({ cost: before }, { cost: after });
      if (placement !== undefined) put(slug, { ...model, served_by }, members);
    }
    if (served.includes(name)) continue;
    const slug = name
      .toLowerCase()
      .replace(/^.*\//, '')
      .replace(/[^a-z0-9._-]+/g, '-');
    const price = withMargin(cost, margin);
    const entry = { slug, ...facts, price, served_by: [{ upstream, model: name, cost }] };
    put(undefined, entry, memberChanges({}, entry));
  }
  const known = new Set([...drafted, ...served]);
  const others = list.flatMap(({ name }) => (known.has(name) ? [] : [name]));
  return { document, changes, notes, others };

  function put(id: string | undefined, entry: CatalogEntry, members: readonly MemberChange[]) {
    if (members.length === 0) return;
    document = withEntry(document, { kind: 'model', id, entry }).document;
    const slug = textAt(entry, 'slug') ?? '';
    changes.push(...members.map((member) => ({ slug, ...member })));
  }
}

/** Also those of tiers; rounded up, so that the margin is kept. Members that are not rates stay. */
function withMargin(rates: CatalogEntry, margin: bigint): CatalogEntry {
  const members = Object.entries(rates).map(([name, value]) => {
    if (Array.isArray(value)) return [name, value.map((tier) => withMargin(tier, margin))];
    const cost = parseDecimal(String(value), PICO_DECIMALS);
    if (name === 'above_tokens' || cost === undefined) return [name, value];
    const price = (cost * (1_000_000n + margin) + 999_999n) / 1_000_000n;
    return [name, formatDecimal(price, PICO_DECIMALS)];
  });
  return Object.fromEntries(members);
}
