// The header with our credential for an upstream, for both dialects.

import type { UpstreamProfile } from '../../core/profile.ts';

/**
 * No header if the upstream has no key, because a local server must not get an empty credential.
 */
export function credentialHeader(
  kind: UpstreamProfile['credential'],
  apiKey: string,
): Readonly<Record<string, string>> {
  if (apiKey === '') return {};
  return kind === 'bearer' ? { authorization: `Bearer ${apiKey}` } : { [kind]: apiKey };
}
