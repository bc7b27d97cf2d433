// Whether an answer may cost thinking that it does not contain. Such thinking is known only from
// the usage report at the end, so an answer that was cut or abandoned must be read to that report.

import type { Candidate } from './route.ts';

export function mayHideThinking({
  model,
  upstream,
}: Pick<Candidate, 'model' | 'upstream'>): boolean {
  // The request's thinking setting is no evidence, because upstreams ignore it.
  if (upstream.dialect === 'demo' || !model.features.has('reasoning')) return false;
  return upstream.profile.thinkingShown === 'part';
}
