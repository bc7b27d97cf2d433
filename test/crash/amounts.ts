// The crash test's own arithmetic of money, independent of the gateway's: the cost of usage, and
// how amounts are written.

import { type ModelName, PRICES } from './setup.ts';

type Counts = {
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly outputTokens: number;
};

/** In 10⁻⁶ service token. A fallback costs the lower of the two prices. */
export function costOf(counts: Counts, requested: string, served = requested): bigint {
  const costs = [requested, served].map((model) => {
    const price = PRICES[model as ModelName];
    return (
      BigInt(counts.inputTokens - counts.cachedInputTokens) * price.input +
      BigInt(counts.cachedInputTokens) * price.cached +
      BigInt(counts.outputTokens) * price.output
    );
  });
  return costs.reduce((least, cost) => (cost < least ? cost : least));
}

/** A prompt and nothing else. */
export function promptCost(promptTokens: number, requested: string, served = requested): bigint {
  const counts = { inputTokens: promptTokens, cachedInputTokens: 0, outputTokens: 0 };
  return costOf(counts, requested, served);
}

/** `1500000n` is "1.5": no trailing zeros, no exponent. */
export function writeTokens(micro: bigint): string {
  return writeDecimal(micro, 6);
}

/** A million service tokens cost one dollar in this scene. */
export function writeUsd(micro: bigint): string {
  return writeDecimal(micro, 12);
}

function writeDecimal(value: bigint, decimals: number): string {
  const unit = 10n ** BigInt(decimals);
  const fraction = (value % unit).toString().padStart(decimals, '0').replace(/0+$/, '');
  return fraction === '' ? `${value / unit}` : `${value / unit}.${fraction}`;
}

export function readTokens(text: string): bigint {
  const [whole = '0', fraction = ''] = text.replace('-', '').split('.');
  const value = BigInt(whole) * 1_000_000n + BigInt(fraction.padEnd(6, '0'));
  return text.startsWith('-') ? -value : value;
}
