// Estimates the cost of an answer while it streams, from its length and the model's prices. Only the
// bill at the end counts.

import type { PricingRecord } from '../../../records/model.ts';

const PLAIN_CHARACTERS_A_TOKEN = 4;
const OTHER_CHARACTERS_A_TOKEN = 1.5;

/** A rough count of model tokens. Scripts without spaces use more tokens per character. */
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

/** Prices are per million model tokens. */
export function costOf(pricing: PricingRecord, inputTokens: number, outputTokens: number): Cost {
  const tier = pricing.tiers?.findLast(({ above_tokens: bound }) => inputTokens > bound);
  const { svc_tokens: rates, input, output } = tier ?? pricing;
  const million = 1_000_000;
  const of = (inputRate: string, outputRate: string): number =>
    (inputTokens * Number(inputRate) + outputTokens * Number(outputRate)) / million;
  return { tokens: of(rates.input, rates.output), usd: of(input, output) };
}
