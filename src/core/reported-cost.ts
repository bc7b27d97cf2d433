// The cost that some upstreams report beside the counts. It is for reconciling the operator's costs;
// no charge depends on it.

import { isObject, parseJson } from './json.ts';
import { formatDecimal } from './money.ts';

/** xAI counts ten billion ticks a USD. */
const TICK_DECIMALS = 10;

/** The digits of a JavaScript number, which are those of its JSON text up to 15 of them. */
const NUMBER = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/;
const PLACES_MAX = 18;

/**
 * The cost in USD as an exact decimal, from the numbers of a usage report. `cost` is OpenRouter's,
 * `cost_in_usd_ticks` xAI's. Undefined if there is none, or none that a decimal of 18 places holds.
 */
export function reportedCostUsd(rawUsage: string | undefined): string | undefined {
  if (rawUsage === undefined || !rawUsage.includes('"cost')) return undefined;
  const report = parseJson(rawUsage);
  if (!isObject(report)) return undefined;
  const { cost, cost_in_usd_ticks: ticks } = report;
  if (typeof ticks === 'number') {
    return Number.isSafeInteger(ticks) && ticks >= 0
      ? formatDecimal(BigInt(ticks), TICK_DECIMALS)
      : undefined;
  }
  return typeof cost === 'number' ? decimalOf(cost) : undefined;
}

function decimalOf(value: number): string | undefined {
  const match = NUMBER.exec(String(value));
  if (match === null) return undefined;
  const [, whole = '', fraction = '', exponent = '0'] = match;
  const places = fraction.length - Number(exponent);
  if (places > PLACES_MAX || places < -PLACES_MAX) return undefined;
  const digits = BigInt(whole + fraction);
  return places > 0 ? formatDecimal(digits, places) : String(digits * 10n ** BigInt(-places));
}
