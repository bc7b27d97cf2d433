// Adds, changes and removes models, upstreams and plans in the catalog file: checks the whole catalog
// with the change in it, says what differs, and publishes the text. Secrets never leave it.

import { checkDocument } from '../catalog/catalog.ts';
import {
  type CatalogEntry,
  type CatalogEntryKind,
  entriesOf,
  memberChanges,
  NAMED_BY,
  referencesTo,
  withEntry,
} from '../catalog/entries.ts';
import { catalogDigest, loadFound } from '../catalog/live.ts';
import type { Problem } from '../catalog/schema.ts';
import { masked, redacted, secretProblems, unmasked } from '../catalog/secrets.ts';
import type { FoundCatalog } from '../catalog/source.ts';
import { type DifferenceLine, textDifference } from '../catalog/text-difference.ts';
import { editToml, plainDocument } from '../catalog/toml-edit.ts';
import { renderSection, renderValue } from '../catalog/toml-values.ts';
import type { Catalog } from '../core/model.ts';
import { BUILT_IN_PLANS } from '../core/plan.ts';
import type { Change } from '../identity/audit.ts';
import { OperationError } from './error.ts';
import { type PreparedText, type Published, publishText } from './publish-catalog.ts';

export type EntryDraft = {
  readonly kind: CatalogEntryKind;
  /** The entry of the file that is changed; absent for a new one. */
  readonly id: string | undefined;
  /** Absent where the entry goes. */
  readonly entry: CatalogEntry | undefined;
  /** The entry of the file that a new one was copied from, with its keys. */
  readonly from?: string | undefined;
};

export type PreparedEntry = {
  readonly basedOn: string;
  /** By the path within the entry, such as `served_by[0].upstream`. */
  readonly problems: readonly Problem[];
  /** Problems of the rest of the catalog, one line each. */
  readonly elsewhere: readonly string[];
  /** What changes, such as `swift-1: max_output 8192 → 16384`. */
  readonly summary: readonly string[];
  readonly difference: readonly DifferenceLine[];
  /** The entry as text for the file, for editing by hand. */
  readonly snippet: string;
  /** Present where there is no problem and something changes. */
  readonly result?: PreparedText & { readonly catalog: Catalog };
};

export type EntryFacts = {
  readonly nowMs: number;
  /** The names of the server's own settings, which no key may refer to. */
  readonly reserved: ReadonlySet<string>;
  /** The number of accounts on each plan. */
  readonly accounts: ReadonlyMap<string, number>;
};

/**
 * Writes nothing. Throws `CatalogError` where the file cannot be read, `entry_not_found`,
 * `entry_exists`, `entry_in_use` and `not_editable`.
 */
export function prepareEntry(
  found: FoundCatalog,
  draft: EntryDraft,
  facts: EntryFacts,
): PreparedEntry {
  const before = plainDocument(found.text);
  const { source, entry, problems: own } = entryOf(before, draft, facts);
  const wanted = withEntry(before, { ...draft, entry });
  const checked = checkDocument(wanted.document, found.environment);
  const within = `${wanted.path}.`;
  const ofEntry = checked.problems.filter(({ path }) => `${path}.`.startsWith(within));
  const prepared = {
    basedOn: catalogDigest(found.text),
    problems: [
      ...own,
      ...ofEntry.map(({ path, text }) => ({
        path: path.slice(within.length) || NAMED_BY[draft.kind],
        text,
      })),
    ],
    elsewhere: checked.problems
      .filter((problem) => !ofEntry.includes(problem))
      .map(({ path, text }) => `${path}: ${text}`),
    summary: summaryOf(draft.kind, source, entry),
    snippet: entry === undefined ? '' : snippetOf(draft.kind, entry),
  };
  if (prepared.problems.length + prepared.elsewhere.length > 0) {
    return { ...prepared, difference: [] };
  }
  const text = editToml(found.text, wanted.document);
  if (text === undefined) {
    throw new OperationError(
      'not_editable',
      'The file is written in a way that cannot be edited safely. Change it by hand.',
    );
  }
  const difference = textDifference(redacted(found.text), redacted(text));
  if (text === found.text) return { ...prepared, difference };
  const { catalog } = loadFound({ ...found, text }, facts.nowMs);
  return { ...prepared, difference, result: { basedOn: prepared.basedOn, text, catalog } };
}

