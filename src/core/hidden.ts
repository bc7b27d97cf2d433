// Whether an answer may cost thinking that it does not contain, and whether its upstream stops when
// the connection is closed (decision 0186).

import type { Candidate } from './route.ts';

export function mayHideThinking({ model, profile }: Pick<Candidate, 'model' | 'profile'>): boolean {
  // The request's thinking setting is no evidence, because upstreams ignore it.
  return model.features.has('reasoning') && profile.thinkingShown === 'part';
}

/**
 * Whether an answer that was cut or abandoned is read to the end of its upstream: where closing the
 * connection is known not to stop the bill, or not known to stop it and the bill may hide thinking.
 */
export function isReadOn(candidate: Pick<Candidate, 'model' | 'upstream' | 'profile'>): boolean {
  const { upstream, profile } = candidate;
  if (upstream.dialect === 'demo') return false;
  if (upstream.cancelStopsBilling !== undefined) return !upstream.cancelStopsBilling;
  return profile.closing === 'unknown' && mayHideThinking(candidate);
}
