// Future prices drafted by an operator: the format of a draft, and the catalog text with the draft
// applied. Comments and formatting of the file are preserved. Only the drafted periods change,
// which is verified before the text is returned. Pure.

import { type Static, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { isoTime } from '../core/calendar.ts';
import { parseInstant } from '../core/instant.ts';
import { listAt, memberOf, textAt } from './document.ts';
import { PeriodSchema } from './price-schema.ts';
import { CatalogError, parseToml, substitute } from './source.ts';
import { renderPeriod, tableGroups, textWithout } from './toml-text.ts';

const Model = Type.String({ minLength: 1, maxLength: 64 });

/** A model's price from an instant on, in catalog syntax. */
const AddedPeriod = Type.Composite([Type.Object({ model: Model }), PeriodSchema], {
  additionalProperties: false,
});

const WithdrawnPeriod = Type.Object(
  { model: Model, valid_from: PeriodSchema.properties.valid_from },
  { additionalProperties: false },
);

const CHANGES_MAX = 200;

/** The members of a draft, shared with the console's routes. */
export const DRAFT = {
  add: Type.Optional(Type.Array(AddedPeriod, { maxItems: CHANGES_MAX })),
  withdraw: Type.Optional(Type.Array(WithdrawnPeriod, { maxItems: CHANGES_MAX })),
};

const DraftSchema = Type.Object(DRAFT, { additionalProperties: false });

export type PriceDraft = Static<typeof DraftSchema>;

/** Parses the text of a draft, TOML or JSON. Throws `CatalogError`. */
export function readDraft(text: string, label: string): PriceDraft {
  const value = text.trimStart().startsWith('{') ? parseJson(text, label) : parseToml(text, label);
  const plain = substitute(value, {}, []);
  if (Value.Check(DraftSchema, plain)) return plain;
  const problems = [...Value.Errors(DraftSchema, plain)].map(({ path, schema }) => {
    const place = path.slice(1).replaceAll('/', '.') || 'the draft';
    const expects: unknown = memberOf(schema, 'expects');
    return `${label}: ${place}: must be ${typeof expects === 'string' ? expects : 'as in a draft'}`;
  });
  throw new CatalogError([...new Set(problems)]);
}

function parseJson(text: string, label: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new CatalogError([`${label}: is not JSON`]);
  }
}

type DraftedText = { readonly text: string } | { readonly notEditable: string };

/**
 * The catalog text with the draft applied. `slugOf` resolves aliases. Throws `CatalogError` for an
 * invalid draft: an unknown model, or an instant that is past or taken. `notEditable` explains why
 * the file has to be edited by hand.
 */
export function draftedText(
  text: string,
  draft: PriceDraft,
  slugOf: (name: string) => string | undefined,
  nowMs: number,
): DraftedText {
  const before = plainDocument(text);
  let edited = text;
  for (const change of changesOf(draft, before, slugOf, nowMs)) {
    const next = editOne(edited, change);
    if (next === undefined) return { notEditable: notEditable(change.slug) };
    edited = next;
  }
  return { text: edited };
}

type DraftChange = {
  readonly slug: string;
  /** The model's position in the file. */
  readonly index: number;
  readonly atMs: number;
  /** Absent if the period is withdrawn. */
  readonly lines?: readonly string[];
};

