// Requests and answers in one vocabulary, independent of wire formats. `wire/` translates bytes.

import type { Citation } from './citation.ts';
import type { Estimate } from './usage-estimate.ts';

export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

export type JsonObject = { readonly [key: string]: JsonValue };

export type TextPart = { readonly kind: 'text'; readonly text: string };

/** `url` is an http(s) or data URL, passed to the upstream unchanged and never fetched here. */
export type ImagePart = { readonly kind: 'image'; readonly url: string };

export type ContentPart = TextPart | ImagePart;

/**
 * One tool call by the model. `arguments` is the original JSON text: parsing and printing it would
 * reorder integer-like keys and round large integers.
 */
export type ToolCall = { readonly id: string; readonly name: string; readonly arguments: string };

export type UserTurn = {
  readonly role: 'user';
  /** The speaker, if there are several users. */
  readonly name?: string;
  readonly parts: readonly ContentPart[];
};

/**
 * One item of an answer's thinking in its upstream's own form, in the order of the answer. The
 * list of a turn has marks between its blocks where text or calls stand between them, and ends
 * with the last block that has to come back: the rest of the text and of the calls follows it.
 *
 * thinking   Messages: text with a signature
 * redacted   Messages: encrypted
 * native     an item as JSON text: a reasoning item of Responses, an entry of `reasoning_details`
 * text       a mark: this many UTF-16 units of the turn's text, with the phase of the message
 * call       a mark: the next call of the turn, with the signature that it carried as JSON text
 */
export type ThinkingBlock =
  | { readonly kind: 'thinking'; readonly text: string; readonly signature: string }
  | { readonly kind: 'redacted'; readonly data: string }
  | { readonly kind: 'native'; readonly json: string }
  | { readonly kind: 'text'; readonly length: number; readonly phase?: string }
  | { readonly kind: 'call'; readonly signature?: string };

/** Thinking that only this upstream and this model of it accept; any other would refuse it. */
export type SignedThinking = {
  readonly upstream: string;
  /** Absent in thinking that was kept before models were compared. */
  readonly model?: string;
  /** Whether earlier turns have to be sent without thinking, which the upstream has refused. */
  readonly restarts?: true;
  readonly blocks: readonly ThinkingBlock[];
};

