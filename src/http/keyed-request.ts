// Answers a request with an `Idempotency-Key`. The first one with a key runs to its end, whether or
// not its client stays. A repeat with the same body gets its answer from the beginning, is charged
// nothing, and uses up a request of the minute. The row that is written before the hold decides
// which request is the first.

import { timingSafeEqual } from 'node:crypto';
import { requirePlan } from '../core/admit.ts';
import { GatewayError } from '../core/error.ts';
import { BODY_KEY, readIdempotencyKey } from '../core/idempotency-key.ts';
import { formatTokens, ZERO } from '../core/money.ts';
import type { Plan } from '../core/plan.ts';
import type { AnswerSummary } from '../core/request-summary.ts';
import type { KeptRequest, KeyLookup } from '../idempotency/store.ts';
import type { KeyFacts } from '../identity/authenticate.ts';
import type { ParsedBody } from '../wire/format.ts';
import { DetachedExchange } from './detached.ts';
import {
  type GenerationExchange,
  type HandlerDependencies,
  refuse,
  requireServing,
} from './exchange.ts';
import { answerGeneration } from './handlers.ts';
import type { Idempotency } from './idempotency.ts';
import { follow, type Recorded, type Recording, unpackAnswer } from './recording.ts';
import { replayedHeaders } from './respond.ts';

/** How often a repeat looks whether another node has finished the first request. */
const LOOK_MS = 250;

/** How long it does so. A client that still wants the answer retries then. */
const WAIT_MS = 300_000;

const RUNNING_RETRY_SECONDS = 2;

/** Open requests with a key per concurrent request of the plan: the first one and a repeat. */
const PLACES = 2;

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

/** A request with a key, authorized and read. */
type Asked = {
  readonly facts: KeyFacts;
  readonly plan: Plan;
  readonly body: ParsedBody;
  readonly lookup: KeyLookup;
  readonly fingerprint: Uint8Array;
};

/**
 * first     the recording has just begun, and this request has to run it
 * running   another request of this process runs it
 * found     there is a row
 */
type Decision =
  | { readonly kind: 'first' | 'running'; readonly recording: Recording }
  | { readonly kind: 'found'; readonly found: KeptRequest };

class KeyedRequest {
  readonly #dependencies: HandlerDependencies;
  readonly #idempotency: Idempotency;
  readonly #exchange: GenerationExchange;
  readonly #left: Promise<'left'>;
  #giveBack: () => void = () => {};