/** Withdrawals first, so that a period can be replaced. */
function changesOf(
  { add = [], withdraw = [] }: PriceDraft,
  document: unknown,
  slugOf: (name: string) => string | undefined,
  nowMs: number,
): DraftChange[] {
  const slugs = listAt(document, 'model').map((model) => textAt(model, 'slug'));
  const problems: string[] = [];
  const find = (path: string, entry: { readonly model: string; readonly valid_from: string }) => {
    const slug = slugOf(entry.model);
    const index = slugs.indexOf(slug);
    const atMs = parseInstant(entry.valid_from);
    if (slug === undefined || index < 0) problems.push(`${path}.model: is not in the catalog`);
    if (atMs === undefined) problems.push(`${path}.valid_from: must be an instant`);
    else if (atMs <= nowMs) problems.push(`${path}.valid_from: ${PAST}`);
    return { slug: slug ?? '', index, atMs: atMs ?? 0 };
  };
  const taken = (index: number): number[] =>
    listAt(listAt(document, 'model')[index], 'prices').map(startOf);
  const withdrawals = withdraw.map((entry, at) => {
    const found = find(`withdraw[${at}]`, entry);
    if (!taken(found.index).includes(found.atMs)) {
      problems.push(`withdraw[${at}].valid_from: no price of the model begins then`);
    }
    return found;
  });
  const withdrawn = new Set(withdrawals.map(({ slug, atMs }) => `${slug} ${atMs}`));
  const seen = new Set<string>();
  const additions = add.map((entry, at) => {
    const found = find(`add[${at}]`, entry);
    const key = `${found.slug} ${found.atMs}`;
    const isTaken = taken(found.index).includes(found.atMs) && !withdrawn.has(key);
    if (isTaken || seen.has(key)) {
      problems.push(`add[${at}].valid_from: another price of the model begins then`);
    }
    seen.add(key);
    const { model: _, ...period } = entry;
    return { ...found, lines: renderPeriod({ ...period, valid_from: shortInstant(found.atMs) }) };
  });
  if (problems.length > 0) throw new CatalogError(problems);
  if (withdrawals.length + additions.length === 0) {
    throw new CatalogError(['The draft changes nothing. Add a price, or withdraw one.']);
  }
  return [...withdrawals, ...additions];
}

const PAST = 'must be later than now: what has been sold keeps its price';

/** Adds or removes one period; `undefined` if the result would differ in anything else. */
function editOne(text: string, { index, atMs, lines }: DraftChange): string | undefined {
  const before = plainDocument(text);
  const periods = listAt(listAt(before, 'model')[index], 'prices');
  const model = tableGroups(text, 'model', 'prices')[index];
  if (model === undefined || model.groups.length !== periods.length) return undefined;
  const later = periods.findIndex((period) => startOf(period) >= atMs);
  const at = later < 0 ? periods.length : later;
  if (lines === undefined) {
    const group = model.groups[at];
    if (group === undefined) return undefined;
    const edited = textWithout(text, group);
    return isExactly(edited, before, index, periods.toSpliced(at, 1)) ? edited : undefined;
  }
  const line = model.groups[at - 1]?.end ?? model.groups[0]?.start ?? model.end;
  const all = text.split('\n');
  const isBefore = at === 0 && model.groups.length > 0;
  const block = isBefore ? [...lines, ''] : ['', ...lines];
  const edited = all.toSpliced(line, 0, ...block).join('\n');
  const added = listAt(
    listAt(plainDocument(['[[model]]', ...lines].join('\n')), 'model')[0],
    'prices',
  );
  return isExactly(edited, before, index, periods.toSpliced(at, 0, ...added)) ? edited : undefined;
}

/** Whether the text equals the document except for the periods of one model. */
function isExactly(
  text: string,
  before: unknown,
  index: number,
  periods: readonly unknown[],
): boolean {
  const models = listAt(before, 'model').map((model, at) => {
    if (at !== index) return model;
    const { prices: _, ...rest } = Object(model) as Record<string, unknown>;
    return periods.length === 0 ? rest : { ...rest, prices: periods };
  });
  try {
    return Bun.deepEquals(plainDocument(text), { ...Object(before), model: models });
  } catch {
    return false;
  }
}

/** Keeps environment references, and instants as text. */
function plainDocument(text: string): unknown {
  return substitute(parseToml(text, 'catalog'), {}, []);
}

function startOf(period: unknown): number {
  return parseInstant(textAt(period, 'valid_from') ?? '') ?? Number.NaN;
}

function shortInstant(ms: number): string {
  return isoTime(ms).replace('.000Z', 'Z');
}

function notEditable(slug: string): string {
  return `The prices of ${slug} are not written as tables of their own in the file, so they cannot be edited safely. Add them by hand.`;
}

/** The TOML to add by hand, for files that cannot be written. */
export function draftSnippet({ add = [], withdraw = [] }: PriceDraft): string {
  const parts = add.map(({ model, ...period }) =>
    [`# of the model ${model}`, ...renderPeriod(period)].join('\n'),
  );
  const gone = withdraw.map(
    ({ model, valid_from }) => `# remove the price of the model ${model} from ${valid_from} on`,
  );
  return `${[...gone, ...parts].join('\n\n')}\n`;
}
