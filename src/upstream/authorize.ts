// Adds what authenticates a request to its headers, where that depends on the request or the time:
// a signature or a token. A key is already in the headers that the dialect wrote.

import type { UpstreamFailure } from '../core/failure.ts';
import { createAwsSigner } from './aws-signature.ts';
import { createGoogleTokens } from './google-token.ts';
import type { RemoteUpstream, UpstreamClientDependencies, UpstreamRequest } from './transport.ts';

export function createAuthorize({
  clock,
  fetch,
}: Pick<UpstreamClientDependencies, 'clock' | 'fetch'>) {
  const sign = createAwsSigner(clock);
  const tokenOf = createGoogleTokens(fetch);
  /** The transports recognize headers by identity. */
  const bearers = new WeakMap<UpstreamRequest['headers'], UpstreamRequest['headers']>();

  function withBearer(call: UpstreamRequest, token: string): UpstreamRequest {
    const authorization = `Bearer ${token}`;
    const known = bearers.get(call.headers);
    if (known?.['authorization'] === authorization) return { ...call, headers: known };
    const headers = { ...call.headers, authorization };
    bearers.set(call.headers, headers);
    return { ...call, headers };
  }

  /** The call to send, or why there is none; the call itself where its headers are complete. */
  return (
    upstream: RemoteUpstream,
    call: UpstreamRequest,
  ): UpstreamRequest | Promise<UpstreamRequest | UpstreamFailure> => {
    const { auth, baseUrl } = upstream;
    switch (auth.kind) {
      case 'key':
        return call;
      case 'aws':
        return sign(auth, baseUrl + call.path, call).then((headers) => ({ ...call, headers }));
      case 'google':
        return tokenOf(upstream, auth.credentialsFile).then((token) =>
          typeof token === 'string' ? withBearer(call, token) : token,
        );
    }
  };
}