export type AssistantTurn = {
  readonly role: 'assistant';
  /** The speaker, if there are several assistants. */
  readonly name?: string;
  /** The model's thinking, returned by the client or restored; empty if there was none. */
  readonly reasoning: string;
  /** `true` if thinking may have followed the text, which the client's format does not show. */
  readonly lacksLate?: boolean;
  /** The same thinking in its upstream's own form. Clients do not send it: it is stored here. */
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

/** System text in a conversation. Never first, and never between calls and results. */
export type SystemTurn = { readonly role: 'system'; readonly text: string };

export type Turn = UserTurn | AssistantTurn | ToolTurn | SystemTurn;

/**
 * A function that the client runs. `custom` and `typed` are declarations that some upstreams accept
 * as they are; for all others, `description` and `parameters` describe the same tool as a function.
 */
export type Tool = {
  readonly name: string;
  readonly description?: string;
  /** A JSON schema; never evaluated here. */
  readonly parameters: JsonObject;
  readonly custom?: CustomTool;
  /** The caller's declaration of a tool that Anthropic defines, such as `bash_20250124`. */
  readonly typed?: JsonObject;
  /** The caller's words for a tool of a namespace, which `name` joins. */
  readonly inNamespace?: { readonly namespace: string; readonly name: string };
};

/**
 * A tool of OpenAI's formats whose input is text. The arguments of its calls are `{"input": "…"}`, in
 * the history and in answers of every dialect; the client's encoder extracts the text.
 */
export type CustomTool = {
  /** The caller's own; that of the tool adds the grammar. */
  readonly description?: string;
  /** What the input has to match. */
  readonly grammar?: { readonly syntax: 'lark' | 'regex'; readonly definition: string };
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
  /** Whether the caller requires the upstream to enforce the schema. */
  readonly strict?: boolean;
};

/** How much a reasoning model should think; `on` is the model's default depth. */
export type Reasoning = 'off' | 'on' | 'low' | 'high' | 'max';

/** The caller's bound on generated tokens, reasoning included. A refusal names its field. */
export type OutputLimit = {
  readonly tokens: number;
  readonly field: 'max_tokens' | 'max_completion_tokens' | 'max_output_tokens';
};

export type GenerationRequest = {
  /** A slug or an alias, as the client wrote it. */
  readonly model: string;
  /** The system prompt; may be empty. */
  readonly system: string;
  readonly turns: readonly Turn[];
  /** Defaults to the model's maximum. */
  readonly maxOutputTokens?: OutputLimit;
  readonly temperature?: number;
  readonly topP?: number;
  readonly frequencyPenalty?: number;
  readonly presencePenalty?: number;
  readonly stop: readonly string[];
  readonly tools: readonly Tool[];
  readonly toolChoice?: ToolChoice;
  /** `false` requests one tool call at a time: a hint, not enforced. */
  readonly parallelToolCalls?: boolean;
  readonly reasoning?: Reasoning;
  /** `true` requests an answer without the text of its thinking, which is charged all the same. */
  readonly hidesThinking?: boolean;
  /** How long the answer should be; a hint. */
  readonly verbosity?: 'low' | 'medium' | 'high';
  /**
   * The caller's key for requests that share a prompt prefix. Never sent as it is: upstreams see all
   * accounts as one, so another account's key must not lead to the same cache.
   */
  readonly promptCacheKey?: string;
  /** The answer must be one JSON object. */
  readonly json: boolean;
  /** The schema for this JSON; set only with `json`. */
  readonly schema?: AnswerSchema;
  /** `true` if the caller has put the schema into the prompt, where it is not written again. */
  readonly saysSchema?: boolean;
  readonly stream: boolean;
  /** Whether the stream's last event carries usage (chat completions only; true by default). */
  readonly includeUsage: boolean;
  /** The caller's own end-user id, for usage records only. */
  readonly endUser?: string;
  /** Responses only: the members of the body that the answer repeats, as the client wrote them. */
  readonly repeated?: JsonObject;
};

export type FinishReason =
  | 'stop'
  | 'length'
  | 'tool_calls'
  | 'content_filter'
  | 'insufficient_system_resource';

/** Where counts come from. The books store positions in this list: append new ones at the end. */
export const BASES = ['reported', 'estimated', 'recovered'] as const;

/**
 * Token counts of one answer. `inputTokens` is the whole prompt; cache reads and writes are disjoint
 * parts of it. `outputTokens` includes `reasoningTokens`. `recovered` counts are those known when the
 * gateway crashed during the request. Optional counts are absent rather than 0.
 */
export type Usage = {
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly cacheWriteTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
  readonly basis: (typeof BASES)[number];
  /** The part of `cachedInputTokens` that an explicit mark made; absent: none. */
  readonly cachedExplicitTokens?: number;
  /** The part of `cacheWriteTokens` that lives for an hour or longer; absent: none. */
  readonly cacheWriteLongTokens?: number;
  /** The service tier or speed that the answer names, a `SERVICE_TIER`. Absent: the ordinary one. */
  readonly serviceTier?: string;
  /** How an estimated usage was made, where more than our count of what was read is in it. */
  readonly estimate?: Estimate;
  /** The operator's warning about the upstream's report, whether or not it is charged. */
  readonly doubt?: UsageDoubt;
};

/**
 * malformed      a count is missing, or is no whole number between 0 and 10⁹
 * inconsistent   the counts contradict each other or their own total
 * implausible    more than the model could have read, or was allowed to write
 * zero           zero for an answer that has content: charged as reported
 * service_tier   a service tier without a factor in the price: charged as the ordinary tier
 *
 * For a malformed or inconsistent report, our own count is charged. For an implausible one, its
 * bound. Append new ones at the end, as above.
 */
export const DOUBTS = ['malformed', 'inconsistent', 'implausible', 'zero', 'service_tier'] as const;
export type UsageDoubt = (typeof DOUBTS)[number];

/** An upstream's report: consistent counts, or the reason why it was rejected. */
export type UsageReport =
  | Usage
  | { readonly basis: 'rejected'; readonly doubt: 'malformed' | 'inconsistent' };

/**
 * The neutral stream. Blocks have no starts and stops: encoders derive them from a change of kind. A
 * failure ends the stream. `tool-start` occurs once per `index` (0, 1, … without gaps), before deltas.
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
  | { readonly kind: 'annotation'; readonly citation: Citation }
  | {
      readonly kind: 'usage';
      readonly usage: UsageReport;
      /** The upstream's counts as compact JSON, numbers only, for the operator's records. */
      readonly raw?: string;
    }
  | {
      readonly kind: 'finish';
      readonly reason: FinishReason;
      /** The answer's thinking in its upstream's signed form, if it has one. */
      readonly thinking?: readonly ThinkingBlock[];
      readonly unknown?: UnknownWord;
    };

/** A finished stream, folded. `usage` is absent if none was reported; `rawUsage` is its `raw`. */
export type Answer = {
  readonly reasoning: string;
  /** The length of the part of `reasoning` that precedes the text; absent: all of it does. */
  readonly leadingReasoning?: number;
  readonly text: string;
  readonly annotations?: readonly Citation[];
  readonly toolCalls: readonly ToolCall[];
  readonly finish: FinishReason;
  readonly usage?: UsageReport;
  readonly rawUsage?: string;
  readonly thinking?: readonly ThinkingBlock[];
  readonly unknown?: UnknownWord;
};

/** What no reader knows: a finish reason counts as a stop, events are skipped. */
export type UnknownWord = { readonly what: 'finish_reason' | 'event'; readonly word: string };

/** How a dispatched request ended; every one has exactly one. Append new ones at the end, as above. */
export const OUTCOMES = [
  'completed',
  'stopped_balance',
  'client_cancelled',
  'upstream_failed',
  'gateway_failed',
] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** The amount debited and the remaining balance, as all formats print them: decimal strings. */
export type Receipt = {
  readonly modelServed: string;
  readonly fallbackUsed: boolean;
  readonly usage: Usage;
  readonly tokensDebited: string;
  readonly costUsd: string;
  readonly balanceTokens: string;
  readonly outcome: Outcome;
};
