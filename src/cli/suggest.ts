// `tollgate catalog suggest`: drafts a catalog from a price list in a file, and prints what differs
// as comments before it. Changes nothing.

import { basename } from 'node:path';
import { loadFound } from '../catalog/live.ts';
import { readPriceList } from '../catalog/price-source.ts';
import { findCatalog } from '../catalog/source.ts';
import { suggest } from '../catalog/suggest.ts';
import { editToml, plainDocument } from '../catalog/toml-edit.ts';
import { renderValue } from '../catalog/toml-values.ts';
import { checkInEnglish } from '../operations/catalog.ts';
import { CommandError, type Output } from './command.ts';
import type { Context } from './context.ts';
import { oneOf, parsePercent } from './parse.ts';

export type SuggestOptions = {
  readonly from: string;
  readonly upstream: string;
  readonly provider?: string;
  readonly models?: string;
  readonly margin: string;
};

export function suggestCatalog(context: Context, options: SuggestOptions): Output {
  const { from, upstream, provider = upstream, models } = options;
  const margin = parsePercent(options.margin, '--margin');
  const { usdPerMillion, upstreams } = context.loadedCatalog().catalog;
  if (!upstreams.has(upstream)) throw oneOf('--upstream', 'the catalog', upstreams.keys());
  const { directory } = context;
  const { text } = findCatalog({ path: from, directory, environment: {}, namedBy: '--from' });
  const lists = readPriceList(text, basename(from), usdPerMillion);
  const list = lists.get(provider);
  if (list === undefined) throw oneOf('--provider', 'the list', lists.keys());
  const found = context.foundCatalog();
  const names = models?.split(',').map((name) => name.trim());
  const before = plainDocument(found.text);
  const { document, ...drafted } = suggest(list, { document: before, upstream, names, margin });
  const draft = editToml(found.text, document);
  if (draft === undefined) {
    throw new CommandError('not_editable', 'The catalog needs its models as [[model]].');
  }
  const nowMs = context.clock();
  const checked = checkInEnglish(() => loadFound({ ...found, text: draft }, nowMs), nowMs);
  const warnings = checked.ok ? checked.warnings : [];
  const show = (value: unknown) => (value === undefined ? 'none' : renderValue(value));
  const lines = [
    `From ${provider} of ${basename(from)}, for the upstream ${upstream}.`,
    ...drafted.changes.map(({ slug, member, before: old, after }) => {
      return `${slug}: ${member} ${show(old)} -> ${show(after)}`;
    }),
    ...(drafted.changes.length === 0 ? ['Nothing differs.'] : []),
    ...drafted.notes.map((note) => `Note: ${note}.`),
    ...warnings.map((warning) => `Warning: ${warning}.`),
    ...checked.problems.map((problem) => `The draft is not valid: ${problem}`),
    `Not in the catalog, for --models: ${drafted.others.join(', ') || 'none'}.`,
  ];
  return {
    json: { provider, upstream, ...drafted, warnings, problems: checked.problems, text: draft },
    text: `${lines.map((line) => `# ${line}\n`).join('')}\n${draft.trimEnd()}`,
    exitCode: checked.ok ? 0 : 1,
  };
}
