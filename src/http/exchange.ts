// One request as its handler sees it: the caller, the format, the response and the summary.
// Anything thrown is answered in the envelope of the path's format.

import type { Awaitable } from '../async/awaitable.ts';
import type { Deadline, Deadlines } from '../core/deadlines.ts';
import { GatewayError } from '../core/error.ts';
import type { UpstreamState } from '../core/health.ts';
import { createRequestId, type RandomBytes } from '../core/id.ts';
import type { RouteName } from '../core/request-summary.ts';
import type { Sentence } from '../core/sentence.ts';
import type { ServiceState } from '../core/service-state.ts';
import type { RequestTrace, StartTrace } from '../core/trace.ts';
import type {
  BodyBytes,
  GenerateDependencies,
  GenerationCall,
  KeyedCall,
  PlaygroundCall,
} from '../generate/pipeline-types.ts';
import type { Access, PlaygroundAccess } from '../identity/access.ts';
import { clientAddress, type NetworkSet } from '../identity/address.ts';
import type { KeyFacts } from '../identity/authenticate.ts';
import type { LimitsLoad } from '../limits/load.ts';
import type { RefusedCall } from '../refusals/recorder.ts';
import type { ClientFormat, ParsedBody } from '../wire/format.ts';
import { beforeClosing, readBody } from './body.ts';
import type { Idempotency } from './idempotency.ts';
import type { KnownHosts } from './known-hosts.ts';
import type { ListDependencies } from './lists.ts';
import type { OperatorAccess } from './operator-access.ts';
import { refusalOf, respondError } from './respond.ts';
import type { Tallies, Tally } from './tally.ts';
import { type CountVisit, LATE_MS } from './visit-count.ts';

export type HandlerDependencies = {
  /** The current state of the service. */
  readonly serviceState: () => ServiceState;
  readonly access: Access;
  readonly playgroundAccess: PlaygroundAccess;
  readonly generation: GenerateDependencies;
  /** Absent if the operator has disabled it. */
  readonly idempotency: Idempotency | undefined;
  readonly offersResponses: boolean;
  readonly lists: ListDependencies;
  readonly randomBytes: RandomBytes;
  readonly clock: () => number;
  readonly deadlines: Deadlines;
  readonly trustedProxies: NetworkSet;
  readonly countVisit: CountVisit;
  /** Why this process cannot serve now; empty if it can. */
  readonly problems: () => Promise<readonly Sentence[]>;
  readonly warnings: (audience: 'operator' | 'public') => readonly Sentence[];
  /** Whether new requests of an account are refused because its books are inconsistent. */
  readonly isStopped: (accountId: string) => boolean;
  /** The process is about to end: no new requests should be sent here. */
  readonly draining: () => boolean;
  /** Whether requests that arrive during the drain are refused. */
  readonly isRefusing: () => boolean;
  /** Whether another request can get an upstream connection. */
  readonly hasRoom: () => boolean;
  readonly touchKey: (keyId: string, from: { readonly address: () => string }) => void;
  readonly onInternal: (requestId: string, error: unknown) => void;
  /** Whether an error means that the database is temporarily unavailable. */
  readonly isAway: (error: unknown) => boolean;
  readonly tallies: Tallies;
  readonly startTrace: StartTrace | undefined;
  /** Records a refusal for the account that it concerns. */
  readonly noteRefusal: (refusal: RefusedCall) => void;
  readonly operatorAccess: OperatorAccess;
  readonly knownHosts: KnownHosts;
  readonly metrics: () => Promise<{ readonly contentType: string; readonly text: string }>;
  readonly upstreams: () => readonly UpstreamState[];
  /** The requests in flight in this process. */
  readonly load: () => Load;
};

/** Seconds of silence of a client before the runtime closes its connection. */
export const IDLE_TIMEOUT_SECONDS = 60;

/** Most answers have ended before their connection could seem idle, and change no timeout. */
const LONG_ANSWER_MS = 20_000;

const STOPPING = 'The service is restarting. Nothing was charged. Retry with back-off.';
const AWAY = 'The service cannot reach its books at the moment. Retry with back-off.';
const ACCOUNT_STOPPED =
  'The balance of this account is being checked, and new requests wait for that. Nothing was charged. Retry later, or ask the operator, whose log says more.';

export type Load = {
  readonly requestsInFlight: number;
  readonly streamsOpen: number;
  /** Ledger commands that are not on disk yet. */
  readonly ledgerPending: number;
  readonly limits: LimitsLoad;
};

/** The part of the runtime's server that handlers use. */
export type RuntimeServer = {
  /** Absent for sessions read by the dashboard, which know their address. */
  readonly requestIP?: (request: Request) => { readonly address: string } | null;
  readonly timeout: (request: Request, seconds: number) => void;
};

/** Answers all requests below a path. */
export type Mount = (request: Request, server: RuntimeServer | null) => Promise<Response>;

/** One request, as its handler sees it. */
export class Exchange {
  readonly request: Request;
  readonly server: RuntimeServer | null;
  readonly format: ClientFormat;
  readonly requestId: string;
  /** Unix milliseconds. */
  readonly startedAt: number;
  /** The state of the service when the request arrived. */
  readonly serviceState: ServiceState;
  readonly trace: RequestTrace | undefined;
  readonly tally: Tally;
  protected readonly dependencies: HandlerDependencies;

