// The ids of the calls in an answer, as clients will see them. Called by the readers of answers. It
// must never give a call an id that another call of its conversation has.

import type { GenerationRequest } from '../../core/generation.ts';
import { type WroteWords, wordsOf } from './callers-words.ts';
import { TOOL_CALL_ID_LENGTH_MAX } from './limits.ts';

/**
 * What an answer has to differ from: as many turns as came before it, their calls, and, where
 * it is an error, the words that the caller wrote.
 */
export type Conversation = {
  readonly turns: number;
  readonly callIds: ReadonlySet<string>;
  readonly wrote: WroteWords;
};

export const NO_CONVERSATION: Conversation = { turns: 0, callIds: new Set(), wrote: () => false };

/** Most answers have no calls, and are no errors: what tells those apart is found when it is needed. */
export function conversationOf(request: GenerationRequest): Conversation {
  return new RequestConversation(request);
}

class RequestConversation implements Conversation {
  readonly #request: GenerationRequest;
  #callIds: ReadonlySet<string> | undefined;
  #wrote: WroteWords | undefined;

  constructor(request: GenerationRequest) {
    this.#request = request;
  }

  get turns(): number {
    return this.#request.turns.length;
  }

  get callIds(): ReadonlySet<string> {
    this.#callIds ??= callIdsOf(this.#request);
    return this.#callIds;
  }

  readonly wrote: WroteWords = (words) => {
    this.#wrote ??= wordsOf(this.#request);
    return this.#wrote(words);
  };
}

function callIdsOf({ turns }: GenerationRequest): ReadonlySet<string> {
  const calls = turns.flatMap((turn) => (turn.role === 'assistant' ? turn.toolCalls : []));
  return new Set(calls.map((call) => call.id));
}

/**
 * Names the calls of one answer: as the upstream does, where its id is one. Clients match results to
 * calls by the id, through all of a conversation, and some upstreams begin anew with every answer:
 * an agent that is given an id again takes it for the call that it has made already.
 */
export class CallNames {
  readonly #conversation: Conversation;
  #taken: Set<string> | undefined;

  constructor(conversation: Conversation) {
    this.#conversation = conversation;
  }

  /** The id to show for the call at `position` of an answer; `given` and `answerId` may be empty. */
  name(given: string, answerId: string, position: number): string {
    this.#taken ??= new Set();
    const { turns, callIds } = this.#conversation;
    const isOwn = given !== '' && given.length <= TOOL_CALL_ID_LENGTH_MAX;
    const isFree = !this.#taken.has(given) && !callIds.has(given);
    const id = isOwn && isFree ? given : derivedCallId(`${answerId}/${turns}`, position);
    this.#taken.add(id);
    return id;
  }
}

/** A conversation has one answer behind each of its turns, which `answer` tells from the others. */
function derivedCallId(answer: string, position: number): string {
  return `call_${Bun.hash(`${answer}/${position}`).toString(36)}`;
}
