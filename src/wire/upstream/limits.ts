// Every bound of what an upstream may send. An upstream is configured by the operator, but it may
// be broken or taken over: nothing it sends may grow our memory without end.

import type { SseLimits } from '../sse.ts';

/** The bounds of an event stream of any dialect. */
export const STREAM_LIMITS: SseLimits = {
  // The longest single events that servers send: a whole answer, or a call with a file in it.
  lineBytes: 8_388_608,
  eventLength: 8_388_608,
  // The longest answers that models give, some 384,000 tokens, at 1,398 bytes for each: a chunk
  // that also carries token ids and log-probabilities has about 1,000.
  streamBytes: 536_870_912,
};

/**
 * Bytes of a stream that make no event, such as comments and blank lines, before and between those
 * that do: some servers send a line every second while a request waits. Whoever reads stops here.
 */
export const SILENT_BYTES_MAX = 16_777_216;

/** The body of a whole answer, in bytes. Whoever reads the body stops here. */
export const ANSWER_BYTES_MAX = 16_777_216;

/** How much of an error answer is looked at, in UTF-16 units. */
export const ERROR_LENGTH_MAX = 65_536;

export const TOOL_CALLS_MAX = 128;

/** A longer tool-call id is replaced by one of ours; the client only ever sees that one. */
export const TOOL_CALL_ID_LENGTH_MAX = 256;

/** A tool call's name, or an id of whatever form: both are kept for as long as the answer lasts. */
export const TOOL_LABEL_LENGTH_MAX = 65_536;

/** Tool arguments kept back until the call's name is known, all calls together, in UTF-16 units. */
export const HELD_ARGUMENTS_LENGTH_MAX = 1_048_576;

/** Tool arguments kept to compare them with the next piece that repeats them, all calls together. */
export const KNOWN_ARGUMENTS_LENGTH_MAX = 1_048_576;

/** Levels of tool arguments that came as an object in place of JSON text. */
export const ARGUMENTS_DEPTH_MAX = 100;

/** A count of tokens above this is a mistake, not a count. */
export const TOKEN_COUNT_MAX = 1_000_000_000;

/** Blocks of a Messages answer that have begun and not ended. */
export const OPEN_BLOCKS_MAX = 1_024;

/** Thinking that is kept with its signatures, in UTF-16 units: some 500,000 tokens of it. */
export const SIGNED_THINKING_LENGTH_MAX = 2_097_152;
