// Reads what one record of a vendor's export bills.

import { readDecimal } from '../../core/decimal.ts';
import { parseInstant } from '../../core/instant.ts';
import type { Entry } from './cells.ts';
import type { ExportFormat } from './formats.ts';
import { badRow, type ExportRecord } from './records.ts';

/** Words for what has the prices of the price list. */
const STANDARD =
  /^(default|standard|auto|message|tokens?|false|0-200k|≤ 200k|global|not_available|)$/i;

const TIMES = ['start_time', 'end_time', 'start_time_iso', 'end_time_iso', 'results'];

/** Throws `bad_row` with the record's place. Undefined for a day without anything. */
export function readBilled(record: ExportRecord, format: ExportFormat): Entry | undefined {
  const { values, place } = record;
  if ([...values].every(([name, value]) => value === '' || TIMES.includes(name))) return undefined;
  const text = (column = '') => values.get(column) ?? '';
  function read<T>(column: string, expected: string, parse: (text: string) => T | undefined): T {
    const value = parse(text(column));
    if (value !== undefined) return value;
    throw badRow(place, `${column} must be ${expected}, not "${text(column).slice(0, 40)}"`);
  }
  /** A blank is zero in a column that the export has. */
  const count = (column = '') =>
    values.has(column) ? read(column, 'a whole number', wholeNumber) : undefined;
  const usd = (column: string) =>
    read(column, 'an amount', (found) => readDecimal(found || '0', format.decimals ?? 18)?.value);

  const { currency, uncached, model, elsewhere } = format;
  if (currency) read(currency, 'usd', (found) => /^(usd)?$/i.test(found) || undefined);
  const [cached, written, hour = 0] = [format.cached, format.cacheWrite, format.cacheWrite1h].map(
    count,
  );
  const cacheWrite = written === undefined ? undefined : written + hour;
  const rest = (cached ?? 0) + (cacheWrite ?? 0);
  const item = model === 'line_item' ? lineItem(text(model)) : { model: text(model), marks: [] };
  const marks = [
    ...format.marks.map((column) => (/^true$/i.test(text(column)) ? column : text(column))),
    ...item.marks,
    hour > 0 ? 'cache writes for an hour' : '',
    elsewhere !== undefined && usd(elsewhere) > 0n ? 'byok' : '',
  ];
  return {
    ...{ atMs: read(format.day, 'a day or a time', instantOf), model: item.model },
    ...{ key: text(format.key), requests: format.isCall ? 1 : count(format.requests) },
    usd: format.amount === undefined ? undefined : usd(format.amount),
    tokens: {
      input: uncached === undefined ? count(format.input) : (count(uncached) ?? 0) + rest,
      ...{ cached_input: cached, cache_write: cacheWrite, output: count(format.output) },
    },
    marks: marks.filter((word) => !STANDARD.test(word)),
  };
}

/** `priority | gpt-5, cached input, long context`; other items have no model. */
function lineItem(text: string): Pick<Entry, 'model' | 'marks'> {
  const [, tier = '', name = ''] = /^(?:([a-z]+) \| )?(.*)$/i.exec(text) ?? [];
  const [model = '', kind = '', ...more] = name.split(', ');
  const isTokens = /\b(input|output|cache)/.test(kind);
  return isTokens ? { model, marks: [tier, ...more] } : { model: '', marks: [text] };
}

function wholeNumber(text: string): number | undefined {
  const { value, isExact } = readDecimal(text || '0', 0) ?? { value: -1n, isExact: false };
  return isExact && value >= 0n && value < 10n ** 15n ? Number(value) : undefined;
}

/** Unix seconds, a day, or an instant; UTC where it has no zone. */
function instantOf(text: string): number | undefined {
  if (/^\d{9,11}$/.test(text)) return Number(text) * 1_000;
  const [, day, time = '00:00:00', zone = 'Z'] =
    /^(\S{10})(?:[T ](\d{2}:\d{2}:\d{2})(?:\.\d+)?(Z|[+-]\d{2}:\d{2})?)?$/.exec(text) ?? [];
  return parseInstant(`${day}T${time}${zone}`);
}
