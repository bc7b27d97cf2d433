// The two interfaces of this folder: a client format, which callers use, and an upstream dialect,
// which servers of models use. Both are synchronous push codecs without promises, clocks or I/O. A
// codec object serves one request or one stream.

import type { ClientFormatName } from '../core/admit.ts';
import type { GatewayError } from '../core/error.ts';
import type { UpstreamFailure } from '../core/failure.ts';
import type {
  Answer,
  GenerationEvent,
  GenerationRequest,
  Receipt,
  Tool,
  UsageReport,
} from '../core/generation.ts';

/** The metadata of an answer. */
export type AnswerHead = {
  /** The random part of the answer's id; each format adds its own prefix. */
  readonly id: string;
  readonly requestId: string;
  /** The requested slug, aliases resolved. */
  readonly model: string;
  readonly createdSeconds: number;
  /** Chat only: whether the last event carries usage. */
  readonly includeUsage: boolean;
  /**
   * Whether thinking is shown: false if the client turned it off, or the model does not offer it.
   */
  readonly showReasoning: boolean;
  /** Not chat: whether hidden thinking has a block with a signature and no text. */
  readonly marksThinking?: boolean;
  /** Not Messages: names of tools whose calls have text for input, extracted from `{"input": "…"}`. */
  readonly customTools?: readonly string[];
  /** Responses only: tools that have namespaces, with the caller's names. */
  readonly namespaced?: readonly Pick<Tool, 'name' | 'inNamespace'>[];
  /** Responses only: what the end of the answer repeats of the request. */
  readonly repeated?: GenerationRequest['repeated'];
};

/**
 * Encodes one stream. Every method returns the text to write, which may be empty. The order is
 * `start`, then `push` and `heartbeat` in any order, then exactly one of `finish` and `fail`. A
 * decoder's `finish` event is pushed like any other; the final events are built from the receipt.
 */
export type StreamEncoder = {
  readonly start: () => string;
  /**
   * Names the serving model, for a stream whose headers were sent before it was known. Called at
   * most once, between `start` and the first `push`. A format names it in its remaining events.
   */
  readonly servedBy: (model: string) => void;
  readonly push: (event: GenerationEvent) => string;
  /** A harmless text that keeps the connection alive while the upstream is silent. */
  readonly heartbeat: () => string;
  readonly finish: (receipt: Receipt) => string;
  /** The format's error event and end. `receipt` is the cost of the failed stream, if settled. */
  readonly fail: (error: GatewayError, receipt: Receipt | undefined) => string;
};

/** A parsed body: its value, and the text that it was parsed from. */
export type ParsedBody = {
  readonly value: unknown;
  readonly text: string;
  /** Of a text that is decoded whenever it is read. */
  readonly length?: number;
};

export type ClientFormat = {
  readonly name: ClientFormatName;
  /**
   * Whether an answer cut for lack of upstream capacity is reported as an answer, because the
   * format has a finish reason for it, or as an error.
   */
  readonly tellsExhaustion: boolean;
  /** Throws `GatewayError` (`invalid_request` with `param`). */
  readonly parse: (body: ParsedBody) => GenerationRequest;
  /** The JSON text of a whole answer. */
  readonly response: (head: AnswerHead, answer: Answer, receipt: Receipt) => string;
  readonly stream: (head: AnswerHead) => StreamEncoder;
  /** The JSON text of an error response. */
  readonly error: (error: GatewayError, requestId: string) => string;
};

/**
 * Decodes one upstream stream: takes bytes and emits events through its callback. Both methods
 * return the failure that ends the stream, if any; after that they must not be called. `end` marks
 * the end of the bytes, and fails without a finish reason. `finish` is the last event, with the
 * usage, if any, directly before it: a reader may stop there.
 */
export type StreamDecoder = {
  readonly feed: (bytes: Uint8Array) => UpstreamFailure | undefined;
  readonly end: () => UpstreamFailure | undefined;
  /** A finish reason has been read; nothing after it is content. */
  readonly isFinishing: () => boolean;
  /** The service tier that the answer has named so far; undefined for the ordinary one. */
  readonly serviceTier: () => string | undefined;
  /** What the upstream has reported so far: a prompt at the start, or a running total. */
  readonly usageSoFar: () => UsageReport | undefined;
  /** Whether an event has come: a comment or a ping does not say that generation began. */
  readonly hasBegun: () => boolean;
};

export type UpstreamCall = {
  /** The upstream's id in the catalog. Thinking that it signed is sent back only to it. */
  readonly upstream: string;
  /** The upstream's own name for the model. */
  readonly model: string;
  /** The bound on generated tokens that is sent to the upstream. */
  readonly maxOutputTokens: number;
  /**
   * Whether a stream is requested from the upstream, which may differ from the client's request.
   */
  readonly stream: boolean;
  /** Whether the model can reason; if not, effort is not sent. */
  readonly reasons: boolean;
  /**
   * Identifies the conversation for the upstream's prompt cache; says nothing else. Absent for
   * requests that belong to none.
   */
  readonly cacheKey?: string | undefined;
};

export type UpstreamDialect = {
  /** Path below the upstream's base URL. */
  readonly path: (call: UpstreamCall) => string;
  readonly headers: (apiKey: string) => Readonly<Record<string, string>>;
  /**
   * The JSON text to send, or the failure `unsupported` if the upstream's profile cannot express a
   * part of the request. Deterministic, because upstreams cache prompt prefixes.
   */
  readonly request: (request: GenerationRequest, call: UpstreamCall) => string | UpstreamFailure;
  /** Parses the body of a whole answer. */
  readonly response: (body: string) => Answer | UpstreamFailure;
  readonly stream: (onEvent: (event: GenerationEvent) => void) => StreamDecoder;
  /** Classifies a response whose status is not 2xx. */
  readonly failure: (status: number, body: string) => UpstreamFailure;
};
