// Every bound of what an upstream may send. An upstream is configured by the operator, but it may
// be broken or taken over: nothing it sends may grow our memory without end.

/** One line of an event stream, in bytes. */
export const LINE_BYTES_MAX = 1_048_576;

/** The joined `data` of one event, in UTF-16 units. */
export const EVENT_LENGTH_MAX = 1_048_576;

/** The body of a whole answer, in bytes. Whoever reads the body stops here. */
export const BODY_BYTES_MAX = 16_777_216;

/** How much of an error answer is looked at, in UTF-16 units. */
export const ERROR_LENGTH_MAX = 65_536;

export const TOOL_CALLS_MAX = 128;

/** A longer tool-call id is replaced by one of ours; the client only ever sees that one. */
export const TOOL_CALL_ID_LENGTH_MAX = 256;

/** Tool arguments kept back until the call's name is known, all calls together, in UTF-16 units. */
export const HELD_ARGUMENTS_LENGTH_MAX = 1_048_576;

/** Levels of tool arguments that came as an object in place of JSON text. */
export const ARGUMENTS_DEPTH_MAX = 100;

/** A count of tokens above this is a mistake, not a count. */
export const TOKEN_COUNT_MAX = 1_000_000_000;
