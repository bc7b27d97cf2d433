// Changes of the catalog's text by an operator: checks the whole text, says what differs from the
// file, and publishes it. Secrets never leave the server.

import { checkDocument } from '../catalog/catalog.ts';
import { CATALOG_KINDS, entriesOf } from '../catalog/entries.ts';
import { catalogDigest, loadFound } from '../catalog/live.ts';
import { type Problem, tomlKey } from '../catalog/schema.ts';
import {
  filledText,
  type HiddenText,
  hiddenText,
  redacted,
  secretProblems,
} from '../catalog/secrets.ts';
import { CatalogError, type FoundCatalog, tomlProblem } from '../catalog/source.ts';
import { type DifferenceLine, textDifference } from '../catalog/text-difference.ts';
import { plainDocument } from '../catalog/toml-edit.ts';
import { pathText, readToml } from '../catalog/toml-text.ts';
import type { Catalog } from '../core/model.ts';
import { BUILT_IN_PLANS } from '../core/plan.ts';
import { type Sentence, say, wordsOf } from '../core/sentence.ts';
import type { Change } from '../identity/audit.ts';
import { catalogWarnings } from './catalog.ts';
import { OperationError } from './error.ts';
import { type PreparedText, type Published, previousText, publishText } from './publish-catalog.ts';

/** Where in the text, from line and column 1 on, and in the document. */
export type TextProblem = Problem & { readonly line: number; readonly column: number };

export type CheckedText = {
  readonly basedOn: string;
  readonly problems: readonly TextProblem[];
  /** Those that the draft brings, and those that the active catalog has already. */
  readonly warnings: readonly Sentence[];
  readonly standing: readonly Sentence[];
  readonly difference: readonly DifferenceLine[];
  /** The entries that differ, such as `model swift-1 changed`. */
  readonly changes: readonly ChangedEntry[];
  /** Present where there is no problem. */
  readonly result?: PreparedText & { readonly catalog: Catalog };
};

type ChangedEntry = { readonly id: string; readonly summary: Sentence };

export type TextFacts = {
  readonly nowMs: number;
  readonly active: Catalog;
  /** The names of the server's own settings, which no key may refer to. */
  readonly reserved: ReadonlySet<string>;
  /** The number of accounts on each plan. */
  readonly accounts: ReadonlyMap<string, number>;
};

/** The text for an editor. Throws `CatalogError` and `not_editable`. */
export function shownText(text: string): string {
  return hiddenIn(text).text;
}

function hiddenIn(text: string): HiddenText {
  plainDocument(text);
  try {
    return hiddenText(text);
  } catch {
    throw new OperationError(
      'not_editable',
      'The file is written in a way that cannot be edited safely. Change it by hand.',
    );
  }
}

/** Writes nothing. Throws `CatalogError` and `not_editable` for the file itself. */
export function checkText(found: FoundCatalog, typed: string, facts: TextFacts): CheckedText {
  const before = hiddenIn(found.text);
  // Browsers end the lines of a text with a newline alone.
  const text = found.text.includes('\r\n') ? typed.replaceAll(/\r?\n/g, '\r\n') : typed;
  const basedOn = catalogDigest(found.text);
  const none = { basedOn, warnings: [], standing: [], difference: [], changes: [] };
  const invalid = tomlProblem(text) ?? strictProblem(text);
  if (invalid !== undefined) {
    const { line, column, problem } = invalid;
    const words = say('is not TOML: {problem}', { problem });
    return { ...none, problems: [{ path: '', text: words, line, column }] };
  }
  const kept = [...keptIn(previousText(found) ?? ''), ...before.kept];
  const filled = filledText(text, new Map(kept));
  const [document, old] = [plainDocument(filled.text), plainDocument(found.text)];
  const problems = [
    ...filled.problems,
    ...secretProblems(text, before.text, facts.reserved),
    ...checkDocument(document, found.environment).problems,
    ...planProblems(old, document, facts.accounts),
  ];
  const difference = textDifference(redacted(before), redacted(hiddenText(filled.text)));
  const changes = entryChanges(old, document);
  if (problems.length > 0) {
    return { ...none, difference, changes, problems: placed(text, problems) };
  }
  try {
    const { catalog } = loadFound({ ...found, text: filled.text }, facts.nowMs);
    const result = { basedOn, text: filled.text, catalog };
    const known = new Set(catalogWarnings(facts.active, facts.nowMs).map(wordsOf));
    const isKnown = (warning: Sentence) => known.has(wordsOf(warning));
    const all = catalogWarnings(catalog, facts.nowMs);
    const warnings = all.filter((warning) => !isKnown(warning));
    const standing = all.filter(isKnown);
    return { basedOn, problems: [], warnings, standing, difference, changes, result };
  } catch (error) {
    if (!(error instanceof CatalogError)) throw error;
    const [words = say('is not valid')] = error.problems;
    return { ...none, difference, changes, problems: placed(text, [{ path: '', text: words }]) };
  }
}

