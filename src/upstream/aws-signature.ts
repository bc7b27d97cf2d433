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
      ...{ url, headers, body, region, accessKeyId, secretAccessKey, datetime },
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
