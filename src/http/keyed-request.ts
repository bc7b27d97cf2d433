// Answers a request with an `Idempotency-Key`. The first one runs to its end, whether or not its client
// stays. A repeat with the same body gets its answer when that is stored, is charged nothing, and uses
// a request of the minute. The row that is written before the hold decides which one is the first.

import { BODY_KEY, readIdempotencyKey } from '../core/idempotency-key.ts';
import type { Plan } from '../core/plan.ts';
import type { AnswerStream, KeyedCall, Repeat } from '../generate/pipeline-types.ts';
import type { KeyLookup } from '../idempotency/store.ts';
import { isShort, type Transcript, unpack } from '../idempotency/transcript.ts';
import type { KeyFacts } from '../identity/authenticate.ts';
import type { ParsedBody } from '../wire/format.ts';
import type { GenerationExchange, HandlerDependencies } from './exchange.ts';
import { answerGeneration, requireRoom } from './handlers.ts';
import type { Idempotency } from './idempotency.ts';
import { conclude, lostAnswer, requireFree, requireSame, stillRunning } from './keyed-books.ts';
import { headOf, packAnswer, type RecordedHead, RecordingStream, replay } from './recording.ts';
import { replayedHeaders } from './respond.ts';

/** A request for an answer in any format, with or without a key. Never rejects. */
export async function answerOnce(
  dependencies: HandlerDependencies,
  exchange: GenerationExchange,
): Promise<Response> {
  const { idempotency } = dependencies;
  const header = exchange.request.headers.get('idempotency-key');
  if (idempotency === undefined || header === null) return answerGeneration(dependencies, exchange);
  const keyed = new KeyedRequest(dependencies, idempotency, exchange, header);
  exchange.keyed = keyed;
  return keyed.record(await answerGeneration(dependencies, exchange));
}

/** A request by its name. */
type Named = { readonly lookup: KeyLookup; readonly fingerprint: Uint8Array };

/** A request that has claimed its key, with its answer so far. */
type First = { readonly lookup: KeyLookup; readonly transcript: Transcript };

class KeyedRequest implements KeyedCall {
  /** One per request, because listeners are not removed from it. */
  readonly signal = new AbortController().signal;
  readonly #dependencies: HandlerDependencies;
  readonly #idempotency: Idempotency;
  readonly #exchange: GenerationExchange;
  readonly #header: string;
  #key = '';
  #named: Named | undefined;
  #first: First | undefined;
  readonly #head = Promise.withResolvers<RecordedHead>();
  /** What is undone when nothing more is read from its response. */
  readonly #ends: (() => void)[] = [];
  #isReading = false;

  constructor(
    dependencies: HandlerDependencies,
    idempotency: Idempotency,
    exchange: GenerationExchange,
    header: string,
  ) {
    this.#dependencies = dependencies;
    this.#idempotency = idempotency;
    this.#exchange = exchange;
    this.#header = header;
  }

  enter({ accountId }: KeyFacts, plan: Plan): void {
    this.#key = readIdempotencyKey(this.#header);
    this.#ends.push(this.#idempotency.enter(accountId, plan));
  }

  /** One that is made from the body says nothing before that is read. */
  async isNew(facts: KeyFacts): Promise<boolean> {
    if (this.#key === BODY_KEY) return false;
    const { store } = this.#idempotency;
    return !(await store.has(store.lookup(facts, this.#key)));
  }

  async find(facts: KeyFacts, plan: Plan, { text }: ParsedBody): Promise<Repeat | undefined> {
    const { store, books } = this.#idempotency;
    const fingerprint = store.fingerprint(this.#exchange.format.name, text);
    const lookup =
      this.#key === BODY_KEY
        ? store.lookupBody(facts, fingerprint)
        : store.lookup(facts, this.#key);
    const found = await store.find(lookup);
    if (found !== undefined) {
      requireSame(found.fingerprint, fingerprint);
      const { state, requestId, answer } = found;
      if (answer !== undefined) return () => this.#repeat(facts, plan, requestId, answer);
      if (state !== 'running') throw await lostAnswer(books, requestId);
      await requireFree(this.#idempotency, lookup, found);
    }
    requireRoom(this.#dependencies);
    this.#named = { lookup, fingerprint };
    return undefined;
  }

  async claim(): Promise<void> {
    if (this.#named === undefined || this.#first !== undefined) return;
    const { lookup, fingerprint } = this.#named;
    const { requestId } = this.#exchange;
    const transcript = this.#idempotency.begin(requestId);
    let isFirst = false;
    try {
      isFirst = await this.#idempotency.store.claim(lookup, fingerprint, requestId);
    } finally {
      if (!isFirst) this.#idempotency.end(requestId);
    }
    if (!isFirst) throw stillRunning();
    this.#first = { lookup, transcript };
  }

  openStream(onGone: () => void): AnswerStream {
    if (this.#first === undefined) throw new Error('the key is not claimed');
    const { transcript } = this.#first;
    const stream = new RecordingStream({
      transcript,
      bytesMax: this.#idempotency.store.bounds.entryBytes,
      onFull: onGone,
      onComplete: async () => this.#conclude(await this.#head.promise, !stream.gone()),
    });
    const { signal } = this.#exchange.request;
    const leave = (): void => stream.leave();
    if (signal.aborted) leave();
    signal.addEventListener('abort', leave);
    // The signal lives as long as the connection; the transcript must not.
    this.#ends.push(() => signal.removeEventListener('abort', leave));
    return stream;
  }

  /** Takes the response of the pipeline. A stream records itself. */
  async record(response: Response): Promise<Response> {
    const first = this.#first;
    if (first === undefined) {
      if (!this.#isReading) this.#end();
      return response;
    }
    const head = headOf(this.#exchange.requestId, response);
    this.#head.resolve(head);
    if (head.isStream) return response;
    const bytes = await response.bytes();
    first.transcript.append(bytes);
    await this.#conclude(head, true);
    return new Response(bytes, { status: head.status, headers: response.headers });
  }

  /** Stores the answer before its client has all of it, so that a repeat finds it from then on. */
  async #conclude(head: RecordedHead, isComplete: boolean): Promise<void> {
    const first = this.#first;
    if (first === undefined) return;
    const { requestId, tally } = this.#exchange;
    const { lookup, transcript } = first;
    conclude(this.#idempotency, {
      lookup,
      requestId,
      summary: tally.answer,
      answer: () => (isComplete ? packAnswer(head, transcript) : undefined),
    })
      .catch((error) => this.#dependencies.onInternal(requestId, error))
      .finally(() => this.#idempotency.end(requestId));
    await this.#idempotency.untilStored(requestId);
    this.#end();
  }

  async #repeat(
    { accountId }: KeyFacts,
    plan: Plan,
    requestId: string,
    answer: Uint8Array,
  ): Promise<Response> {
    const { recorded, close } = this.#idempotency.read(requestId, answer);
    this.#ends.push(close);
    this.#idempotency.claimReplay(accountId, plan, recorded);
    const { head, packed } = recorded;
    const { limits } = this.#dependencies.generation;
    const headers = replayedHeaders(head.headers, await limits.left(accountId, plan));
    this.#exchange.tally.replays(requestId);
    const { status, isStream } = head;
    if (!isStream && isShort(packed)) {
      return new Response(Buffer.concat([...unpack(packed)]), { status, headers });
    }
    this.#isReading = true;
    // A client that does not read keeps its place, and a segment in memory.
    return new Response(replay(packed, () => this.#end()).body, { status, headers });
  }

  #end(): void {
    for (const end of this.#ends.splice(0)) end();
  }
}
