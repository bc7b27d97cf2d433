// Whether an answer may cost thinking that it does not contain. Such thinking is known only from
// the usage report at the end, so an answer that was cut or abandoned must be read to that report.
// So must one whose upstream bills it to its end (decision 0095).

import type { Candidate } from './route.ts';

export function mayHideThinking({ model, profile }: Pick<Candidate, 'model' | 'profile'>): boolean {
  // The request's thinking setting is no evidence, because upstreams ignore it.
  return model.features.has('reasoning') && profile.thinkingShown === 'part';
}

/** Whether an answer that was cut or abandoned is read to the end of its upstream. */
export function isReadOn(candidate: Pick<Candidate, 'model' | 'upstream' | 'profile'>): boolean {
  if (candidate.upstream.dialect === 'demo') return false;
  return !candidate.upstream.cancelStopsBilling || mayHideThinking(candidate);
}
