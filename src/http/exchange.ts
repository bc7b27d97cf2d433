// One request as its handler sees it: who asks, in which format, and how its end is answered and told.
// Called by the handlers. Whatever is thrown ends in the envelope of the path's own format.

import type { Awaitable } from '../async/awaitable.ts';
import type { Deadlines } from '../core/deadlines.ts';
import { GatewayError } from '../core/error.ts';
import type { UpstreamState } from '../core/health.ts';
import { createRequestId, type RandomBytes } from '../core/id.ts';
import type { OperatorState } from '../core/operator.ts';
import type { RouteName } from '../core/request-summary.ts';
import type {
  GenerateDependencies,
  GenerationCall,
  PlaygroundCall,
} from '../generate/pipeline-types.ts';
import type { Access, PlaygroundAccess } from '../identity/access.ts';
import { clientAddress, type NetworkSet } from '../identity/address.ts';
import type { KeyFacts } from '../identity/authenticate.ts';
import type { LimitsLoad } from '../limits/load.ts';
import type { ClientFormat, ParsedBody } from '../wire/format.ts';
import { readBody } from './body.ts';
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
  /** What is in flight in this process. */
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

/** Where the dashboard has read a session, the runtime is not asked for the address. */
type AskedServer = Pick<RuntimeServer, 'timeout'> & Partial<Pick<RuntimeServer, 'requestIP'>>;

/** One request, as its handler sees it. */
export class Exchange {
  readonly request: Request;
  readonly server: AskedServer | null;
  readonly format: ClientFormat;
  readonly requestId: string;
  /** Unix milliseconds. */
  readonly startedAt: number;
  /** What operators had set when the request came. */
  readonly operator: OperatorState;
  readonly tally: Tally;
  protected readonly dependencies: HandlerDependencies;

  constructor(
    dependencies: HandlerDependencies,
    request: Request,
    server: AskedServer | null,
    format: ClientFormat,
    route: RouteName,
    requestId?: string,
  ) {
    this.dependencies = dependencies;
    this.request = request;
    this.server = server;
    this.format = format;
    this.startedAt = dependencies.clock();
    this.requestId = requestId ?? createRequestId(this.startedAt, dependencies.randomBytes);
    this.operator = dependencies.operator();
    this.tally = dependencies.tallies.start(this.requestId, route, format.name);
  }

  /** Who asks. Throws the refusal of a key or of its account. */
  authorize(): Awaitable<KeyFacts> {
    const facts = this.identify();
    return facts instanceof Promise
      ? facts.then((late) => this.identified(late))
      : this.identified(facts);
  }

  /** By the key that it presents. */
  protected identify(): Awaitable<KeyFacts> {
    return this.dependencies.access(this, this.operator);
  }

  protected identified(facts: KeyFacts): KeyFacts {
    this.dependencies.touchKey(facts.keyId);
    this.tally.identified(facts);
    return facts;
  }

  get authorization(): string | null {
    return this.request.headers.get('authorization');
  }

  get xApiKey(): string | null {
    return this.request.headers.get('x-api-key');
  }

  /** The network address of the client, as far as proxies can be trusted. */
  address(): string {
    const { request, server, dependencies } = this;
    const forwarded = request.headers.get('x-forwarded-for');
    return clientAddress(socketAddressOf(request, server), forwarded, dependencies.trustedProxies);
  }

  /** To be read once. Throws 413, 415 or 400. */
  readBody(): Promise<ParsedBody> {
    return readBody(this.request, this.dependencies);
  }
}

/** A request for an answer. */
export class GenerationExchange extends Exchange implements GenerationCall {
  /** Fires when the client leaves before its answer is complete. */
  get signal(): AbortSignal {
    return this.request.signal;
  }

  protected override identified(facts: KeyFacts): KeyFacts {
    super.identified(facts);
    if (this.dependencies.isStopped(facts.accountId)) throw accountStopped();
    return facts;
  }

  override readBody(): Promise<ParsedBody> {
    return super.readBody().then((body) => {
      // From here on silence is the model's: the runtime must not take it for a dead client.
      this.server?.timeout(this.request, 0);
      return body;
    });
  }
}

/** A request of the playground, under a session that the dashboard has read. */
export class PlaygroundExchange extends GenerationExchange {
  readonly #session: PlaygroundCall;

  constructor(
    dependencies: HandlerDependencies,
    session: PlaygroundCall,
    format: ClientFormat,
    route: RouteName,
  ) {
    const { request, server, requestId } = session;
    super(dependencies, request, server, format, route, requestId);
    this.#session = session;
  }

  protected override identify(): Awaitable<KeyFacts> {
    return this.dependencies.playgroundAccess(this.#session, this.operator);
  }
}

/** Throws where this process takes no requests any more, or none at the moment. */
export function requireServing(dependencies: HandlerDependencies): void {
  if (dependencies.isRefusing()) throw dependencies.draining() ? stopping() : away();
}

/** Whatever was thrown, as the answer to the request that it ends. */
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
export function socketAddressOf(
  request: Request,
  server: Partial<Pick<RuntimeServer, 'requestIP'>> | null,
): string {
  return server?.requestIP?.(request)?.address ?? '';
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

function accountStopped(): GatewayError {
  return new GatewayError('provider_unavailable', {
    message:
      'The balance of this account is being checked, and new requests wait for that. Nothing was charged. Retry later, or ask the operator, whose log says more.',
  });
}
