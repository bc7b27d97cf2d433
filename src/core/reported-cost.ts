// The cost that some upstreams report beside the counts. It is for reconciling the operator's costs;
// no charge depends on it.

import { isObject, parseJson } from './json.ts';
import { formatDecimal, readNumber } from './money.ts';

/** xAI counts ten billion ticks a USD. */
const TICK_DECIMALS = 10;

/** A JavaScript number has the digits of its JSON text up to 15 of them. */
const PLACES_MAX = 18;
const USD_MAX = 10 ** 18;

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
  if (typeof cost !== 'number' || cost > USD_MAX) return undefined;
  const read = readNumber(String(cost), PLACES_MAX);
  const isAmount = read?.isExact === true && read.value >= 0n;
  return isAmount ? formatDecimal(read.value, PLACES_MAX) : undefined;
}
