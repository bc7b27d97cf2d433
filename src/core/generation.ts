// What a client asked for and what a model answered, in one vocabulary that belongs to neither
// wire format. `wire/` turns bytes into these types and back; everything else sees only these.

export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

export type JsonObject = { readonly [key: string]: JsonValue };

export type TextPart = { readonly kind: 'text'; readonly text: string };

/** `url` is an http(s) or data URL. It is handed to the upstream as it is and never fetched here. */
export type ImagePart = { readonly kind: 'image'; readonly url: string };

export type ContentPart = TextPart | ImagePart;

/**
 * One call of a tool by the model. `arguments` is the JSON text exactly as it was written: a round
 * trip through JavaScript objects would reorder integer-like keys and round large integers.
 */
export type ToolCall = { readonly id: string; readonly name: string; readonly arguments: string };

export type UserTurn = {
  readonly role: 'user';
  /** Who speaks, where several users do. */
  readonly name?: string;
  readonly parts: readonly ContentPart[];
};

/**
 * One block of thinking as the upstream that wrote it wants it back: with its own signature, or as
 * the sealed text that it shows nobody.
 */
export type ThinkingBlock =
  | { readonly kind: 'thinking'; readonly text: string; readonly signature: string }
  | { readonly kind: 'redacted'; readonly data: string };

/** Thinking that only the upstream of this id understands; any other would refuse its signatures. */
export type SignedThinking = {
  readonly upstream: string;
  readonly blocks: readonly ThinkingBlock[];
};

export type AssistantTurn = {
  readonly role: 'assistant';
  /** Which of several assistants said it. */
  readonly name?: string;
  /** The model's thinking, given back by the client or restored; empty when there was none. */
  readonly reasoning: string;
  /** The same thinking in its upstream's own form. No client sends it: it was kept here. */
  readonly signed?: SignedThinking;
  readonly text: string;
  readonly toolCalls: readonly ToolCall[];
};

export type ToolTurn = {
  readonly role: 'tool';
  readonly toolCallId: string;
  readonly text: string;
  readonly isError: boolean;
};

/** System text in the middle of a conversation. Never first, and never between calls and results. */
export type SystemTurn = { readonly role: 'system'; readonly text: string };

export type Turn = UserTurn | AssistantTurn | ToolTurn | SystemTurn;

export type Tool = {
  readonly name: string;
  readonly description?: string;
  /** A JSON schema; never evaluated here. */
  readonly parameters: JsonObject;
};

export type ToolChoice =
  | { readonly kind: 'auto' | 'none' | 'required' }
  | { readonly kind: 'tool'; readonly name: string };

/** A JSON schema for the answer, as the caller wrote it; never evaluated here. */
export type AnswerSchema = {
  /** 1 to 64 letters, digits, `_` and `-`. */
  readonly name: string;
  readonly description?: string;
  readonly schema: JsonObject;
  /** The caller's word on whether an upstream must enforce the schema or may only try. */
  readonly strict?: boolean;
};

/** How much a reasoning model should think; `on` is the model's own default depth. */
export type Reasoning = 'off' | 'on' | 'low' | 'high' | 'max';

export type GenerationRequest = {
  /** A slug or an alias, as the client wrote it. */
  readonly model: string;
  /** The system prompt; empty when there is none. */
  readonly system: string;
  readonly turns: readonly Turn[];
  /** The caller's own bound on generated tokens, reasoning included; absent: the model's maximum. */
  readonly maxOutputTokens?: number;
  readonly temperature?: number;
  readonly topP?: number;
  readonly frequencyPenalty?: number;
  readonly presencePenalty?: number;
  readonly stop: readonly string[];
  readonly tools: readonly Tool[];
  readonly toolChoice?: ToolChoice;
  /** `false` asks the model for one tool call at a time; a hint, never enforced. */
  readonly parallelToolCalls?: boolean;
  readonly reasoning?: Reasoning;
  /** The answer must be one JSON object. */
  readonly json: boolean;
  /** The schema that this JSON must match; only beside `json`. */
  readonly schema?: AnswerSchema;
  readonly stream: boolean;
  /** Whether the stream's last event carries usage (chat completions only; true by default). */
  readonly includeUsage: boolean;
  /** The caller's own end-user id, for usage records only. */
  readonly endUser?: string;
};

