// Reads the token counts of a Messages answer, and accepts them only if they are consistent. They
// arrive in several events, each with some of the counts. The customer is charged for the result. A
// contradictory report is never corrected: it is rejected with the reason.

import type { JsonObject, UsageReport } from '../../../core/generation.ts';
import { isObject } from '../../../core/json.ts';
import { TOKEN_COUNT_MAX } from '../limits.ts';
import { toCount, toObject } from '../narrow.ts';
import { numericLeaves, rawUsage } from '../raw-usage.ts';
import { laterServiceTier, readServiceTier, withServiceTier } from '../service-tier.ts';

/** The counts in this format are disjoint: none of the three includes another. */
const PROMPT_COUNTS = ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'];

/** Cache writes by lifetime; the two add up to `cache_creation_input_tokens`. */
const LONG = 'ephemeral_1h_input_tokens';
const LIFETIMES = ['ephemeral_5m_input_tokens', LONG];

const OUTPUT_MEMBERS = ['output_tokens', 'output_tokens_details'];

type Counts = ReadonlyMap<string, number>;
type Doubt = 'malformed' | 'inconsistent';

export function createUsageReader() {
  const counts = new Map<string, number>();
  let serviceTier: string | undefined;
  let raw: JsonObject = {};
  /** The last invalid report, merged with the counts before it. */
  let refused: { readonly doubt: Doubt; readonly raw: JsonObject } | undefined;

  function take(value: JsonObject): void {
    // A fast answer is also of a service tier, mostly the standard one; its speed costs more.
    serviceTier =
      readServiceTier(value['speed']) ?? laterServiceTier(serviceTier, value['service_tier']);
    const fresh = readCounts(value);
    if (typeof fresh === 'string') {
      refused = { doubt: fresh, raw: merge(raw, value) };
      return;
    }
    const names = fillers(fresh, counts);
    for (const [name, count] of fresh) if (!names.includes(name)) counts.set(name, count);
    raw = merge(raw, without(value, names));
  }

  return {
    /** Like `read`, at the start of an answer: output is still to come, so its count is ignored. */
    readStart(value: unknown): void {
      if (isObject(value)) take(without(value, OUTPUT_MEMBERS));
    },
    /** Takes a `usage` object. Counts are running totals: the last sane one of each kind counts. */
    read(value: unknown): void {
      if (isObject(value)) take(value);
    },
    /** The service tier or speed that has been read. */
    serviceTier: () => serviceTier,
    /** What is known before the end: an answer reports its prompt at its start. */
    soFar(): UsageReport | undefined {
      const usage = usageOf(new Map([['output_tokens', 0], ...counts]));
      return typeof usage === 'string' ? undefined : withServiceTier(usage, serviceTier);
    },
    /**
     * Undefined if nothing was reported: then, as for a rejected report, the gateway's own count is
     * used. `raw` is everything reported, with later counts replacing earlier ones.
     */
    report(): { readonly usage: UsageReport; readonly raw: string } | undefined {
      if (counts.size === 0 && refused === undefined) return undefined;
      const usage = usageOf(counts);
      if (typeof usage !== 'string') {
        return { usage: withServiceTier(usage, serviceTier), raw: rawUsage(raw) };
      }
      const doubt = refused?.doubt ?? usage;
      return { usage: { basis: 'rejected', doubt }, raw: rawUsage(refused?.raw ?? raw) };
    },
  };
}

/** The counts in one object; servers write null for an unknown one. */
function readCounts(value: JsonObject): Counts | Doubt {
  const counts = new Map<string, number>();
  const details = toObject(value['output_tokens_details']);
  const written = toObject(value['cache_creation']);
  const members = [
    ...[...PROMPT_COUNTS, 'output_tokens'].map((name) => [name, value[name]] as const),
    ['thinking_tokens', details['thinking_tokens']] as const,
    ...LIFETIMES.map((name) => [name, written[name]] as const),
  ];
  for (const [name, member] of members) {
    if (member === undefined || member === null) continue;
    const count = toCount(member);
    if (count === undefined) return 'malformed';
    counts.set(name, count);
  }
  const folded = foldLifetimes(counts);
  if (typeof folded !== 'string' && value['svc_tokens_debited'] !== undefined) parted(folded);
  return folded;
}

/** A known kind of gateway includes cache writes in `input_tokens`; this separates them. */
function parted(counts: Map<string, number>): void {
  const input = counts.get('input_tokens');
  const written = counts.get('cache_creation_input_tokens') ?? 0;
  if (input !== undefined) counts.set('input_tokens', Math.max(0, input - written));
}

/** Keeps `cache_creation_input_tokens`, or computes it from its parts if it is missing. */
function foldLifetimes(counts: Map<string, number>): Map<string, number> | Doubt {
  const parts = LIFETIMES.reduce((sum, name) => sum + (counts.get(name) ?? 0), 0);
  counts.delete('ephemeral_5m_input_tokens');
  // Gateways that know only the total fill in zeros.
  if (parts === 0) {
    counts.delete(LONG);
    return counts;
  }
  const whole = counts.get('cache_creation_input_tokens');
  if (whole !== undefined && whole !== parts) return 'inconsistent';
  return counts.set('cache_creation_input_tokens', parts);
}

function usageOf(counts: Counts): Exclude<UsageReport, { basis: 'rejected' }> | Doubt {
  const inputTokens = promptOf(counts);
  const outputTokens = counts.get('output_tokens');
  if (!counts.has('input_tokens') || outputTokens === undefined) return 'malformed';
  const reasoningTokens = counts.get('thinking_tokens') ?? 0;
  if (inputTokens > TOKEN_COUNT_MAX || reasoningTokens > outputTokens) return 'inconsistent';
  const long = counts.get(LONG) ?? 0;
  if (long > (counts.get('cache_creation_input_tokens') ?? 0)) return 'inconsistent';
  return {
    inputTokens,
    cachedInputTokens: counts.get('cache_read_input_tokens') ?? 0,
    cacheWriteTokens: counts.get('cache_creation_input_tokens') ?? 0,
    outputTokens,
    reasoningTokens,
    basis: 'reported',
    ...(long > 0 && { cacheWriteLongTokens: long }),
  };
}

function promptOf(counts: Counts): number {
  return PROMPT_COUNTS.reduce((sum, name) => sum + (counts.get(name) ?? 0), 0);
}

/**
 * Zeros in a later report that are not real counts: some servers know the prompt only at the start
 * and report 0 at the end, and some gateways fill a whole report with zeros.
 */
function fillers(fresh: Counts, known: Counts): readonly string[] {
  const isZero = (name: string): boolean => (fresh.get(name) ?? 0) === 0;
  if (promptOf(known) === 0 || !PROMPT_COUNTS.every(isZero)) return [];
  const isNothing = isZero('output_tokens') && (known.get('output_tokens') ?? 0) > 0;
  return isNothing ? [...PROMPT_COUNTS, ...OUTPUT_MEMBERS] : PROMPT_COUNTS;
}

function without(value: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)));
}

/** Bounded, however often it is called. */
function merge(raw: JsonObject, value: JsonObject): JsonObject {
  return numericLeaves({ ...raw, ...numericLeaves(value) });
}
