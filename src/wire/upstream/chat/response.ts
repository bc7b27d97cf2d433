// Reads a whole chat-completions answer with the chunk reader.

import type { UpstreamFailure } from '../../../core/failure.ts';
import { Fold } from '../../../core/fold.ts';
import type { Answer, JsonObject } from '../../../core/generation.ts';
import { isObject } from '../../../core/json.ts';
import type { ChatProfile } from '../../../core/profile.ts';
import { type Conversation, NO_CONVERSATION } from '../call-names.ts';
import { malformed, readErrorRecord } from '../failure.ts';
import { readFinish } from '../finish.ts';
import { toList, toText } from '../narrow.ts';
import { parseAnswer } from '../whole-answer.ts';
import { ChunkReader } from './chunk.ts';

/** Reads the body of a 200. An answer without choices is a failure. */
export function readChatResponse(
  body: string,
  profile: ChatProfile,
  conversation: Conversation = NO_CONVERSATION,
): Answer | UpstreamFailure {
  const value = parseAnswer(body);
  if (typeof value === 'string') return malformed(value);
  const error = readErrorRecord(value, conversation.wrote);
  if (error !== undefined) return error;
  // The first choice is the answer, regardless of its index.
  const choice = toList(value['choices'])[0];
  if (!isObject(choice) || !hasMessage(choice)) {
    return malformed('an answer without a choice');
  }
  const fold = new Fold();
  const reader = new ChunkReader((event) => fold.push(event), profile, conversation);
  return reader.readWhole(value, choice, body) ?? reader.end() ?? fold.answer();
}

const EMPTY_ENDS: ReadonlySet<unknown> = new Set(['content_filter', 'length']);

/** Gemini leaves it out, or sends null, where its filter or its bound has left nothing. */
function hasMessage({ message, delta, text, finish_reason: reason }: JsonObject): boolean {
  if (isObject(message)) return true;
  const isLeftOut = (message ?? delta ?? text ?? null) === null;
  return isLeftOut && EMPTY_ENDS.has(readFinish(toText(reason)));
}
