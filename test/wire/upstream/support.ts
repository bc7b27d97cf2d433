// Runs the chat dialect over bytes and collects the events. Shared by the tests of this folder.

import type { UpstreamFailure } from '../../../src/core/failure.ts';
import type { GenerationEvent } from '../../../src/core/generation.ts';
import { type ChatProfile, DEFAULT_PROFILE } from '../../../src/core/profile.ts';
import type { UpstreamDialect } from '../../../src/wire/format.ts';
import { type Conversation, NO_CONVERSATION } from '../../../src/wire/upstream/call-names.ts';
import type { PlainDelta } from '../../../src/wire/upstream/chat/delta.ts';
import { createChatStream } from '../../../src/wire/upstream/chat/stream.ts';
import type { FrameLane } from '../../../src/wire/upstream/frame.ts';
import { LEFT_OUT } from '../../../src/wire/upstream/limits.ts';

export type Decoded = {
  readonly events: readonly GenerationEvent[];
  readonly failure: UpstreamFailure | undefined;
};

/** The conversation whose answers the recordings are. */
export const AFTER_ONE_TURN: Conversation = { ...NO_CONVERSATION, turns: 1 };

/** Decodes a stream whose bytes arrive in these reads. */
export function decodeReads(
  reads: readonly Uint8Array[],
  lane?: FrameLane<PlainDelta>,
  profile: ChatProfile = DEFAULT_PROFILE.chat,
): Decoded {
  return decode(reads, (onEvent) => createChatStream(onEvent, profile, AFTER_ONE_TURN, lane));
}

/** Decodes a stream with a codec that has written its request already. */
export function decodeWith(dialect: UpstreamDialect, text: string): Decoded {
  return decode([new TextEncoder().encode(text)], (onEvent) => dialect.stream(onEvent));
}

export function decode(reads: readonly Uint8Array[], open: UpstreamDialect['stream']): Decoded {
  const events: GenerationEvent[] = [];
  const decoder = open((event) => events.push(event));
  for (const read of reads) {
    const failure = decoder.feed(read);
    if (failure !== undefined) return { events, failure };
  }
  return { events, failure: decoder.end() };
}

/** One JSON line an event that is passed on, and one for the failure that ended the stream. */
export function toLines({ events, failure }: Decoded): string[] {
  const passed = events.filter((event) => !isLeftOut(event));
  const lines = passed.map((event) => JSON.stringify(event));
  return failure === undefined
    ? lines
    : [...lines, JSON.stringify({ failure: classified(failure) })];
}

export function isLeftOut(event: GenerationEvent): boolean {
  return event.kind === 'tool-delta' && event.index === LEFT_OUT;
}

/** A failure without what the upstream said, whose text is nowhere else; an answer as it is. */
export function classified<Result extends object>(result: Result): Omit<Result, 'said'> {
  if (!('said' in result)) return result;
  const { said: _, ...rest } = result;
  return rest as Omit<Result, 'said'>;
}

const PROFILE_LINE = /^: profile (.*)\n/;

/**
 * The profile that a recording is read with: the default one, with the fields that a first line such
 * as `: profile {"thinkTags":"split"}` names. In an event stream that line is a comment.
 */
export function profileOf(bytes: Uint8Array): ChatProfile {
  const fields = PROFILE_LINE.exec(new TextDecoder().decode(bytes))?.[1];
  return { ...DEFAULT_PROFILE.chat, ...JSON.parse(fields ?? '{}') };
}

/** A recorded body without the line that names its profile. */
export function bodyOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes).replace(PROFILE_LINE, '');
}

export function splitAt(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const borders = [0, ...[...cuts].sort((a, b) => a - b), bytes.length];
  return borders.slice(1).map((border, index) => bytes.subarray(borders[index], border));
}
