// The only module that calls upstreams. It sends a body and returns the status and a bounded body,
// or a failure as a value. It never follows redirects, since a redirect could send our credential
// elsewhere. An aborting caller never waits for the runtime. It selects the transport of each call.

import { isFailure, type UpstreamFailure } from '../core/failure.ts';
import { isPrivateAddress } from '../core/private-address.ts';
import { unsupported } from '../wire/upstream/failure.ts';
import { createAuthorize } from './authorize.ts';
import { createFetchClient, readAnswer, whenAborted } from './fetch-client.ts';
import { createResolver } from './resolver.ts';
import { createSocketClient } from './sockets/client.ts';
import { NO_DESCRIPTOR } from './sockets/dial.ts';
import {
  type RemoteUpstream,
  UNCONNECTED,
  type UpstreamAnswer,
  type UpstreamClient,
  type UpstreamClientDependencies,
  type UpstreamRequest,
} from './transport.ts';

/**
 * `close` ends idle connections. Answers in progress continue, and their connections close
 * afterwards.
 */
export type ClosingUpstreamClient = UpstreamClient & { readonly close: () => void };

const PRIVATE = unsupported(
  'this upstream has a private address and takes images only as data; where addresses are meant, set image_urls = "any" in its profile',
);

export function createUpstreamClient(
  dependencies: UpstreamClientDependencies,
): ClosingUpstreamClient {
  const { answerDemo, clock, proxiedSchemes, descriptors } = dependencies;
  const transport = { ...dependencies, resolver: createResolver(dependencies) };
  const sockets = createSocketClient(transport);
  const runtime = createFetchClient(transport);
  const authorize = createAuthorize(dependencies);

  function isProxiedScheme(url: string): boolean {
    if (proxiedSchemes.size === 0) return false;
    return proxiedSchemes.has(url.slice(0, url.indexOf(':') + 1).toLowerCase());
  }

  function transmit(
    upstream: RemoteUpstream,
    call: UpstreamRequest,
  ): Promise<UpstreamAnswer | UpstreamFailure> {
    // Our own client does not support proxies. The runtime's client reads them from the
    // environment.
    const isProxied = upstream.proxyUrl !== undefined || isProxiedScheme(upstream.baseUrl);
    if (!isProxied && upstream.transport !== 'fetch') return sockets.send(upstream, call);
    // The runtime pools its connections itself, so a descriptor is lent for the call alone.
    if (!descriptors.lend()) return Promise.resolve(NO_DESCRIPTOR);
    return runtime.send(upstream, call, isProxied).finally(descriptors.returned);
  }

  /** Of a name that does not resolve here, a proxy knows the address. */
  async function isPrivate({ baseUrl }: RemoteUpstream): Promise<boolean> {
    const host = URL.parse(baseUrl)?.hostname.replace(/^\[(.*)\]$/, '$1') ?? '';
    const addresses = await transport.resolver.resolve(host, true);
    return !isFailure(addresses) && addresses.some(isPrivateAddress);
  }

  function send(call: UpstreamRequest): Promise<UpstreamAnswer | UpstreamFailure> {
    const { upstream } = call;
    if (upstream.dialect === 'demo') {
      const answer = readAnswer(answerDemo(call.body), whenAborted(call.signal), clock);
      return Promise.resolve(answer);
    }
    const ready = authorize(upstream, call);
    if (!(ready instanceof Promise)) return transmit(upstream, ready);
    return Promise.race([ready, whenAborted(call.signal)]).then((authorized) => {
      if (call.signal.aborted) return UNCONNECTED;
      return isFailure(authorized) ? authorized : transmit(upstream, authorized);
    });
  }

  return {
    send(call) {
      const { upstream, signal } = call;
      if (call.isForPublic !== true || upstream.dialect === 'demo') return send(call);
      return Promise.race([isPrivate(upstream), whenAborted(signal)]).then((found) =>
        found === true ? PRIVATE : send(call),
      );
    },
    close: sockets.close,
  };
}
