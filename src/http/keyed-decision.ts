// Decides whether a request with an `Idempotency-Key` is the first one or a repeat.

import { BODY_KEY } from '../core/idempotency-key.ts';
import type { Plan } from '../core/plan.ts';
import type { KeptRequest, KeyLookup } from '../idempotency/store.ts';
import type { KeyFacts } from '../identity/authenticate.ts';
import type { ClientFormat, ParsedBody } from '../wire/format.ts';
import type { Idempotency } from './idempotency.ts';
import { requireSame } from './keyed-books.ts';
import type { Recording } from './recording.ts';

/** A request with a key, authorized and read, without its body. */
export type Asked = {
  readonly facts: KeyFacts;
  readonly plan: Plan;
  readonly lookup: KeyLookup;
  readonly fingerprint: Uint8Array;
};

/**
 * first     the recording has just begun, and this request has to run it
 * running   another request of this process runs it
 * found     there is a row
 */
export type Decision =
  | { readonly kind: 'first' | 'running'; readonly recording: Recording }
  | { readonly kind: 'found'; readonly found: KeptRequest };

/** Names a request by its key, or by its format and body. */
export function nameOf(
  { store }: Idempotency,
  { name }: ClientFormat,
  key: string,
  { text }: ParsedBody,
  read: Pick<Asked, 'facts' | 'plan'>,
): Asked {
  const { facts } = read;
  const fingerprint = store.fingerprint(name, text);
  const lookup = key === BODY_KEY ? store.lookupBody(facts, fingerprint) : store.lookup(facts, key);
  return { ...read, lookup, fingerprint };
}

/** Throws if the key was used for another body. */
export async function decide(
  idempotency: Idempotency,
  { lookup, fingerprint }: Asked,
): Promise<Decision> {
  const found = await idempotency.store.find(lookup);
  // No wait between here and `record`: two first requests of this process find each other.
  const recording = idempotency.runningOf(lookup);
  if (recording !== undefined) {
    requireSame(recording.fingerprint, fingerprint);
    return { kind: 'running', recording };
  }
  if (found !== undefined) {
    requireSame(found.fingerprint, fingerprint);
    return { kind: 'found', found };
  }
  return { kind: 'first', recording: idempotency.record(lookup, fingerprint) };
}
