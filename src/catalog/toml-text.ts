// Finds and writes tables in the text of a TOML file line by line, preserving everything else. It
// only recognizes headers and may be wrong inside multi-line strings, so callers parse the result
// and compare.

import type { PeriodEntry, WindowEntry } from './price-schema.ts';

/** Lines from `start` up to, but not including, `end`. */
type Lines = { readonly start: number; readonly end: number };

/** An entry of an array of tables, and the tables of one of its nested arrays. */
type TableGroup = {
  /** After its last line with content. */
  readonly end: number;
  readonly groups: readonly Lines[];
};

const HEADER = /^\s*(\[\[?)([^[\]]+)\]\]?\s*(?:#.*)?$/;

/** The entries of `[[name]]`, each with its `[[name.member]]` tables and everything below them. */
export function tableGroups(text: string, name: string, member: string): readonly TableGroup[] {
  const lines = text.split('\n');
  const headers = lines.flatMap((line, start) => {
    const [, brackets, path = ''] = HEADER.exec(line) ?? [];
    if (brackets === undefined) return [];
    return [{ start, isEntry: brackets === '[[', path: path.replace(/[\s"']/g, '') }];
  });
  const entries: { end: number; groups: { start: number; end: number }[] }[] = [];
  for (const [at, { start, isEntry, path }] of headers.entries()) {
    const end = endOfContent(lines, start, headers[at + 1]?.start ?? lines.length);
    if (isEntry && path === name) {
      entries.push({ end, groups: [] });
      continue;
    }
    const entry = entries.at(-1);
    if (entry === undefined || !path.startsWith(`${name}.`)) continue;
    entry.end = end;
    const group = entry.groups.at(-1);
    if (isEntry && path === `${name}.${member}`) entry.groups.push({ start, end });
    else if (group !== undefined && path.startsWith(`${name}.${member}.`)) group.end = end;
  }
  return entries;
}

/** Comments and empty lines before the next header belong to that header. */
function endOfContent(lines: readonly string[], start: number, limit: number): number {
  let end = limit;
  while (end > start + 1 && /^\s*(#.*)?$/.test(lines[end - 1] ?? '')) end -= 1;
  return end;
}

/** Also removes an empty line before the table. */
export function textWithout(text: string, { start, end }: Lines): string {
  const lines = text.split('\n');
  const from = lines[start - 1]?.trim() === '' ? start - 1 : start;
  return lines.toSpliced(from, end - from).join('\n');
}

const RATES = ['input', 'cached_input', 'cache_write', 'output'] as const;

/** A price period as a table of the preceding model. */
export function renderPeriod(period: PeriodEntry): string[] {
  const { valid_from, windows = [] } = period;
  return [
    '[[model.prices]]',
    `valid_from = ${valid_from.trim().replace(' ', 'T')}`,
    ...rates(period),
    ...(windows.length === 0
      ? []
      : ['windows = [', ...windows.map((window) => `  { ${renderWindow(window)} },`), ']']),
  ];
}

function renderWindow(window: WindowEntry): string {
  const { from, to, days } = window;
  const list = days?.map((day) => `"${day}"`).join(', ');
  return [
    `from = "${from}"`,
    `to = "${to}"`,
    ...(list === undefined ? [] : [`days = [${list}]`]),
    ...rates(window),
  ].join(', ');
}

function rates(entry: Pick<PeriodEntry, (typeof RATES)[number]>): string[] {
  return RATES.flatMap((name) => {
    const rate = entry[name];
    return rate === undefined ? [] : [`${name} = "${rate}"`];
  });
}
