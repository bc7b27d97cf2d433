// Adds what authenticates a request to its headers, where that depends on the request or the time:
// a signature or a token. A key is already in the headers that the dialect wrote.

import { AwsV4Signer } from 'aws4fetch';
import { urlBelow } from '../core/base-url.ts';
import type { UpstreamFailure } from '../core/failure.ts';
import type { Upstream, UpstreamAuth, UpstreamCredential } from '../core/model.ts';
import { createGoogleTokens } from './google-token.ts';
import type { RemoteUpstream, UpstreamClientDependencies, UpstreamRequest } from './transport.ts';

type AwsAuth = Extract<UpstreamAuth, { readonly kind: 'aws' }>;
type CallHeaders = UpstreamRequest['headers'];

export function createAuthorize({
  clock,
  fetch,
}: Pick<UpstreamClientDependencies, 'clock' | 'fetch'>) {
  const sign = createAwsSigner(clock);
  const tokenOf = createGoogleTokens(fetch);
  /** The transports recognize headers by identity. */
  const bearers = new WeakMap<CallHeaders, CallHeaders>();

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
        return sign(auth, urlBelow(baseUrl, call.path), call).then((headers) => ({
          ...call,
          headers,
        }));
      case 'google':
        return tokenOf(upstream, auth.credentialsFile).then((token) =>
          typeof token === 'string' ? withBearer(call, token) : token,
        );
    }
  };
}

/**
 * Signs with AWS Signature Version 4. The signature covers the host, the path, every header of the
 * dialect and the bytes of the body, so nothing of these may change afterwards. Headers that a
 * transport adds, such as `traceparent`, are not signed.
 * `clock` is in Unix milliseconds. AWS refuses signatures that are more than five minutes old.
 */
function createAwsSigner(clock: () => number) {
  /** The keys that are derived from a secret, one for each day. */
  const derived = new WeakMap<AwsAuth, Map<string, ArrayBuffer>>();

  /** The headers of the call with its signature. */
  return async (
    auth: AwsAuth,
    url: string,
    { headers, body }: UpstreamRequest,
  ): Promise<CallHeaders> => {
    const { region, accessKeyId, secretAccessKey, sessionToken } = auth;
    const datetime = new Date(clock()).toISOString().replace(/[:-]|\.\d{3}/g, '');
    const signer = new AwsV4Signer({
      method: 'POST',
      url,
      headers,
      body,
      region,
      accessKeyId,
      secretAccessKey,
      datetime,
      ...(sessionToken !== undefined && { sessionToken }),
      service: serviceOf(url),
      cache: derived.getOrInsertComputed(auth, () => new Map()),
      allHeaders: true,
    });
    const signed = await signer.sign();
    return Object.fromEntries(signed.headers);
  };
}

/** The name for the signature, which differs between Bedrock's two endpoints. */
function serviceOf(url: string): string {
  return new URL(url).hostname.includes('bedrock-mantle') ? 'bedrock-mantle' : 'bedrock';
}

/** What no error shown to operators may contain. */
export function secretsOf(upstream: Upstream, { apiKey }: UpstreamCredential): string[] {
  if (upstream.dialect === 'demo' || upstream.auth.kind !== 'aws') return [apiKey];
  const { accessKeyId, secretAccessKey, sessionToken = '' } = upstream.auth;
  return [apiKey, accessKeyId, secretAccessKey, sessionToken];
}
