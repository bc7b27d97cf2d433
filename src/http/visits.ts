// Bounds what needs no key by network: pages, documentation, probes and unknown paths. Answers above
// the bound are late, because a client that is refused at once asks again at once, and refusals take
// the event loop's time too.

import { GatewayError } from '../core/error.ts';
import { chatFormat } from '../wire/chat/format.ts';
import { addressOf, Exchange, type HandlerDependencies, type Mount, refuse } from './exchange.ts';
import { type CountVisit, LATE_MS, VISITS_PER_MINUTE } from './visit-count.ts';

/** A search of the documentation takes some 1 ms, a page 0.03 ms, and 0.5 ms with a reader's key. */
const SEARCH_VISITS = 20;

/** Refuses with 429 above the bound. */
export function bounded(
  dependencies: HandlerDependencies,
  answer: Mount,
  listener?: Parameters<CountVisit>[2],
): Mount {
  return async (request, server) => {
    const address = addressOf(request, server, dependencies.trustedProxies);
    const visits = request.url.includes('/docs/search') ? SEARCH_VISITS : 1;
    const seconds = dependencies.countVisit(address, visits, listener);
    if (seconds === undefined) return answer(request, server);
    await Bun.sleep(LATE_MS);
    const exchange = new Exchange(dependencies, request, server, chatFormat, 'elsewhere');
    return refuse(dependencies, exchange, tooMany(seconds));
  };
}

/** Answers late above the bound. For probes, which must not fail because others ask. */
export function paced(dependencies: HandlerDependencies, answer: Mount): Mount {
  return async (request, server) => {
    const { trustedProxies } = dependencies;
    const seconds = dependencies.countVisit(addressOf(request, server, trustedProxies));
    if (seconds !== undefined) await Bun.sleep(LATE_MS);
    return answer(request, server);
  };
}

function tooMany(seconds: number): GatewayError {
  return new GatewayError('rate_limit_exceeded', {
    message: `This network has made more than ${VISITS_PER_MINUTE} requests without a key in a minute. Retry after ${seconds} seconds.`,
    retryAfterSeconds: seconds,
  });
}
