// The header that carries our credential to an upstream. Called by both dialects.

import type { UpstreamProfile } from '../../core/profile.ts';

/** None where the upstream has no key: a local server gets no empty credential. */
export function credentialHeader(
  kind: UpstreamProfile['credential'],
  apiKey: string,
): Readonly<Record<string, string>> {
  if (apiKey === '') return {};
  return kind === 'bearer' ? { authorization: `Bearer ${apiKey}` } : { [kind]: apiKey };
}