  constructor(
    dependencies: HandlerDependencies,
    idempotency: Idempotency,
    exchange: GenerationExchange,
  ) {
    this.#dependencies = dependencies;
    this.#idempotency = idempotency;
    this.#exchange = exchange;
    this.#left = new Promise((resolve) => {
      const { signal } = exchange;
      if (signal.aborted) resolve('left');
      else signal.addEventListener('abort', () => resolve('left'), { once: true });
    });
  }

  async answer(header: string): Promise<Response> {
    try {
      requireServing(this.#dependencies);
      const asked = await this.#read(header);
      const { facts, plan } = asked;
      const most = PLACES * plan.concurrentRequests;
      this.#giveBack = this.#idempotency.enter(facts.accountId, most);
      return await this.#serve(asked, await this.#enter(asked));
    } catch (error) {
      this.#giveBack();
      return refuse(this.#dependencies, this.#exchange, error);
    }
  }

  async #read(header: string): Promise<Asked> {
    const { entrance, inFlight } = this.#dependencies.generation;
    const exchange = this.#exchange;
    const { store } = this.#idempotency;
    const facts = await exchange.authorize();
    const key = readIdempotencyKey(header);
    const plan = requirePlan(exchange.operator.catalog, facts.plan);
    await entrance.look(facts.accountId, plan);
    const body = await exchange.readBody();
    if (inFlight.aborted()) throw new GatewayError('provider_unavailable');
    const fingerprint = store.fingerprint(exchange.format.name, body.text);
    const lookup =
      key === BODY_KEY ? store.lookupBody(facts, fingerprint) : store.lookup(facts, key);
    return { facts, plan, body, lookup, fingerprint };
  }

  /** A repeat is counted here; a first request counts itself when it claims its limits. */
  async #enter(asked: Asked): Promise<Decision> {
    const { entrance } = this.#dependencies.generation;
    const { accountId } = asked.facts;
    const { plan } = asked;
    await entrance.enter(accountId, plan);
    let decision: Decision;
    try {
      decision = await this.#decide(asked);
    } catch (error) {
      await entrance.leave(accountId, plan, error);
      throw error;
    }
    if (decision.kind === 'first') entrance.leave(accountId, plan);
    else await entrance.leaveCounted(accountId, plan);
    return decision;
  }

  /** Throws if the key was used for another body. */
  async #decide({ lookup, fingerprint }: Asked): Promise<Decision> {
    const found = await this.#idempotency.store.find(lookup);
    // No wait between here and `record`: two first requests of this process find each other.
    const recording = this.#idempotency.runningOf(lookup);
    if (recording !== undefined) {
      requireSame(recording.fingerprint, fingerprint);
      return { kind: 'running', recording };
    }
    if (found !== undefined) {
      requireSame(found.fingerprint, fingerprint);
      return { kind: 'found', found };
    }
    return { kind: 'first', recording: this.#idempotency.record(lookup, fingerprint) };
  }

  /** Decides again for as long as a first request ended without a charge. */
  async #serve(asked: Asked, first: Decision): Promise<Response> {
    for (let decision = first; ; decision = await this.#decide(asked)) {
      if (decision.kind === 'found') {
        const { found } = decision;
        if (found.answer !== undefined) return this.#replay(asked, unpackAnswer(found.answer));
        if (found.state !== 'running') throw await this.#lost(found);
        if ((await this.#untilEnded(asked, found)) === 'left') return this.#leave();
        continue;
      }
      const { kind, recording } = decision;
      if (kind === 'first') this.#run(asked, recording);
      const begun = await Promise.race([recording.begun, this.#left]);
      if (begun === 'left') return this.#leave();
      if (begun.kind === 'answer') {
        return kind === 'first' ? this.#respond(begun, begun.own) : this.#replay(asked, begun);
      }
      if (begun.kind === 'over' && kind === 'first') return this.#end(begun.response);
      await recording.ended;
    }
  }

  /** Starts the first request. It ends by itself, also without its client. */
  #run({ lookup, fingerprint, ...read }: Asked, recording: Recording): void {
    const { store } = this.#idempotency;
    const { requestId } = this.#exchange;
    let isOwn: boolean | undefined;
    const beforeHold = async (): Promise<void> => {
      isOwn ??= await store.claim(lookup, fingerprint, requestId);
      if (!isOwn) throw runningElsewhere();
    };
    const exchange = new DetachedExchange(this.#dependencies, this.#exchange, read, beforeHold);
    const work = async (): Promise<void> => {
      const response = await answerGeneration(this.#dependencies, exchange);
      if (isOwn === false) {
        recording.begin({ kind: 'beaten' });
        return;
      }
      await recording.record(requestId, response, () => isCharged(exchange.tally.answer));
      if (isOwn === undefined) return;
      if (isCharged(exchange.tally.answer)) await store.keep(lookup, requestId, recording.packed());
      else await store.release(lookup, requestId);
    };
    this.#idempotency.track(lookup, recording, work());
  }

  async #replay(asked: Asked, recorded: Recorded): Promise<Response> {
    const { accountId } = asked.facts;
    const limits = await this.#dependencies.generation.limits.left(accountId, asked.plan);
    const { requestId, headers } = recorded.head;
    this.#exchange.tally.replays(requestId);
    const response = this.#respond(recorded, replayedHeaders(headers, limits));
    this.#exchange.tally.answered(response.status);
    return response;
  }

  #respond(
    { head, transcript }: Recorded,
    headers: Headers | Readonly<Record<string, string>>,
  ): Response {
    const { status, isStream } = head;
    if (!isStream) return this.#end(new Response(transcript.all(), { status, headers }));
    const body = follow(transcript, this.#exchange.signal, this.#giveBack);
    return new Response(body, { status, headers });
  }

  #end(response: Response): Response {
    this.#giveBack();
    return response;
  }

  #leave(): Response {
    return this.#end(new Response(null, { status: 499 }));
  }

  /**
   * Waits while another node runs the first request, or its hold waits for recovery. A row whose
   * request ended without a charge is removed.
   */
  async #untilEnded(asked: Asked, found: KeptRequest): Promise<'ended' | 'left'> {
    const { store, books } = this.#idempotency;
    const { monotonic } = this.#dependencies.generation;
    const { requestId } = found;
    for (const startedAt = monotonic(); monotonic() - startedAt < WAIT_MS; ) {
      const isElsewhere = await store.isElsewhere(found);
      const row = await store.find(asked.lookup);
      if (row?.requestId !== requestId || row.state !== 'running') return 'ended';
      if (!isElsewhere) {
        const history = await books.explain(requestId);
        if ((history?.record?.debited ?? ZERO) > ZERO) throw await this.#lost(found);
        if (history === undefined || history.record !== undefined) {
          await store.remove(found);
          return 'ended';
        }
      }
      const slept = await Promise.race([Bun.sleep(LOOK_MS), this.#left]);
      if (slept === 'left') return 'left';
    }
    throw runningElsewhere();
  }

  /** Names the charge that has no answer, so that it is not charged again silently. */
  async #lost({ requestId }: KeptRequest): Promise<GatewayError> {
    const history = await this.#idempotency.books.explain(requestId);
    const { record, receipt } = history ?? {};
    const charge =
      record === undefined || receipt === undefined
        ? ''
        : ` It was charged ${formatTokens(record.debited)} service tokens, on receipt ${receipt.sequence} of this account.`;
    return new GatewayError('idempotent_answer_lost', {
      message: `The answer of ${requestId}, the first request with this Idempotency-Key, is no longer kept.${charge} Nothing was charged for this repeat. Use a new key to ask again.`,
    });
  }
}

function requireSame(first: Uint8Array, fingerprint: Uint8Array): void {
  if (!timingSafeEqual(first, fingerprint)) throw new GatewayError('idempotency_key_reused');
}

function runningElsewhere(): GatewayError {
  return new GatewayError('idempotent_request_running', {
    retryAfterSeconds: RUNNING_RETRY_SECONDS,
  });
}

/** Whether a repeat must not run again: the request was charged, or had a free model's answer. */
function isCharged(answer: AnswerSummary | undefined): boolean {
  if (answer === undefined) return false;
  const { outcome, debited, loss } = answer;
  return outcome === 'completed' || outcome === 'stopped_balance' || debited > ZERO || loss > ZERO;
}