export type FinishReason =
  | 'stop'
  | 'length'
  | 'tool_calls'
  | 'content_filter'
  | 'insufficient_system_resource';

/**
 * Token counts of one answer. `inputTokens` is the whole prompt: what was read from the upstream's
 * cache and what was written to it are disjoint parts of it. `outputTokens` includes
 * `reasoningTokens`. Always `cachedInputTokens + cacheWriteTokens <= inputTokens` and
 * `reasoningTokens <= outputTokens`. `recovered` counts are what was known of a request when the
 * gateway died in the middle of it.
 */
export type Usage = {
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly cacheWriteTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
  readonly basis: 'reported' | 'estimated' | 'recovered';
  /** What the operator should know of the upstream's report, whether it is charged or not. */
  readonly doubt?: UsageDoubt;
};

/**
 * malformed      a count is missing, or is no whole number between 0 and 10⁹
 * inconsistent   the counts contradict each other or their own total
 * implausible    more than the model could have read, or was allowed to write
 * zero           nothing was read or written, of an answer that has content: charged as it is
 *
 * A report that is malformed or inconsistent is not charged; our own count is. Of an implausible one
 * the larger of our own count and the bound of the request is.
 */
export type UsageDoubt = 'malformed' | 'inconsistent' | 'implausible' | 'zero';

/** What an upstream reported: counts that hold together, or why they do not. */
export type UsageReport =
  | Usage
  | { readonly basis: 'rejected'; readonly doubt: 'malformed' | 'inconsistent' };

/**
 * The neutral stream. Block starts and stops are not events: only the Messages format has them,
 * and its encoder derives them from a change of kind. Failure is not an event: it ends the stream.
 * `tool-start` comes once per `index` (0, 1, 2, … without gaps), before that index's deltas.
 */
export type GenerationEvent =
  | { readonly kind: 'reasoning-delta'; readonly text: string }
  | { readonly kind: 'text-delta'; readonly text: string }
  | {
      readonly kind: 'tool-start';
      readonly index: number;
      readonly id: string;
      readonly name: string;
    }
  | { readonly kind: 'tool-delta'; readonly index: number; readonly json: string }
  | {
      readonly kind: 'usage';
      readonly usage: UsageReport;
      /** The upstream's own counts as compact JSON, numbers alone, for the operator's records. */
      readonly raw?: string;
    }
  | {
      readonly kind: 'finish';
      readonly reason: FinishReason;
      /** The answer's thinking as its upstream signed it, where it did. */
      readonly thinking?: readonly ThinkingBlock[];
    };

/**
 * A whole answer: what a finished stream folds into. `usage` is absent when none was reported;
 * `rawUsage` is the `raw` of its event.
 */
export type Answer = {
  readonly reasoning: string;
  readonly text: string;
  readonly toolCalls: readonly ToolCall[];
  readonly finish: FinishReason;
  readonly usage?: UsageReport;
  readonly rawUsage?: string;
  readonly thinking?: readonly ThinkingBlock[];
};

/** How a dispatched request ended. Every request has exactly one. */
export type Outcome =
  | 'completed'
  | 'stopped_balance'
  | 'client_cancelled'
  | 'upstream_failed'
  | 'gateway_failed';

/** What was debited and what is left, as both formats print it: decimal strings, never floats. */
export type Receipt = {
  readonly modelServed: string;
  readonly fallbackUsed: boolean;
  readonly usage: Usage;
  readonly tokensDebited: string;
  readonly costUsd: string;
  readonly balanceTokens: string;
  readonly outcome: Outcome;
};
