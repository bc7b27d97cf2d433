// Assigns the ids of the calls in an answer as clients see them. Ids must be unique within a
// conversation.

import type { GenerationRequest } from '../../core/generation.ts';
import { type WroteWords, wordsOf } from './callers-words.ts';
import { TOOL_CALL_ID_LENGTH_MAX } from './limits.ts';

/**
 * What an answer's ids must not repeat: the number of earlier turns and their calls. For errors,
 * also the caller's text.
 */
export type Conversation = {
  readonly turns: number;
  readonly callIds: ReadonlySet<string>;
  readonly wrote: WroteWords;
};

export const NO_CONVERSATION: Conversation = { turns: 0, callIds: new Set(), wrote: () => false };

/** Computed on demand, because most answers have no calls and are not errors. */
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
 * Names the calls of one answer, with the upstream's id if it is unique. Clients match results to
 * calls by id across the whole conversation, and some upstreams restart their ids with every
 * answer: an agent that sees an id again mistakes the call for the earlier one.
 */
export class CallNames {
  readonly #conversation: Conversation;
  #taken: Set<string> | undefined;

  constructor(conversation: Conversation) {
    this.#conversation = conversation;
  }

  /**
   * The id to show for the call at `position` of an answer; `given` and `answerId` may be empty.
   */
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

/** `answer` distinguishes the answers within a conversation. */
function derivedCallId(answer: string, position: number): string {
  return `call_${Bun.hash(`${answer}/${position}`).toString(36)}`;
}
