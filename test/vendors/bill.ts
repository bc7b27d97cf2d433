// What an answer costs: as its counts and the prices of the matrix say, in the test's own arithmetic,
// and as the answer itself says.

import { usageIn } from '../support/answer.ts';
import type { EveryFormat } from '../support/client.ts';
import { must } from './cases/case.ts';
import { PRICE } from './catalog.ts';
import type { Row } from './rows.ts';
import type { Counts, Json } from './stand-ins/server.ts';

/** Prices have seven digits behind the point; a ledger's unit has six. */
const PRICE_DIGITS = 7;
const UNIT = 1_000_000n;

function scaled(price: string): bigint {
  const [whole = '0', part = ''] = price.split('.');
  return BigInt(whole + part.padEnd(PRICE_DIGITS, '0'));
}

/** The service tokens that counts cost, as the gateway prints them. */
function costOf({ prompt, cached, written, output }: Counts, { writes }: Row): string {
  const toCache = writes ? written : 0;
  const exact =
    BigInt(prompt - cached - toCache) * scaled(PRICE.input) +
    BigInt(cached) * scaled(PRICE.cached_input) +
    BigInt(toCache) * scaled(PRICE.cache_write) +
    BigInt(output) * scaled(PRICE.output);
  // Half up, once, from seven digits to six.
  const units = (exact + 5n) / 10n;
  const part = String(units % UNIT)
    .padStart(6, '0')
    .replace(/0+$/, '');
  return part === '' ? `${units / UNIT}` : `${units / UNIT}.${part}`;
}

/** Throws unless the answer's bill and counts are what the vendor's counts say. */
export function mustBill(
  text: string,
  { row, format }: { readonly row: Row; readonly format: EveryFormat },
  counts: Counts | undefined,
): void {
  must(counts !== undefined, 'the stand-in reported no counts');
  const last = text.split('\n').findLast((line) => line.includes('svc_tokens_debited')) ?? '{}';
  const event = JSON.parse(last.replace(/^data: /, '')) as Json;
  const usage = { ...usageIn(event), ...(usageIn(event)?.['input_tokens_details'] as Json) };
  const wanted: Json = {
    svc_tokens_debited: costOf(counts, row),
    ...{
      chat: { prompt_tokens: counts.prompt, prompt_cache_hit_tokens: counts.cached },
      messages: { cache_read_input_tokens: counts.cached },
      responses: { input_tokens: counts.prompt, cached_tokens: counts.cached },
    }[format],
  };
  for (const [name, value] of Object.entries(wanted)) {
    must(usage[name] === value, `${name} is ${String(usage[name])}, not ${value}`);
  }
}
