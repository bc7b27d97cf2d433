// `tollgate catalog suggest`: drafts a catalog from a price list in a file. Changes nothing: the
// draft is printed, or written to a new file.

import { closeSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { loadFound } from '../catalog/live.ts';
import { readPriceList } from '../catalog/price-source.ts';
import { type Suggestion, suggest } from '../catalog/suggest.ts';
import { editToml, plainDocument } from '../catalog/toml-edit.ts';
import { renderValue } from '../catalog/toml-values.ts';
import { readDecimal } from '../core/decimal.ts';
import { checkCatalog } from '../operations/catalog.ts';
import { CommandError, type Output } from './command.ts';
import type { Context } from './context.ts';
import { createFile } from './new-file.ts';

export type SuggestOptions = {
  readonly from: string;
  readonly upstream: string;
  readonly provider?: string;
  readonly models?: string;
  readonly margin: string;
  readonly output?: string;
};

export function suggestCatalog(context: Context, options: SuggestOptions): Output {
  const { from, upstream, provider = upstream, models } = options;
  const margin = readDecimal(options.margin.replace(/ ?%$/, ''), 4);
  if (margin?.isExact !== true || margin.value < 0n) {
    throw new CommandError('invalid_number', '--margin needs a percentage such as 20%.');
  }
  const { usdPerMillion, upstreams } = context.loadedCatalog().catalog;
  if (!upstreams.has(upstream)) throw oneOf('--upstream', 'the catalog', upstreams.keys());
  const lists = readPriceList(readText(resolve(context.directory, from)), basename(from));
  const list = lists.get(provider);
  if (list === undefined) throw oneOf('--provider', 'the list', lists.keys());
  const found = context.foundCatalog();
  const { document, ...suggestion } = suggest(list, {
    ...{ document: plainDocument(found.text), upstream, usdPerMillion, margin: margin.value },
    names: models?.split(',').map((name) => name.trim()),
  });
  const isSame = suggestion.changes.length === 0;
  const text = isSame ? '' : editToml(found.text, document);
  if (text === undefined) {
    const message = 'The catalog cannot be edited as it is. Write its models as [[model]].';
    throw new CommandError('not_editable', message);
  }
  const nowMs = context.clock();
  const load = () => (isSame ? context.loadedCatalog() : loadFound({ ...found, text }, nowMs));
  const { problems } = checkCatalog(load, nowMs);
  const file =
    isSame || options.output === undefined ? null : writeDraft(context, options.output, text);
  const lines = [
    `From ${provider} of ${basename(from)}, for the upstream ${upstream}.`,
    ...changeLines(suggestion),
    ...suggestion.notes.map((note) => `Note: ${note}.`),
    `Not in the catalog, for --models: ${suggestion.others.join(', ') || 'none'}.`,
    ...problems.map((problem) => `The draft is not valid: ${problem}`),
    ...(file === null ? [] : [`The draft is in ${file}.`]),
  ];
  const comments = lines.map((line) => `# ${line}\n`).join('');
  return {
    json: { provider, upstream, ...suggestion, problems, file, text: isSame ? null : text },
    text: file === null && !isSame ? `${comments}\n${text.trimEnd()}` : lines.join('\n'),
    exitCode: problems.length === 0 ? 0 : 1,
  };
}

function oneOf(option: string, where: string, names: Iterable<string>): CommandError {
  const list = [...names].toSorted().join(', ');
  return new CommandError('unknown_name', `${option} needs one of ${where}: ${list}.`);
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    throw new CommandError('file_not_readable', `${path} cannot be read. Check --from.`);
  }
}

function writeDraft({ directory }: Context, name: string, text: string): string {
  const path = resolve(directory, name);
  const descriptor = createFile(path, 'Give another name: a draft replaces nothing.');
  writeFileSync(descriptor, text);
  closeSync(descriptor);
  return path;
}

function changeLines({ changes }: Pick<Suggestion, 'changes'>): string[] {
  const show = (value: unknown) => (value === undefined ? 'none' : renderValue(value));
  if (changes.length === 0) return ['Nothing differs.'];
  return changes.flatMap(({ slug, isNew, members }) => {
    if (isNew) return [`${slug} is new.`];
    return members.map(({ member, before, after }) => {
      return `${slug}: ${member} ${show(before)} -> ${show(after)}`;
    });
  });
}
