// Tool-call ids: as one upstream takes them, and for calls that come without one of their own. Called
// by the request writers for each call and each result alike, and by the readers of answers. It must never
// give two ids of one conversation the same name, nor one id two names.

import type { GenerationRequest } from '../../core/generation.ts';
import type { UpstreamProfile } from '../../core/profile.ts';
import { TOOL_CALL_ID_LENGTH_MAX } from './limits.ts';

type Shape = UpstreamProfile['toolIds'];

const WORD = /^[A-Za-z0-9_-]{1,64}$/;
const NINE = /^[A-Za-z0-9]{9}$/;

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/**
 * An id of the shape that an upstream demands: `word` is 1 to 64 of `A-Za-z0-9_-`, `nine` exactly 9
 * of `A-Za-z0-9`. An id that fits stays; any other becomes a digest of itself, so that a call and
 * its result agree and every turn writes the same bytes again.
 */
export function toolIdFor(shape: Shape, id: string): string {
  switch (shape) {
    case 'any':
      return id;
    case 'word':
      return WORD.test(id) ? id : `call_${digest(id, 22)}`;
    case 'nine':
      return NINE.test(id) ? id : digest(id, 9);
  }
}

/**
 * 62⁹ is some 53 bits: two of a thousand ids agree with a chance of 1 in 10¹⁰. The hash is no secret
 * one; whoever makes ids that collide only confuses their own conversation.
 */
function digest(id: string, length: number): string {
  let rest = (Bun.hash.wyhash(id, 0n) << 64n) | Bun.hash.wyhash(id, 1n);
  let text = '';
  for (; text.length < length; rest /= 62n) text += DIGITS.charAt(Number(rest % 62n));
  return text;
}

/** What an answer has to be told apart from: as many turns as came before it, and their calls. */
export type Conversation = { readonly turns: number; readonly callIds: ReadonlySet<string> };

export const NO_CONVERSATION: Conversation = { turns: 0, callIds: new Set() };

export function conversationOf({ turns }: GenerationRequest): Conversation {
  const calls = turns.flatMap((turn) => (turn.role === 'assistant' ? turn.toolCalls : []));
  return { turns: turns.length, callIds: new Set(calls.map((call) => call.id)) };
}

/** The id to show for the call at `position` of an answer; `given` and `answerId` may be empty. */
export type NameCall = (given: string, answerId: string, position: number) => string;

/**
 * Names the calls of one answer: as the upstream does, where its id is one. Clients match results to
 * calls by the id, through all of a conversation, and some upstreams begin anew with every answer:
 * an agent that is given an id again takes it for the call that it has made already.
 */
export function createCallNames({ turns, callIds }: Conversation): NameCall {
  const taken = new Set<string>();
  return (given, answerId, position) => {
    const isOwn = given !== '' && given.length <= TOOL_CALL_ID_LENGTH_MAX;
    const isFree = !taken.has(given) && !callIds.has(given);
    const id = isOwn && isFree ? given : derivedCallId(`${answerId}/${turns}`, position);
    taken.add(id);
    return id;
  };
}

/** A conversation has one answer behind each of its turns, which `answer` tells from the others. */
function derivedCallId(answer: string, position: number): string {
  return `call_${Bun.hash(`${answer}/${position}`).toString(36)}`;
}
