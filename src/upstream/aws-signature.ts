// Signs requests with AWS Signature Version 4, for upstreams in Amazon's cloud. The signature covers
// the host, the path, every header of the dialect and the bytes of the body, so nothing of these
// may change afterwards. CallHeaders that a transport adds, such as `traceparent`, are not signed.

import { AwsV4Signer } from 'aws4fetch';
import type { UpstreamAuth } from '../core/model.ts';
import type { UpstreamRequest } from './transport.ts';

type AwsAuth = Extract<UpstreamAuth, { readonly kind: 'aws' }>;
type CallHeaders = UpstreamRequest['headers'];

/** `clock` is in Unix milliseconds. AWS refuses signatures that are more than five minutes old. */
export function createAwsSigner(clock: () => number) {
  /** Keys derived from a secret for a day; one entry each. */
  const derived = new WeakMap<AwsAuth, { readonly day: string; readonly keys: Keys }>();

  function keysOf(auth: AwsAuth, day: string): Keys {
    const known = derived.get(auth);
    if (known?.day === day) return known.keys;
    const keys: Keys = new Map();
    derived.set(auth, { day, keys });
    return keys;
  }

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
      ...{ url, headers, body, region, accessKeyId, secretAccessKey, datetime },
      ...(sessionToken !== undefined && { sessionToken }),
      service: serviceOf(url),
      cache: keysOf(auth, datetime.slice(0, 8)),
      allHeaders: true,
    });
    const signed = await signer.sign();
    return Object.fromEntries(signed.headers);
  };
}

type Keys = Map<string, ArrayBuffer>;

/** The name for the signature, which differs between Bedrock's two endpoints. */
function serviceOf(url: string): string {
  return new URL(url).hostname.includes('bedrock-mantle') ? 'bedrock-mantle' : 'bedrock';
}
