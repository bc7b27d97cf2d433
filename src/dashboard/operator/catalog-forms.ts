// The forms of models, upstreams and plans: what they start with, and the catalog's text with what they
// say.

import {
  type CatalogEntry,
  type CatalogEntryKind,
  entriesOf,
  NAMED_BY,
  withEntry,
} from '../../catalog/entries.ts';
import { entryDefaults, entryFields } from '../../catalog/entry-fields.ts';
import { profileNames } from '../../catalog/profiles.ts';
import { tomlProblem } from '../../catalog/source.ts';
import { editToml, plainDocument } from '../../catalog/toml-edit.ts';
import { OperationError } from '../../operations/error.ts';
import { invalidRequest, notFound } from '../edge/error.ts';

function documentOf(text: string): CatalogEntry {
  const invalid = tomlProblem(text);
  if (invalid !== undefined)
    throw invalidRequest('The text is not TOML. Correct it first.', 'text');
  return plainDocument(text);
}

/** What a form of an entry starts with. */
export function entryRecord(text: string, kind: CatalogEntryKind, id: string | null) {
  const document = documentOf(text);
  const entry = id === null ? undefined : entriesOf(document, kind).get(id);
  const defaults = entryDefaults(kind, id ?? undefined);
  const isKnown = entry !== undefined || (kind === 'plan' && defaults['name'] !== undefined);
  if (id !== null && !isKnown) throw notFound(kind);
  return {
    /** Null where the text has none: a new entry, and a plan that is only built in. */
    entry: entry ?? null,
    defaults,
    fields: entryFields(kind),
    /** Names that fields can refer to. */
    names: {
      upstreams: [...entriesOf(document, 'upstream').keys()],
      profiles: profileNames(document['profile']).map(({ name }) => name),
    },
  };
}

/** The text with an entry of a form in it, and the path of the entry, such as `model[2]`. */
export function editedText(
  text: string,
  kind: CatalogEntryKind,
  id: string | null,
  entry: CatalogEntry | null,
): { readonly text: string; readonly path: string } {
  const document = documentOf(text);
  if (!isPlain(entry ?? {}, DEPTH_MAX)) throw invalidRequest('The entry is not valid.', 'entry');
  const name = String(entry?.[NAMED_BY[kind]] ?? id ?? '');
  if (id === null && entriesOf(document, kind).has(name)) {
    throw new OperationError('entry_exists', `The catalog has a ${kind} with this name already.`);
  }
  const wanted = withEntry(document, { kind, id: id ?? undefined, entry: entry ?? undefined });
  const edited = editToml(text, wanted.document);
  if (edited === undefined) {
    throw new OperationError(
      'not_editable',
      'The entry is written in a way that a form cannot change. Edit the text instead.',
    );
  }
  return { text: edited, path: wanted.path };
}

const DEPTH_MAX = 8;

/** Whether a value has a form in TOML. */
function isPlain(value: unknown, depth: number): boolean {
  if (typeof value === 'object' && value !== null) {
    return depth > 0 && Object.values(value).every((each) => isPlain(each, depth - 1));
  }
  return typeof value === 'number'
    ? Number.isFinite(value)
    : ['string', 'boolean'].includes(typeof value);
}
