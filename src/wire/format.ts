// The two contracts of this folder. A client format is what callers speak; an upstream dialect is
// what the places that run models speak. Both sides are synchronous push codecs: no promise, no
// clock, no I/O. A codec object serves one request or one stream and is then thrown away.

import type { GatewayError } from '../core/error.ts';
import type { UpstreamFailure } from '../core/failure.ts';
import type { Answer, GenerationEvent, GenerationRequest, Receipt } from '../core/generation.ts';

/** What an answer's envelope says beside its content. */
export type AnswerHead = {
  /** Random part of the answer's id; each format puts its own prefix before it. */
  readonly id: string;
  readonly requestId: string;
  /** The slug that was asked for, aliases resolved. */
  readonly model: string;
  readonly createdSeconds: number;
  /** Chat only: whether the last event carries usage. */
  readonly includeUsage: boolean;
  /** Whether thinking is shown: not where the client turned it off, or the model has none to sell. */
  readonly showReasoning: boolean;
};

/**
 * Encodes one stream. Every method returns the text to write, which may be empty. The order is
 * `start`, then `push` and `heartbeat` in any order, then exactly one of `finish` and `fail`.
 * The `finish` event of a decoder is pushed like any other; the last words come from the receipt.
 */
export type StreamEncoder = {
  readonly start: () => string;
  /**
   * Names the model that serves, for a stream whose headers left before it was known. Called at most
   * once, between `start` and the first `push`. A format names it in what it has left to say.
   */
  readonly servedBy: (model: string) => void;
  readonly push: (event: GenerationEvent) => string;
  /** Something harmless that keeps the connection alive while the upstream is silent. */
  readonly heartbeat: () => string;
  readonly finish: (receipt: Receipt) => string;
  /** The format's error event and end. `receipt` is what the failed stream cost, if settled. */
  readonly fail: (error: GatewayError, receipt: Receipt | undefined) => string;
};

/** A body that has been read: its parsed value and the text that it was parsed from. */
export type ParsedBody = { readonly value: unknown; readonly text: string };

export type ClientFormat = {
  readonly name: 'chat' | 'messages';
  /**
   * Whether an answer that its upstream cut for lack of capacity is told as an answer, because the
   * format has a reason for it, or as an error.
   */
  readonly tellsExhaustion: boolean;
  /** Throws `GatewayError` (`invalid_request` with `param`). */
  readonly parse: (body: ParsedBody) => GenerationRequest;
  /** The JSON text of a whole answer. */
  readonly response: (head: AnswerHead, answer: Answer, receipt: Receipt) => string;
  readonly stream: (head: AnswerHead) => StreamEncoder;
  /** The JSON text of an error answer. */
  readonly error: (error: GatewayError, requestId: string) => string;
};

/**
 * Decodes one upstream stream, bytes in, events out through the callback it was made with. Both
 * methods return the failure that ends the stream, if there is one; after that, no more calls.
 * `end` says that the bytes are over, and fails when no finish reason had come. `finish` is the
 * last event, with the usage, if any, right before it: a reader may stop there.
 */
export type StreamDecoder = {
  readonly feed: (bytes: Uint8Array) => UpstreamFailure | undefined;
  readonly end: () => UpstreamFailure | undefined;
  /** A finish reason has been read: what may still come is no content. */
  readonly isFinishing: () => boolean;
};

export type UpstreamCall = {
  /** The upstream's id in the catalog: thinking that it signed goes back to it alone. */
  readonly upstream: string;
  /** The upstream's own name for the model. */
  readonly model: string;
  /** What the upstream is told as the bound on generated tokens. */
  readonly maxOutputTokens: number;
  /** Whether the upstream is asked to stream, which is not always what the client asked. */
  readonly stream: boolean;
  /** Whether the model can reason; where it cannot, effort is not sent. */
  readonly reasons: boolean;
};

export type UpstreamDialect = {
  /** Path below the upstream's base URL. */
  readonly path: string;
  readonly headers: (apiKey: string) => Readonly<Record<string, string>>;
  /**
   * The JSON text to send, or the failure `unsupported` where the upstream's profile rules a part
   * of the request out. The same request always gives the same bytes (prefix caches).
   */
  readonly request: (request: GenerationRequest, call: UpstreamCall) => string | UpstreamFailure;
  /** Reads a whole answer's body. */
  readonly response: (body: string) => Answer | UpstreamFailure;
  readonly stream: (onEvent: (event: GenerationEvent) => void) => StreamDecoder;
  /** Classifies an answer whose status is not 2xx. */
  readonly failure: (status: number, body: string) => UpstreamFailure;
};
