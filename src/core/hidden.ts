// Whether an answer may cost thinking that is not in it. Such thinking is known from the upstream's
// report at the end alone, so an answer that is cut or left has to be read to that report.

import type { Candidate } from './route.ts';

export function mayHideThinking({
  model,
  upstream,
}: Pick<Candidate, 'model' | 'upstream'>): boolean {
  // What the request says of thinking is no evidence: upstreams ignore it.
  if (upstream.dialect === 'demo' || !model.features.has('reasoning')) return false;
  return upstream.profile.thinkingShown === 'part';
}