  constructor(
    dependencies: HandlerDependencies,
    request: Request,
    server: RuntimeServer | null,
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
    this.serviceState = dependencies.serviceState();
    this.trace = dependencies.startTrace?.(request.headers, this.startedAt);
    this.tally = dependencies.tallies.start(this.requestId, route, format.name, this.trace);
  }

  /** Authenticates the caller. Throws the refusal of a key or its account. */
  authorize(state = this.serviceState): Awaitable<KeyFacts> {
    const facts = this.identify(state);
    return facts instanceof Promise
      ? facts.then((late) => this.identified(late))
      : this.identified(facts);
  }

  /** Identifies the caller by its API key. */
  protected identify(state: ServiceState): Awaitable<KeyFacts> {
    return this.dependencies.access(this, state);
  }

  protected identified(facts: KeyFacts): KeyFacts {
    this.dependencies.touchKey(facts.keyId, this);
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
    return addressOf(this.request, this.server, this.dependencies.trustedProxies);
  }

  /**
   * Silence is the client's from here on. Call it once the answer is decided, and when a stream ends:
   * the runtime keeps a timeout that was changed for all that follows on the connection, and closes a
   * client that does not read only by its idle timeout.
   */
  limitIdle(): void {}

  /** Call once. Throws 413, 415 or 400, or what `room` throws. */
  readBody(room: BodyBytes): Promise<ParsedBody> {
    return readBody(this.request, this.dependencies.deadlines, room);
  }
}

/** A request for a generated answer. */
export class GenerationExchange extends Exchange implements GenerationCall, Deadline {
  at = 0;
  /** Set for a request with an `Idempotency-Key`. */
  keyed: KeyedCall | undefined;
  #isUnlimited = false;

  /** Fires when the client disconnects before its answer is complete. */
  get signal(): AbortSignal {
    return this.keyed?.signal ?? this.request.signal;
  }

  protected override identified(facts: KeyFacts): KeyFacts {
    super.identified(facts);
    if (this.dependencies.isStopped(facts.accountId)) throw unavailable(ACCOUNT_STOPPED);
    return facts;
  }

  override readBody(room: BodyBytes): Promise<ParsedBody> {
    const { deadlines } = this.dependencies;
    this.at = deadlines.now() + LONG_ANSWER_MS;
    deadlines.add(this);
    return super.readBody(room);
  }

  /** Called by the deadlines: silence is the model's, so the runtime's idle timeout must not apply. */
  fire(): void {
    this.#isUnlimited = true;
    this.server?.timeout(this.request, 0);
  }

  override limitIdle(): void {
    this.dependencies.deadlines.remove(this);
    if (!this.#isUnlimited) return;
    this.#isUnlimited = false;
    this.server?.timeout(this.request, IDLE_TIMEOUT_SECONDS);
  }
}

/** A playground request under a session that the dashboard has read. */
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

  protected override identify(state: ServiceState): Awaitable<KeyFacts> {
    return this.dependencies.playgroundAccess(this.#session, state);
  }
}

/** Throws if this process accepts no requests, permanently or at the moment. */
export function requireServing(dependencies: HandlerDependencies): void {
  if (dependencies.isRefusing()) throw unavailable(dependencies.draining() ? STOPPING : AWAY);
}

/** Turns a thrown value into the response of its request. */
export function refuse(
  dependencies: HandlerDependencies,
  exchange: Exchange,
  cause: unknown,
  allow?: string,
): Promise<Response> {
  const { requestId, format, request, tally } = exchange;
  exchange.limitIdle();
  const isAway = dependencies.isAway(cause);
  const onInternal = (): void => dependencies.onInternal(requestId, cause);
  if (isAway) onInternal();
  const error = isAway ? unavailable(AWAY) : refusalOf(cause, onInternal);
  const response = respondError(error, requestId, format, allow);
  tally.answered(response.status, error.code);
  // Other requests are in the books.
  if (tally.answer === undefined || tally.answer.counted) {
    const { code, message, caller } = error;
    dependencies.noteRefusal({
      requestId,
      at: exchange.startedAt,
      code,
      message,
      route: tally.route,
      accountId: tally.accountId ?? caller?.accountId,
      keyId: tally.keyId ?? caller?.keyId,
      model: tally.model,
    });
  }
  const closing = beforeClosing(request, response, dependencies.deadlines);
  // Without a valid key: see `visits.ts`.
  const isOver = error.status === 401 && dependencies.countVisit(exchange.address()) !== undefined;
  return isOver ? Bun.sleep(LATE_MS).then(() => closing) : closing;
}

/** The network address of a client, as far as proxies can be trusted. */
export function addressOf(
  request: Request,
  server: RuntimeServer | null,
  trustedProxies: NetworkSet,
): string {
  const forwarded = request.headers.get('x-forwarded-for');
  return clientAddress(socketAddressOf(request, server), forwarded, trustedProxies);
}

/** Empty if the runtime does not know it. */
export function socketAddressOf(request: Request, server: RuntimeServer | null): string {
  return server?.requestIP?.(request)?.address ?? '';
}

function unavailable(message: string): GatewayError {
  return new GatewayError('provider_unavailable', { message });
}