/** None where a backup is not TOML. */
function keptIn(text: string) {
  try {
    return hiddenText(text).kept;
  } catch {
    return [];
  }
}

/** The parser with ranges takes less than the one that loads the catalog. */
function strictProblem(text: string) {
  try {
    readToml(text);
    return undefined;
  } catch (error) {
    const { lineNumber = 1, column = 0, message = 'is not TOML' } = Object(error);
    return { line: Number(lineNumber), column: Number(column) + 1, problem: String(message) };
  }
}

/** A plan that accounts are on cannot go. */
function planProblems(before: unknown, after: unknown, accounts: TextFacts['accounts']): Problem[] {
  const kept = entriesOf(after, 'plan');
  return [...entriesOf(before, 'plan').keys()].flatMap((slug) => {
    const count = accounts.get(slug) ?? 0;
    const stays = kept.has(slug) || BUILT_IN_PLANS.some((plan) => plan.slug === slug);
    if (stays || count === 0) return [];
    const text = say('is the plan of {count} accounts; change their plan first, then remove it', {
      count: String(count),
    });
    return [{ path: `plan.${tomlKey(slug)}`, text }];
  });
}

/** In the order of the text. What is missing has the place of its table. */
function placed(text: string, problems: readonly Problem[]): TextProblem[] {
  const starts = new Map(
    readToml(text).values.map(({ path, range }) => [pathText(path), range[0]]),
  );
  return problems
    .map((problem) => {
      let place = problem.path;
      while (!starts.has(place))
        place = place.replace(/(?:^|\.?)(?:[^.[\]"]+|"[^"]*"|.)$|\[\d+\]$/, '');
      const lines = text.slice(0, starts.get(place)).split('\n');
      return { ...problem, line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
    })
    .toSorted((a, b) => a.line - b.line || a.column - b.column);
}

function entryChanges(before: unknown, after: unknown): ChangedEntry[] {
  return CATALOG_KINDS.flatMap((kind) => {
    const [old, now] = [entriesOf(before, kind), entriesOf(after, kind)];
    return [...new Set([...old.keys(), ...now.keys()])].flatMap((id) => {
      if (Bun.deepEquals(old.get(id), now.get(id))) return [];
      const entry = { kind, id };
      if (!old.has(id)) return [{ id, summary: say('{kind} {id} added', entry) }];
      if (!now.has(id)) return [{ id, summary: say('{kind} {id} removed', entry) }];
      return [{ id, summary: say('{kind} {id} changed', entry) }];
    });
  });
}

const DETAIL_MAX = 4_000;

/** As `publishText`. The audit event has the difference, without secrets. */
export function publishCheckedText(
  change: Change,
  found: FoundCatalog,
  { result, problems, changes, difference }: CheckedText,
): Promise<Published> {
  const [first] = problems;
  if (result === undefined || difference.length === 0) {
    const why = first && `Line ${first.line}: ${first.path} ${wordsOf(first.text)}`;
    throw new OperationError('invalid_catalog', why ?? 'Nothing differs from the file.');
  }
  const lines = difference
    .filter(({ kind }) => kind === 'added' || kind === 'removed')
    .map(({ kind, text }) => `${kind === 'added' ? '+' : '-'} ${text}`);
  const bounded = (text: string) =>
    text.length > DETAIL_MAX ? `${text.slice(0, DETAIL_MAX)}…` : text;
  const detail = {
    summary: bounded(changes.map(({ summary }) => wordsOf(summary)).join('; ')),
    difference: bounded(lines.join('\n')),
  };
  const subject = changes.length === 1 ? (changes[0]?.id ?? 'catalog') : 'catalog';
  return publishText(change, found, result, { action: 'catalog.edited', subject, detail });
}
