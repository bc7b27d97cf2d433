// Answers a request with an `Idempotency-Key`. The first one runs to its end, whether or not its client
// stays. A repeat with the same body gets its answer from the beginning, is charged nothing, and uses
// a request of the minute. The row that is written before the hold decides which one is the first.

import { withTimeout } from '../async/timeout.ts';
import { requirePlan } from '../core/admit.ts';
import { GatewayError } from '../core/error.ts';
import { readIdempotencyKey } from '../core/idempotency-key.ts';
import type { ReplaySource } from '../core/request-summary.ts';
import type { KeptRequest } from '../idempotency/store.ts';
import type { ParsedBody } from '../wire/format.ts';
import { announce, asksForStream, headOfRepeat } from './announced.ts';
import {
  type GenerationExchange,
  type HandlerDependencies,
  refuse,
  requireServing,
} from './exchange.ts';
import { runFirst } from './first-request.ts';
import { answerGeneration } from './handlers.ts';
import type { Idempotency } from './idempotency.ts';
import { lostAnswer, untilEnded } from './keyed-books.ts';
import { type Asked, type Decision, decide, nameOf } from './keyed-decision.ts';
import { follow, type Recorded, type Recording } from './recording.ts';
import { announcedHeaders, refusalOf, replayedHeaders } from './respond.ts';

/** Open requests with a key per concurrent request of the plan: the first one and a repeat. */
const PLACES = 2;

const NO_BODY: ParsedBody = { text: '', value: undefined };

const STREAMING = 200;

/** The status in the log of a request whose client disconnected. */
const CLIENT_LEFT = 499;

const WITHOUT_STREAM =
  'The first request with this Idempotency-Key has ended without a stream. Nothing was charged for this repeat. Retry with the same key.';

/** POST /v1/chat/completions and /v1/messages, with or without a key. Never rejects. */
export function answerOnce(
  dependencies: HandlerDependencies,
  exchange: GenerationExchange,
): Promise<Response> {
  const { idempotency } = dependencies;
  if (idempotency === undefined) return answerGeneration(dependencies, exchange);
  const header = exchange.request.headers.get('idempotency-key');
  if (header === null) return answerGeneration(dependencies, exchange);
  return new KeyedRequest(dependencies, idempotency, exchange).answer(header);
}

class KeyedRequest {
  readonly #dependencies: HandlerDependencies;
  readonly #idempotency: Idempotency;
  readonly #exchange: GenerationExchange;
  /** Its client has left, or shutdown waits no longer. */
  readonly #over = Promise.withResolvers<'over'>();
  /** Kept, in the room for bodies, for as long as this may become the first request. */
  #body = NO_BODY;
  #giveRoom: () => void = () => {};
  /** Resolves when the first request that this one runs has ended. */
  #running = Promise.resolve();
  /** What is undone when nothing more is read from its response. */
  readonly #ends: (() => void)[] = [];
  #hasEnded = false;

  constructor(
    dependencies: HandlerDependencies,
    idempotency: Idempotency,
    exchange: GenerationExchange,
  ) {
    this.#dependencies = dependencies;
    this.#idempotency = idempotency;
    this.#exchange = exchange;
    const { signal } = exchange;
    const leave = (): void => this.#over.resolve('over');
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
  }

