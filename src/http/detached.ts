// A request with an `Idempotency-Key` as the pipeline sees it: authorized and read already, and not
// ended by its client's disconnect, because a repeat may fetch the answer for a day.

import type { BodyBytes } from '../generate/pipeline-types.ts';
import type { KeyFacts } from '../identity/authenticate.ts';
import type { ParsedBody } from '../wire/format.ts';
import { GenerationExchange, type HandlerDependencies } from './exchange.ts';

export class DetachedExchange extends GenerationExchange {
  readonly isRead = true;
  readonly beforeHold: () => Promise<void>;
  readonly #facts: KeyFacts;
  /** Never fires. One per request, because listeners are not removed from it. */
  readonly #signal = new AbortController().signal;
  #body: ParsedBody | undefined;

  constructor(
    dependencies: HandlerDependencies,
    from: GenerationExchange,
    read: { readonly facts: KeyFacts; readonly body: ParsedBody },
    beforeHold: () => Promise<void>,
  ) {
    const { request, server, format, tally, requestId } = from;
    super(dependencies, request, server, format, tally.route, requestId);
    this.#facts = read.facts;
    this.#body = read.body;
    this.beforeHold = beforeHold;
  }

  override get signal(): AbortSignal {
    return this.#signal;
  }

  override authorize(): KeyFacts {
    this.tally.identified(this.#facts);
    return this.#facts;
  }

  /** Call once, as without a key: the body is not kept here. */
  override readBody(room: BodyBytes): Promise<ParsedBody> {
    const body = this.#body;
    this.#body = undefined;
    return body === undefined ? super.readBody(room) : Promise.resolve(body);
  }

  /** The client may read on when the answer has ended; its own exchange says when it has it all. */
  override limitIdle(): void {}
}
