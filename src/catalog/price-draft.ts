// Future prices drafted by an operator: the format of a draft, and the catalog text with the draft
// applied. Comments and formatting of the file are preserved. Only the drafted periods change,
// which is verified before the text is returned. Pure.

import { type Static, type TObject, type TSchema, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { isoTime } from '../core/calendar.ts';
import { parseInstant } from '../core/instant.ts';
import { plainly, type Sentence, say } from '../core/sentence.ts';
import { listAt, memberOf, textAt } from './document.ts';
import { type PeriodEntry, PeriodSchema, TierSchema } from './price-schema.ts';
import { shapeProblems } from './schema.ts';
import { closed, listOf, text } from './shapes.ts';
import { CatalogError, inFile, parseToml, substitute } from './source.ts';
import { editToml, plainDocument } from './toml-edit.ts';

const Model = text(plainly('the slug of a model'), { minLength: 1, maxLength: 64 });

/** A model's price from an instant on, in catalog syntax. */
const AddedPeriod = Type.Composite([Type.Object({ model: Model }), PeriodSchema], {
  additionalProperties: false,
  expects: plainly('a table with a model and its price from an instant on'),
});

const WithdrawnPeriod = closed(
  { model: Model, valid_from: PeriodSchema.properties.valid_from },
  plainly('a table with model and valid_from'),
);

const CHANGES_MAX = 200;

const changes = <T extends TSchema>(change: T) =>
  Type.Optional(
    listOf(change, plainly(`a list of at most ${CHANGES_MAX} prices`), {
      maxItems: CHANGES_MAX,
    }),
  );

/** The members of a draft, shared with the console's routes. */
export const DRAFT = {
  add: changes(AddedPeriod),
  withdraw: changes(WithdrawnPeriod),
};

const DraftSchema = closed(DRAFT, plainly('a table with add or withdraw'));

export type PriceDraft = Static<typeof DraftSchema>;

/** Parses the text of a draft, TOML or JSON. Throws `CatalogError`. */
export function readDraft(text: string, label: string): PriceDraft {
  const value = text.trimStart().startsWith('{') ? parseJson(text, label) : parseToml(text, label);
  const plain = substitute(value, {}, []);
  if (Value.Check(DraftSchema, plain)) return plain;
  throw new CatalogError(
    shapeProblems(plain, DraftSchema, '').map((problem) => inFile(label, problem)),
  );
}

function parseJson(text: string, label: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new CatalogError([plainly(`${label}: is not JSON`)]);
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
  const document = plainDocument(text);
  const drafted = editToml(text, {
    ...document,
    model: draftedModels(document, draft, slugOf, nowMs),
  });
  return drafted === undefined ? { notEditable: NOT_EDITABLE } : { text: drafted };
}

const NOT_EDITABLE =
  'The file is written in a way that cannot be edited safely. Edit the prices by hand.';

type Periods = { prices: readonly unknown[] };

/** Withdraws first, so that a period can be replaced. */
function draftedModels(
  document: unknown,
  { add = [], withdraw = [] }: PriceDraft,
  slugOf: (name: string) => string | undefined,
  nowMs: number,
): unknown[] {
  const models = listAt(document, 'model').map((model) => ({ ...Object(model) }));
  const problems: Sentence[] = [];
  const refuse = (path: string, text: Sentence) =>
    problems.push(say('{path}: {problem}', { path, problem: text }));
  const find = (path: string, entry: { readonly model: string; readonly valid_from: string }) => {
    const slug = slugOf(entry.model);
    const model: Periods | undefined =
      slug === undefined ? undefined : models.find((each) => textAt(each, 'slug') === slug);
    const atMs = parseInstant(entry.valid_from);
    if (model === undefined) refuse(`${path}.model`, say('is not in the catalog'));
    if (atMs === undefined) refuse(`${path}.valid_from`, say('must be an instant'));
    else if (atMs <= nowMs) refuse(`${path}.valid_from`, PAST);
    return { model, periods: listAt(model, 'prices'), atMs: atMs ?? 0 };
  };
  for (const [at, entry] of withdraw.entries()) {
    const { model, periods, atMs } = find(`withdraw[${at}]`, entry);
    const left = periods.filter((period) => startOf(period) !== atMs);
    if (left.length === periods.length) {
      refuse(`withdraw[${at}].valid_from`, say('no price of the model begins then'));
    }
    if (model !== undefined) model.prices = left;
  }
  for (const [at, entry] of add.entries()) {
    const { model, periods, atMs } = find(`add[${at}]`, entry);
    if (model === undefined) continue;
    if (periods.some((period) => startOf(period) === atMs)) {
      refuse(`add[${at}].valid_from`, say('another price of the model begins then'));
    }
    const later = periods.findIndex((period) => startOf(period) >= atMs);
    const period = { ...periodOf(entry), valid_from: isoTime(atMs).replace('.000Z', 'Z') };
    model.prices = periods.toSpliced(later < 0 ? periods.length : later, 0, period);
  }
  if (problems.length > 0) throw new CatalogError(problems);
  if (withdraw.length + add.length === 0) {
    throw new CatalogError([say('The draft changes nothing. Add a price, or withdraw one.')]);
  }
  return models.map(({ prices, ...model }) =>
    prices === undefined || prices.length === 0 ? model : { ...model, prices },
  );
}

const PAST = say('must be later than now: what has been sold keeps its price');

/** In the order of the file. */
function periodOf(entry: PeriodEntry): PeriodEntry {
  const { windows, tiers, ...rest } = entry;
  return inOrder(PeriodSchema, {
    ...rest,
    ...(tiers && { tiers: tiers.map((tier) => inOrder(TierSchema, tier)) }),
    ...(windows && windows.length > 0 && { windows }),
  });
}

/** The members in the order of their schema, without others. */
function inOrder<Entry extends object>({ properties }: TObject, entry: Entry): Entry {
  const members = Object.keys(properties).flatMap((name) => {
    const value: unknown = memberOf(entry, name);
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(members);
}

function startOf(period: unknown): number {
  return parseInstant(textAt(period, 'valid_from') ?? '') ?? Number.NaN;
}
