// Reads the service tier or speed that an answer names. The price decides what it costs.

import type { UsageReport } from '../../core/generation.ts';
import { SERVICE_TIER } from '../../core/usage-details.ts';

/**
 * Words for the ordinary tier: OpenAI's and Bedrock's; Anthropic's and Gemini's; Groq's; and the one
 * that leaves the choice to the server, where a server repeats it.
 */
const ORDINARY: ReadonlySet<string> = new Set(['default', 'standard', 'on_demand', 'auto']);

/** Undefined for an ordinary tier, and for a value that is no word. */
export function readServiceTier(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const word = value.toLowerCase();
  return SERVICE_TIER.test(word) && !ORDINARY.has(word) ? word : undefined;
}

/** The last word of an answer counts: the first one may be what was asked for. */
export function laterServiceTier(known: string | undefined, value: unknown): string | undefined {
  return typeof value === 'string' ? readServiceTier(value) : known;
}

export function withServiceTier(usage: UsageReport, serviceTier: string | undefined): UsageReport {
  return serviceTier === undefined || usage.basis === 'rejected'
    ? usage
    : { ...usage, serviceTier };
}
