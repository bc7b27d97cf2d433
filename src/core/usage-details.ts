// What only some usages have: parts of the cached and the written tokens, a service tier, and the
// numbers of an estimate. The books keep them in the column of the report, behind the upstream's own
// numbers, so that rows without them do not grow.

import type { Usage } from './generation.ts';
import { isObject, parseJson } from './json.ts';
import { shapeNumber, type TextPacker, unpackText } from './shape.ts';
import type { Estimate } from './usage-estimate.ts';

/** The form of a service tier's name, an upstream's word: 2 to 32 characters. */
export const SERVICE_TIER = /^[a-z][a-z0-9_-]{1,31}$/;

export type UsageDetails = Pick<
  Usage,
  'cachedExplicitTokens' | 'cacheWriteLongTokens' | 'serviceTier' | 'estimate'
>;

/** The members of an estimate as records name them. */
const ESTIMATE_NAMES = {
  counted: 'counted_input_tokens',
  ratioPercent: 'input_ratio_percent',
  seen: 'seen_output_tokens',
  quietMs: 'unseen_ms',
  quietTokens: 'tokens_after_unseen_time',
  pace: 'output_tokens_per_second',
  most: 'output_tokens_max',
} as const;

/** Only those that there are, as the books, the receipts and the records name them. */
export function namedDetails(usage: UsageDetails) {
  const { cachedExplicitTokens: explicit, cacheWriteLongTokens: long, serviceTier } = usage;
  return {
    ...(explicit !== undefined && { cached_explicit_tokens: explicit }),
    ...(long !== undefined && { cache_write_long_tokens: long }),
    ...(serviceTier !== undefined && { service_tier: serviceTier }),
    ...(usage.estimate !== undefined && { estimate: namedEstimate(usage.estimate) }),
  };
}

function namedEstimate(estimate: Estimate): Readonly<Record<string, number>> {
  const members = Object.entries(ESTIMATE_NAMES).flatMap(([member, name]) => {
    const value = estimate[member as keyof Estimate];
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(members);
}

function readEstimate(value: unknown): Estimate {
  if (!isObject(value)) throw new TypeError('not an object');
  const members = Object.entries(ESTIMATE_NAMES).flatMap(([member, name]) =>
    value[name] === undefined ? [] : [[member, whole(value[name])] as const],
  );
  return { seen: 0, quietMs: 0, quietTokens: 0, pace: 0, ...Object.fromEntries(members) };
}

/** The details as members of a JSON object, each after a comma; empty if there are none. */
export function detailMembers(usage: UsageDetails): string {
  const { cachedExplicitTokens: explicit, cacheWriteLongTokens: long, serviceTier } = usage;
  const isPlain = explicit === undefined && long === undefined && serviceTier === undefined;
  if (isPlain && usage.estimate === undefined) return '';
  return `,${JSON.stringify(namedDetails(usage)).slice(1, -1)}`;
}

/** Reads them from parsed JSON. Throws `TypeError` for values of another type. */
export function readDetails(value: { readonly [name: string]: unknown }): UsageDetails {
  const { cached_explicit_tokens: explicit, cache_write_long_tokens: long } = value;
  const { service_tier: tier, estimate } = value;
  if (tier !== undefined && typeof tier !== 'string') throw new TypeError('not a text');
  return {
    ...(explicit !== undefined && { cachedExplicitTokens: whole(explicit) }),
    ...(long !== undefined && { cacheWriteLongTokens: whole(long) }),
    ...(tier !== undefined && { serviceTier: tier }),
    ...(estimate !== undefined && { estimate: readEstimate(estimate) }),
  };
}

function whole(value: unknown): number {
  if (!Number.isSafeInteger(value)) throw new TypeError('not a whole number');
  return Number(value);
}

/** Between the upstream's numbers and the details; compact JSON contains none. */
const BREAK = '\n';

/** The report of an upstream and the details; null where there is neither. */
export function packReport(
  rawUsage: string | undefined,
  usage: UsageDetails,
  packer: TextPacker,
): Uint8Array | null {
  const members = detailMembers(usage);
  if (members === '') return rawUsage === undefined ? null : packer.pack(rawUsage);
  return packer.pack(`${rawUsage ?? ''}${BREAK}{${members.slice(1)}}`);
}

/** What `packReport` packed. */
export function unpackReport(
  bytes: Uint8Array | null,
  textOf: (number: number) => string,
): { readonly rawUsage: string | null; readonly details: UsageDetails } {
  if (bytes === null) return { rawUsage: null, details: {} };
  const [rawUsage = '', text = '{}'] = unpackText(bytes, textOf).split(BREAK);
  const details = parseJson(text);
  return {
    rawUsage: rawUsage === '' ? null : rawUsage,
    details: isObject(details) ? readDetails(details) : {},
  };
}

/** The number of the text that `unpackReport` needs; null if it needs none. */
export function reportShape(bytes: Uint8Array | null): number | null {
  return bytes === null ? null : (shapeNumber(bytes) ?? null);
}