/** The entry with its secrets, the one that it replaces, and what a form may not write. */
function entryOf(document: CatalogEntry, draft: EntryDraft, { reserved, accounts }: EntryFacts) {
  const { kind, id, from } = draft;
  const entries = entriesOf(document, kind);
  const source = id === undefined ? undefined : entries.get(id);
  const isBuiltIn = kind === 'plan' && BUILT_IN_PLANS.some(({ slug }) => slug === id);
  if (id !== undefined && source === undefined && !isBuiltIn) {
    throw new OperationError('entry_not_found', `The file has no ${kind} with this name.`);
  }
  if (draft.entry === undefined) {
    refuseUsed(document, kind, id ?? '', isBuiltIn ? 0 : (accounts.get(id ?? '') ?? 0));
    return { source, entry: undefined, problems: [] };
  }
  const name = String(draft.entry[NAMED_BY[kind]] ?? '');
  if (id === undefined && entries.has(name)) {
    throw new OperationError('entry_exists', `The file has a ${kind} with this name already.`);
  }
  const renamed: Problem[] =
    id === undefined || id === name
      ? []
      : [{ path: NAMED_BY[kind], text: 'must not change; duplicate the entry instead' }];
  const copied = source ?? (from === undefined ? undefined : entries.get(from));
  const problems = secretProblems(draft.entry, masked(copied ?? {}), reserved);
  const restored = unmasked(draft.entry, copied);
  return {
    source,
    entry: restored.entry,
    problems: [...renamed, ...restored.problems, ...problems],
  };
}

function refuseUsed(
  document: CatalogEntry,
  kind: CatalogEntryKind,
  id: string,
  accounts: number,
): void {
  const users = referencesTo(document, kind, id).map(
    (each) => `${each.member} of the ${each.kind} ${each.id}`,
  );
  if (accounts > 0) users.push(`the plan of ${accounts} accounts`);
  if (users.length === 0) return;
  const listed = users.slice(0, 10).join(', ');
  const more = users.length > 10 ? ` and ${users.length - 10} more` : '';
  throw new OperationError(
    'entry_in_use',
    `This ${kind} is in use: ${listed}${more}. Change those first, then remove it.`,
  );
}

function summaryOf(
  kind: CatalogEntryKind,
  before: CatalogEntry | undefined,
  after: CatalogEntry | undefined,
): string[] {
  const shown = (value: unknown) => (value === undefined ? 'not set' : renderValue(value));
  const name = String((after ?? before)?.[NAMED_BY[kind]] ?? '');
  if (after === undefined) return [`${kind} ${name} removed`];
  if (before === undefined) return [`${kind} ${name} added`];
  return memberChanges(masked(before), masked(after)).map(
    ({ member, before: from, after: to }) => `${name}: ${member} ${shown(from)} → ${shown(to)}`,
  );
}

function snippetOf(kind: CatalogEntryKind, entry: CatalogEntry): string {
  const { slug, ...rest } = masked(entry);
  const isPlan = kind === 'plan';
  const path = isPlan ? ['plan', String(slug)] : [kind];
  const table = isPlan || slug === undefined ? rest : { slug, ...rest };
  return `${redacted(renderSection(path, table, !isPlan, ['prices'], true))}\n`;
}

const DETAIL_MAX = 4_000;

/** As `publishText`. The audit event has the difference, without secrets. */
export function publishEntry(
  change: Change,
  found: FoundCatalog,
  { kind, id, entry }: EntryDraft,
  prepared: PreparedEntry,
): Promise<Published> {
  const { result, problems, elsewhere, summary, difference } = prepared;
  if (result === undefined) {
    const [first] = [...problems.map(({ path, text }) => `${path} ${text}`), ...elsewhere];
    throw new OperationError('invalid_entry', first ?? 'Nothing differs from the file.');
  }
  const lines = difference
    .filter(({ kind: each }) => each === 'added' || each === 'removed')
    .map(({ kind: each, text }) => `${each === 'added' ? '+' : '-'} ${text}`);
  const bounded = (text: string) =>
    text.length > DETAIL_MAX ? `${text.slice(0, DETAIL_MAX)}…` : text;
  const detail = {
    kind,
    change: entry === undefined ? 'removed' : id === undefined ? 'added' : 'changed',
    summary: bounded(summary.join('; ')),
    difference: bounded(lines.join('\n')),
  };
  const subject = id ?? String(entry?.[NAMED_BY[kind]]);
  return publishText(change, found, result, { action: 'catalog.edited', subject, detail });
}
