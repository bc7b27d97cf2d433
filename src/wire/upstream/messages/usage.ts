// The token counts of a Messages answer, believed only as far as they hold together. They come in
// several events, each with some of the counts; what is left here is what the customer pays for. A
// report that contradicts itself is never mended: it is rejected with the reason.

import type { JsonObject, UsageReport } from '../../../core/generation.ts';
import { isObject } from '../../../core/json.ts';
import { TOKEN_COUNT_MAX } from '../limits.ts';
import { toCount, toObject } from '../narrow.ts';
import { numericLeaves, rawUsage } from '../raw-usage.ts';

/** The counts in this format are disjoint: none of the three is part of another. */
const PROMPT_COUNTS = ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'];

/** What is written is kept for one of these times; the two make up `cache_creation_input_tokens`. */
const LIFETIMES = ['ephemeral_5m_input_tokens', 'ephemeral_1h_input_tokens'];

const OUTPUT_MEMBERS = ['output_tokens', 'output_tokens_details'];

type Counts = ReadonlyMap<string, number>;
type Doubt = 'malformed' | 'inconsistent';

export function createUsageReader() {
  const counts = new Map<string, number>();
  let raw: JsonObject = {};
  /** The last report that made no sense, over what had been reported before it. */
  let refused: { readonly doubt: Doubt; readonly raw: JsonObject } | undefined;

  function take(value: JsonObject): void {
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
    /** `read` where an answer begins: its output is still to come, whatever the count of it says. */
    readStart(value: unknown): void {
      if (isObject(value)) take(without(value, OUTPUT_MEMBERS));
    },
    /** Takes a `usage` object. Counts are totals so far: the last sane one of each kind counts. */
    read(value: unknown): void {
      if (isObject(value)) take(value);
    },
    /**
     * Undefined where nothing was reported: the gateway's own count is used then, as it is where what
     * was reported is rejected. `raw` is all that was reported, the later count of a kind in place of
     * the earlier one.
     */
    report(): { readonly usage: UsageReport; readonly raw: string } | undefined {
      if (counts.size === 0 && refused === undefined) return undefined;
      const usage = usageOf(counts);
      if (typeof usage !== 'string') return { usage, raw: rawUsage(raw) };
      const doubt = refused?.doubt ?? usage;
      return { usage: { basis: 'rejected', doubt }, raw: rawUsage(refused?.raw ?? raw) };
    },
  };
}

/** The counts that one object names; null is what servers write for one that they do not know. */
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

/** A gateway of this kind has what was written to a cache among `input_tokens`, too. */
function parted(counts: Map<string, number>): void {
  const input = counts.get('input_tokens');
  const written = counts.get('cache_creation_input_tokens') ?? 0;
  if (input !== undefined) counts.set('input_tokens', Math.max(0, input - written));
}

/** Leaves `cache_creation_input_tokens` alone, or what its parts make up where it is missing. */
function foldLifetimes(counts: Map<string, number>): Map<string, number> | Doubt {
  const parts = LIFETIMES.reduce((sum, name) => sum + (counts.get(name) ?? 0), 0);
  for (const name of LIFETIMES) counts.delete(name);
  // Zeros are what gateways fill in where they know the whole alone.
  if (parts === 0) return counts;
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
  return {
    inputTokens,
    cachedInputTokens: counts.get('cache_read_input_tokens') ?? 0,
    cacheWriteTokens: counts.get('cache_creation_input_tokens') ?? 0,
    outputTokens,
    reasoningTokens,
    basis: 'reported',
  };
}

function promptOf(counts: Counts): number {
  return PROMPT_COUNTS.reduce((sum, name) => sum + (counts.get(name) ?? 0), 0);
}

/**
 * The counts of a later report that are zeros which nobody counted: some servers know the prompt only
 * at the start and say 0 at the end, and gateways fill a whole report with zeros.
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

/** Bounded, however often it is done. */
function merge(raw: JsonObject, value: JsonObject): JsonObject {
  return numericLeaves({ ...raw, ...numericLeaves(value) });
}
