// Restricts metrics and upstream names to the operator. API keys never grant access, because they
// belong to customers. Applies to /metrics and /readyz.

import { createHash, timingSafeEqual } from 'node:crypto';
import { createNetworkSet } from '../identity/address.ts';

export type OperatorAccess = {
  readonly isOperator: (headers: Headers, socketAddress: string) => boolean;
  /** Whether METRICS_TOKEN is set and was sent. */
  readonly hasToken: (headers: Headers) => boolean;
  /** For refused callers: what to send or to set. */
  readonly hint: string;
};

/** A proxy on the gateway's machine must not expose what is open to that machine. */
const PROXY_HEADERS = [
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
];

const LOOPBACK = ['127.0.0.0/8', '::1'];

/**
 * With a token, only its holder is the operator, from any address. Without one, only a direct
 * request from the gateway's own machine is. If `isPublished` says that a local proxy forwards
 * public requests, then none is, because many proxies add no header.
 */
export function createOperatorAccess(settings: {
  readonly token: string | undefined;
  readonly isPublished: boolean;
}): OperatorAccess {
  const { token, isPublished } = settings;
  if (token === undefined) {
    const loopback = createNetworkSet(LOOPBACK);
    return {
      isOperator: (headers, socketAddress) =>
        !isPublished &&
        loopback.contains(socketAddress) &&
        !PROXY_HEADERS.some((name) => headers.has(name)),
      hasToken: () => false,
      hint: 'This is for the operator of the service. Set METRICS_TOKEN, and send it as "Authorization: Bearer <token>"; without it, only a direct request from the machine of a gateway that no proxy publishes is answered.',
    };
  }
  const expected = digest(token);
  const hasToken = (headers: Headers): boolean => {
    const sent = /^Bearer +(\S+)$/i.exec(headers.get('authorization') ?? '')?.[1];
    return sent !== undefined && timingSafeEqual(digest(sent), expected);
  };
  return {
    isOperator: hasToken,
    hasToken,
    hint: 'This is for the operator of the service: send METRICS_TOKEN as "Authorization: Bearer <token>". An API key is not accepted here.',
  };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
