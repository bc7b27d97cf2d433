// All limits on what an upstream may send. The operator configures upstreams, but one may be broken
// or compromised: its output must not grow our memory without bound.

import { JSON_WEIGHT_MAX, type JsonWeight, weighJson } from '../../core/json-weight.ts';
import type { SseLimits } from '../sse.ts';

/** The limits of an event stream of any dialect. */
export const STREAM_LIMITS: SseLimits = {
  // The longest single events that servers send: a whole answer, or a call with a file in it.
  lineBytes: 8_388_608,
  eventLength: 8_388_608,
  // The longest answers, about 384,000 tokens, at 1,398 bytes each: a chunk with token ids and
  // log-probabilities has about 1,000.
  streamBytes: 536_870_912,
};

/**
 * Bytes of a stream without an event, such as comments and blank lines, in total: some servers send
 * a line every second while a request waits. The reader enforces this limit.
 */
export const SILENT_BYTES_MAX = 16_777_216;

/** The body of a whole answer, in bytes. The reader enforces this limit. */
export const ANSWER_BYTES_MAX = 16_777_216;

/** Of an event or a whole answer. An event may repeat the tools and the schema of its request. */
const ANSWER_WEIGHT_MAX: JsonWeight = { ...JSON_WEIGHT_MAX, depth: 1_000 };

/** A shorter text has too few values to matter. */
const WEIGHED_FROM_LENGTH = 32_768;

/** Whether the parser would take too long for a text of an upstream. */
export function isTooHeavy(text: string): boolean {
  if (text.length < WEIGHED_FROM_LENGTH) return false;
  return weighJson(Buffer.from(text), ANSWER_WEIGHT_MAX).excess !== undefined;
}

/** One is requested, and some servers send some more. */
export const CHOICES_MAX = 128;

/** Of one event: events without a blank line between them. */
export const EVENT_LINES_MAX = 1_024;

/** How much of an error response is examined, in UTF-16 units. */
export const ERROR_LENGTH_MAX = 65_536;

/**
 * Far more than a model makes. Further calls are left out, and the answer ends with `length`: if it
 * failed, a caller could ask for so many, and a broken answer costs less than its upstream did.
 */
export const TOOL_CALLS_MAX = 1_024;

/**
 * The index of every `tool-delta` that is paid for and not passed on: of a call above the limit, or
 * of what a model wrote behind the arguments of a call.
 */
export const LEFT_OUT = Infinity;

/** A longer tool-call id is replaced by our own, which is the only one that clients see. */
export const TOOL_CALL_ID_LENGTH_MAX = 256;

/** A tool call's name or raw id: both are kept until the answer ends. */
export const TOOL_LABEL_LENGTH_MAX = 65_536;

/** The names and raw ids of all calls together, in UTF-16 units. Some ids contain thinking. */
export const TOOL_LABELS_LENGTH_MAX = 4_194_304;

/** Arguments held until a call's name is known, for all calls together, in UTF-16 units. */
export const HELD_LENGTH_MAX = 1_048_576;

/** Tool arguments kept for comparison with repeating pieces, for all calls together. */
export const KNOWN_ARGUMENTS_LENGTH_MAX = 1_048_576;

/** Nesting of tool arguments that arrive as an object instead of JSON text. */
export const ARGUMENTS_DEPTH_MAX = 100;

/** A token count above this is an error. */
export const TOKEN_COUNT_MAX = 1_000_000_000;

/** Blocks of a Messages answer that have started and not ended. */
export const OPEN_BLOCKS_MAX = 1_024;

/** The annotations of an answer, as JSON text in UTF-16 units. Further ones are left out. */
export const ANNOTATIONS_LENGTH_MAX = 65_536;

/** Signed thinking that is kept, in UTF-16 units: about 500,000 tokens. */
export const SIGNED_THINKING_LENGTH_MAX = 2_097_152;