  async answer(header: string): Promise<Response> {
    try {
      requireServing(this.#dependencies);
      const [asked, decision] = await this.#receive(header);
      return await this.#serve(asked, decision);
    } catch (error) {
      this.#end();
      return refuse(this.#dependencies, this.#exchange, error);
    }
  }

  /** Shutdown does not wait for it to begin. What its client reads by then ends by itself or is cut. */
  stop(): void {
    this.#over.resolve('over');
  }

  /** A repeat is counted here; a first request counts itself when it claims its limits. */
  async #receive(header: string): Promise<[Asked, Decision]> {
    const { entrance, inFlight } = this.#dependencies.generation;
    const exchange = this.#exchange;
    const facts = await exchange.authorize();
    const key = readIdempotencyKey(header);
    const plan = requirePlan(exchange.operator.catalog, facts.plan);
    const entry = entrance.begin(facts.accountId, plan);
    try {
      const most = PLACES * plan.concurrentRequests;
      this.#ends.push(this.#idempotency.enter(facts.accountId, most));
      const { minimumHold } = exchange.operator.catalog;
      await entry.look(minimumHold, () => this.#idempotency.isFirst(facts, key));
      this.#body = await exchange.readBody(entry);
      if (inFlight.aborted()) throw new GatewayError('provider_unavailable');
      this.#ends.push(inFlight.enterReader(this));
      const asked = nameOf(this.#idempotency, exchange.format, key, this.#body, { facts, plan });
      await entry.enter();
      const decision = await decide(this.#idempotency, asked);
      this.#giveRoom = () => entry.giveRoom();
      if (decision.kind === 'first') entry.leavePlace();
      else await entry.leaveCounted();
      return [asked, decision];
    } catch (error) {
      await entry.refuse(error);
      throw error;
    }
  }

  /** Decides again for as long as a first request is tried again. */
  async #serve(request: Asked, first: Decision): Promise<Response> {
    for (let [asked, decision] = [request, first]; ; [asked, decision] = await this.#again(asked)) {
      if (decision.kind === 'found') {
        const response = await this.#serveFound(asked, decision.found);
        if (response !== undefined) return response;
        continue;
      }
      const { kind, recording } = decision;
      const isFirst = kind === 'first';
      if (isFirst) this.#run(asked, recording);
      const begun = await Promise.race([recording.begun, this.#over.promise]);
      if (begun === 'over') return this.#leave(isFirst);
      if (begun.kind === 'answer' && (isFirst || !recording.isOver())) {
        return isFirst ? this.#respond(begun, begun.own) : this.#replay(asked, begun, 'running');
      }
      if (begun.kind === 'over' && isFirst) {
        this.#end();
        return begun.response;
      }
      await recording.ended;
    }
  }

  #run(asked: Asked, recording: Recording): void {
    this.#running = recording.ended;
    const first = { ...asked, body: this.#body, recording };
    runFirst(this.#dependencies, this.#idempotency, this.#exchange, first, () => this.#dropBody());
  }

  /** The wait may have been long: the key may be revoked or paused by now. */
  async #again(before: Asked): Promise<[Asked, Decision]> {
    requireServing(this.#dependencies);
    const operator = this.#dependencies.operator();
    const facts = await this.#exchange.authorize(operator);
    const asked = { ...before, facts, plan: requirePlan(operator.catalog, facts.plan) };
    return [asked, await decide(this.#idempotency, asked)];
  }

  /** Undefined when there is something new to decide. */
  async #serveFound(asked: Asked, found: KeptRequest): Promise<Response | undefined> {
    const { answer, requestId, state } = found;
    if (answer !== undefined) {
      return this.#replay(asked, this.#open(requestId, answer), 'stored');
    }
    if (state !== 'running') throw await lostAnswer(this.#idempotency.books, requestId);
    const { monotonic, silentCommitMs } = this.#dependencies.generation;
    const ended = untilEnded(this.#idempotency, {
      ...{ lookup: asked.lookup, found, monotonic, over: this.#over.promise },
      requireServing: () => requireServing(this.#dependencies),
    });
    // As the first one: a stream has its headers after this time, a whole answer when it is there.
    const end = asksForStream(this.#body)
      ? await withTimeout(silentCommitMs, ended, 'silent' as const)
      : await ended;
    if (end === 'silent') return this.#announce(asked, requestId, ended);
    return end === 'over' ? this.#leave(false) : undefined;
  }

  /** Answers with a stream of heartbeats until the first request has ended. */
  async #announce(
    asked: Asked,
    requestId: string,
    ended: Promise<'ended' | 'over'>,
  ): Promise<Response> {
    const { generation, onInternal } = this.#dependencies;
    const { format, operator, signal, tally, startedAt } = this.#exchange;
    const head = headOfRepeat(requestId, startedAt, this.#body, operator.catalog);
    this.#dropBody();
    const stream = announce({
      encoder: format.stream(head),
      heartbeatMs: generation.heartbeatMs,
      signal,
      onEnd: () => this.#end(),
      answer: this.#answerAfter(asked, ended),
      errorOf: (thrown) =>
        refusalOf(thrown, (error) => onInternal(this.#exchange.requestId, error)),
    });
    const headers = announcedHeaders(
      requestId,
      await generation.limits.left(asked.facts.accountId, asked.plan),
    );
    tally.replays(requestId, 'running');
    tally.answered(STREAMING);
    return new Response(stream.body, { status: STREAMING, headers });
  }

  /** Throws if there is no stream: its headers are sent, so another one cannot be begun. */
  async #answerAfter(asked: Asked, ended: Promise<'ended' | 'over'>): Promise<Recorded> {
    if ((await ended) === 'over') throw new GatewayError('provider_unavailable');
    const { store, books } = this.#idempotency;
    const found = await store.find(asked.lookup);
    if (found?.state === 'lost') throw await lostAnswer(books, found.requestId);
    // Each reading of `answer` decrypts it.
    const answer = found?.answer;
    if (found !== undefined && answer !== undefined) {
      const recorded = this.#open(found.requestId, answer);
      if (recorded.head.isStream) {
        this.#idempotency.claimReplay(asked, recorded);
        return recorded;
      }
    }
    throw new GatewayError('idempotent_request_running', { message: WITHOUT_STREAM });
  }

  /** The stored answer, which is in memory until this request has ended. */
  #open(requestId: string, answer: Uint8Array): Recorded {
    const { recorded, close } = this.#idempotency.read(requestId, answer);
    // Its client may have left while the answer was read.
    if (this.#hasEnded) close();
    else this.#ends.push(close);
    return recorded;
  }

  async #replay(asked: Asked, recorded: Recorded, from: ReplaySource): Promise<Response> {
    this.#idempotency.claimReplay(asked, recorded);
    const { accountId } = asked.facts;
    const limits = await this.#dependencies.generation.limits.left(accountId, asked.plan);
    const { requestId, headers } = recorded.head;
    const { tally } = this.#exchange;
    tally.replays(requestId, from);
    const response = this.#respond(recorded, replayedHeaders(headers, limits));
    tally.answered(response.status);
    return response;
  }

  #respond(
    { head, transcript }: Recorded,
    headers: Headers | Readonly<Record<string, string>>,
  ): Response {
    const { status, isStream } = head;
    this.#dropBody();
    if (!isStream && transcript.isShort()) {
      this.#end();
      return new Response(transcript.all(), { status, headers });
    }
    // A client that does not read keeps its place, and a segment in memory.
    const stream = follow(transcript, this.#exchange.signal, () => this.#end());
    return new Response(stream.body, { status, headers });
  }

  #end(): void {
    this.#hasEnded = true;
    this.#exchange.limitIdle();
    for (const end of this.#ends.splice(0)) end();
    // Without its client, a first request may still wait for its limits.
    this.#running.then(() => this.#dropBody());
  }

  #dropBody(): void {
    this.#body = NO_BODY;
    this.#giveRoom();
  }

  /** A first request goes on, and is reported when it has ended. */
  #leave(isFirst: boolean): Response {
    const { inFlight } = this.#dependencies.generation;
    if (inFlight.aborted()) throw new GatewayError('provider_unavailable');
    this.#end();
    if (!isFirst) this.#exchange.tally.answered(CLIENT_LEFT);
    return new Response(null, { status: CLIENT_LEFT });
  }
}
