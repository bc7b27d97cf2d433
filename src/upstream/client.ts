// The one place that calls out. It sends a body to an upstream and hands back the status and a
// bounded body, or a failure as a value. It never follows a redirect (an upstream that could send us
// elsewhere could send our credential elsewhere too), and never makes a caller that aborts wait for
// the runtime. Which transport carries a call is decided here.

import { createFetchClient, readAnswer, whenAborted } from './fetch-client.ts';
import { createResolver } from './resolver.ts';
import { createSocketClient } from './sockets/client.ts';
import { NO_DESCRIPTOR } from './sockets/dial.ts';
import type { UpstreamClient, UpstreamClientDependencies } from './transport.ts';

/** `close` ends idle connections; answers under way go on, and their connections end with them. */
export type ClosingUpstreamClient = UpstreamClient & { readonly close: () => void };

export function createUpstreamClient(
  dependencies: UpstreamClientDependencies,
): ClosingUpstreamClient {
  const { answerDemo, clock, proxiedSchemes, descriptors } = dependencies;
  const transport = { ...dependencies, resolver: createResolver(dependencies) };
  const sockets = createSocketClient(transport);
  const runtime = createFetchClient(transport);

  function isProxiedScheme(url: string): boolean {
    if (proxiedSchemes.size === 0) return false;
    return proxiedSchemes.has(url.slice(0, url.indexOf(':') + 1).toLowerCase());
  }

  return {
    send(call) {
      const { upstream } = call;
      if (upstream.dialect === 'demo') {
        const answer = readAnswer(answerDemo(call.body), whenAborted(call.signal), clock);
        return Promise.resolve(answer);
      }
      // The program's own client knows no proxies. The runtime's reads the environment by itself.
      const isProxied = upstream.proxyUrl !== undefined || isProxiedScheme(upstream.baseUrl);
      if (!isProxied && upstream.transport !== 'fetch') return sockets.send(upstream, call);
      // The runtime keeps connections of its own, so what it has made is not ours to count.
      if (!descriptors.lend()) return Promise.resolve(NO_DESCRIPTOR);
      return runtime.send(upstream, call, isProxied).finally(descriptors.returned);
    },
    close: sockets.close,
  };
}
