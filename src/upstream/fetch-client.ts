// Sends requests through the runtime's HTTP client, for upstreams behind a proxy or configured so
// in the catalog. The demo upstream answers in this form too.

import { isIP } from 'node:net';
import { urlBelow } from '../core/base-url.ts';
import { isFailure, type UpstreamFailure } from '../core/failure.ts';
import { readRetryAfterMs } from '../wire/http/retry-after.ts';
import { ANSWER_BYTES_MAX } from '../wire/upstream/limits.ts';
import { BROKEN, readText } from './read-text.ts';
import type { StopSignal } from './stop.ts';
import {
  GIVEN_UP,
  isJsonType,
  type RemoteUpstream,
  type TransportDependencies,
  UNCONNECTED,
  type UpstreamAnswer,
  type UpstreamRequest,
} from './transport.ts';

const UNREACHABLE: UpstreamFailure = {
  class: 'unreachable',
  detail: 'the connection could not be made or was closed',
};

export function createFetchClient(dependencies: TransportDependencies) {
  const { fetch, resolver, clock, userAgent } = dependencies;

  /** Behind a proxy the proxy resolves names, so only a literal address can be checked here. */
  async function refusal(
    { baseUrl, allowLinkLocal }: RemoteUpstream,
    isProxied: boolean,
  ): Promise<UpstreamFailure | undefined> {
    const hostname = new URL(baseUrl).hostname.replace(/^\[(.*)\]$/, '$1');
    if (allowLinkLocal || (isProxied && isIP(hostname) === 0)) return undefined;
    const addresses = await resolver.resolve(hostname, false);
    return isFailure(addresses) ? addresses : undefined;
  }

  return {
    async send(
      upstream: RemoteUpstream,
      { path, headers, body, signal, newConnection, trace }: UpstreamRequest,
      isProxied: boolean,
    ): Promise<UpstreamAnswer | UpstreamFailure> {
      const aborted = whenAborted(signal);
      const controller = new AbortController();
      signal.addEventListener('abort', () => controller.abort());
      const refused = await Promise.race([refusal(upstream, isProxied), aborted]);
      if (signal.aborted) return UNCONNECTED;
      if (refused !== undefined) return refused;
      try {
        const init: BunFetchRequestInit = {
          method: 'POST',
          headers: { ...headers, ...trace, 'user-agent': userAgent, 'accept-encoding': 'identity' },
          body,
          signal: controller.signal,
          redirect: 'manual',
          ...(newConnection === true ? { keepalive: false } : {}),
          ...(upstream.proxyUrl === undefined ? {} : { proxy: upstream.proxyUrl }),
        };
        const response = await Promise.race([
          fetch(urlBelow(upstream.baseUrl, path), init),
          aborted,
        ]);
        return response instanceof Response ? readAnswer(response, aborted, clock) : response;
      } catch {
        return UNREACHABLE;
      }
    },
  };
}

/**
 * Resolves in the same turn as the abort. The runtime's own rejection comes some turns later, and
 * until then a disconnected client would occupy the slot that its next request needs.
 */
export function whenAborted(signal: StopSignal): Promise<UpstreamFailure> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(GIVEN_UP);
    else signal.addEventListener('abort', () => resolve(GIVEN_UP));
  });
}

export function readAnswer(
  response: Response,
  aborted: Promise<UpstreamFailure>,
  clock: () => number,
): UpstreamAnswer {
  const field = (name: string) => response.headers.get(name) ?? undefined;
  return {
    status: response.status,
    isJson: isJsonType(field('content-type')),
    retryAfterMs: readRetryAfterMs(field('retry-after-ms'), field('retry-after'), clock),
    text: () => Promise.race([readBody(response), aborted]),
    reader: () => response.body?.getReader(),
  };
}

async function readBody(response: Response): Promise<string | UpstreamFailure> {
  // The length of a compressed body does not bound its decompressed size.
  const isPlain = !response.headers.has('content-encoding');
  const declared = Number(response.headers.get('content-length') ?? Number.NaN);
  try {
    if (isPlain && declared <= ANSWER_BYTES_MAX) return await response.text();
  } catch {
    return BROKEN;
  }
  const reader = response.body?.getReader();
  return reader === undefined ? '' : readText(reader);
}
