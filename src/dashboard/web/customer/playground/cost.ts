// What an answer costs while it is still being written: an estimate, from its length and the model's
// prices. The bill at the end is the gateway's own and counts alone.

import type { PricingRecord } from '../../../records/model.ts';

const PLAIN_CHARACTERS_A_TOKEN = 4;
const OTHER_CHARACTERS_A_TOKEN = 1.5;

/** How many model tokens a text is, roughly: scripts without spaces take more of them. */
export function estimateTokens(text: string): number {
  let plain = 0;
  let others = 0;
  for (const character of text) {
    if (character < '\u0250') plain += 1;
    else others += 1;
  }
  return Math.ceil(plain / PLAIN_CHARACTERS_A_TOKEN + others / OTHER_CHARACTERS_A_TOKEN);
}

type Cost = { readonly tokens: number; readonly usd: number };

/** Prices are for a million model tokens. */
export function costOf(
  { svc_tokens: rates, input, output }: PricingRecord,
  inputTokens: number,
  outputTokens: number,
): Cost {
  const million = 1_000_000;
  const of = (inputRate: string, outputRate: string): number =>
    (inputTokens * Number(inputRate) + outputTokens * Number(outputRate)) / million;
  return { tokens: of(rates.input, rates.output), usd: of(input, output) };
}
