// One request as its handler sees it: who asks, in which format, and how its end is answered and told.
// Called by the handlers. Whatever is thrown ends in the envelope of the path's own format.

import type { Deadlines } from '../core/deadlines.ts';
import { GatewayError } from '../core/error.ts';
import type { UpstreamState } from '../core/health.ts';
import { createRequestId, type RandomBytes } from '../core/id.ts';
import type { OperatorState } from '../core/operator.ts';
import type { RouteName } from '../core/request-summary.ts';
import type { GenerateDependencies, PlaygroundCall } from '../generate/pipeline-types.ts';
import type { Access, PlaygroundAccess } from '../identity/access.ts';
import { clientAddress, type NetworkSet } from '../identity/address.ts';
import type { KeyFacts } from '../identity/authenticate.ts';
import type { LimitsLoad } from '../limits/load.ts';
import type { ClientFormat } from '../wire/format.ts';
import type { KnownHosts } from './known-hosts.ts';
import type { ListDependencies } from './lists.ts';
import type { OperatorAccess } from './operator-access.ts';
import { respondError } from './respond.ts';
import type { Tallies, Tally } from './tally.ts';

export type HandlerDependencies = {
  /** What operators have set, as it is now. */
  readonly operator: () => OperatorState;
  readonly access: Access;
  readonly playgroundAccess: PlaygroundAccess;
  readonly generation: GenerateDependencies;
  readonly lists: ListDependencies;
  readonly randomBytes: RandomBytes;
  readonly clock: () => number;
  readonly deadlines: Deadlines;
  readonly trustedProxies: NetworkSet;
  /** Why this process cannot serve at the moment; empty when it can. */
  readonly problems: () => Promise<readonly string[]>;
  /** What is wrong and keeps nobody but single accounts from being served. Says nothing of them. */
  readonly warnings: () => readonly string[];
  /** Whether the books of an account differ, so that nothing new may be sold to it. */
  readonly isStopped: (accountId: string) => boolean;
  /** It is about to end: nothing new should be sent here. */
  readonly draining: () => boolean;
  /** Whether what is sent here all the same is refused. */
  readonly isRefusing: () => boolean;
  /** Whether one more request can be given a connection to an upstream. */
  readonly hasRoom: () => boolean;
  readonly touchKey: (keyId: string) => void;
  readonly onInternal: (requestId: string, error: unknown) => void;
  /** Whether an error says that the database could not do its work, and may do it later. */
  readonly isAway: (error: unknown) => boolean;
  readonly tallies: Tallies;
  readonly operatorAccess: OperatorAccess;
  readonly knownHosts: KnownHosts;
  readonly metrics: () => Promise<{ readonly contentType: string; readonly text: string }>;
  readonly upstreams: () => readonly UpstreamState[];
  /** What is under way, in all threads of this process. */
  readonly load: () => Load;
};

export type Load = {
  readonly requestsInFlight: number;
  readonly streamsOpen: number;
  /** Commands of the ledger that are not on disk yet. */
  readonly ledgerPending: number;
  readonly limits: LimitsLoad;
};

/** What the handlers use of the runtime's server. */
export type RuntimeServer = {
  readonly requestIP: (request: Request) => { readonly address: string } | null;
  readonly timeout: (request: Request, seconds: number) => void;
};

/** Answers all requests below a path. */
export type Mount = (request: Request, server: RuntimeServer | null) => Promise<Response>;

/** One request, as its handler sees it. */
export type Exchange = {
  readonly request: Request;
  readonly server: Pick<RuntimeServer, 'timeout'> | null;
  readonly requestId: string;
  readonly format: ClientFormat;
  /** What operators had set when the request came. */
  readonly operator: OperatorState;
  readonly tally: Tally;
  /** Who asks. Throws the refusal of a key or of its account. */
  readonly authorize: () => Promise<KeyFacts>;
};

/** A request of the API, which presents a key. */
export function openExchange(
  dependencies: HandlerDependencies,
  request: Request,
  server: RuntimeServer | null,
  format: ClientFormat,
  route: RouteName,
): Exchange {
  const { access, clock, randomBytes, touchKey, trustedProxies } = dependencies;
  const requestId = createRequestId(clock(), randomBytes);
  const asked = { request, server, requestId, format };
  return open(dependencies, asked, route, async (operator) => {
    const presented = {
      authorization: request.headers.get('authorization'),
      xApiKey: request.headers.get('x-api-key'),
      address: () => addressOf(request, server, trustedProxies),
    };
    const facts = await access(presented, operator);
    touchKey(facts.keyId);
    return facts;
  });
}

/** A request of the playground, whose session the dashboard has read. */
export function openPlayground(
  dependencies: HandlerDependencies,
  { accountId, address, ...asked }: PlaygroundCall & Pick<Exchange, 'format'>,
  route: RouteName,
): Exchange {
  return open(dependencies, asked, route, (operator) =>
    dependencies.playgroundAccess({ accountId, address }, operator),
  );
}

function open(
  { operator: current, tallies }: HandlerDependencies,
  asked: Pick<Exchange, 'request' | 'server' | 'requestId' | 'format'>,
  route: RouteName,
  identify: (operator: OperatorState) => Promise<KeyFacts>,
): Exchange {
  const operator = current();
  const { requestId, format } = asked;
  const tally = tallies.start({ requestId, route, format: format.name });
  return {
    ...asked,
    operator,
    tally,
    async authorize() {
      const who = await identify(operator);
      tally.identified(who);
      return who;
    },
  };
}

/** Runs what a route does. Its work tells the tally how it has ended; a refusal is told here. */
export async function answer(
  dependencies: HandlerDependencies,
  exchange: Exchange,
  work: () => Response | Promise<Response>,
): Promise<Response> {
  try {
    if (dependencies.isRefusing()) throw dependencies.draining() ? stopping() : away();
    return await work();
  } catch (error) {
    return refuse(dependencies, exchange, error);
  }
}

export function refuse(
  dependencies: HandlerDependencies,
  { requestId, format, tally }: Exchange,
  cause: unknown,
  allow?: string,
): Response {
  const isAway = dependencies.isAway(cause);
  if (isAway) dependencies.onInternal(requestId, cause);
  const error = isAway ? away() : cause;
  const response = respondError({
    requestId,
    format,
    error,
    onInternal: () => dependencies.onInternal(requestId, cause),
    ...(allow === undefined ? {} : { allow }),
  });
  tally.answered(response.status, error instanceof GatewayError ? error.code : 'internal_error');
  return response;
}

/** The runtime leaves a Host out that it cannot read, or puts one in that no URL can have. */
export function targetOf({ url }: Request): URL {
  const path = /^(?:\w+:\/\/[^/]*)?(\/.*)/s.exec(url)?.[1] ?? '/';
  return URL.parse(url) ?? new URL(`http://localhost${path}`);
}

/** Empty where the runtime does not know it. */
export function socketAddressOf(request: Request, server: RuntimeServer | null): string {
  return server?.requestIP(request)?.address ?? '';
}

function addressOf(
  request: Request,
  server: RuntimeServer | null,
  trustedProxies: NetworkSet,
): string {
  return clientAddress(
    socketAddressOf(request, server),
    request.headers.get('x-forwarded-for'),
    trustedProxies,
  );
}

function stopping(): GatewayError {
  return new GatewayError('provider_unavailable', {
    message: 'The service is restarting. Nothing was charged. Retry with back-off.',
  });
}

function away(): GatewayError {
  return new GatewayError('provider_unavailable', {
    message: 'The service cannot reach its books at the moment. Retry with back-off.',
  });
}
