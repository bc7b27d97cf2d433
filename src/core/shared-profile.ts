// The fields of every dialect's profiles.

import type { JsonObject } from './generation.ts';

/** The depths of thinking that a request can select. */
export type Depth = 'low' | 'high' | 'max';

export type EffortWords = Readonly<Record<Depth | 'off', string>>;

/**
 * How an upstream counts images. `tiles`: OpenAI's for most models. `patches`: OpenAI's for its
 * mini and nano models. `area`: Anthropic's. `large_area`: Anthropic's since Opus 4.7.
 */
export type ImageFormula = 'tiles' | 'patches' | 'area' | 'large_area';

export type SharedProfile = {
  /** System text in the middle of a conversation: kept in place, or folded into its neighbour. */
  readonly systemInMiddle: 'fold' | 'keep';
  /** Stop sequences accepted per request; the gateway cuts the answer at any others itself. */
  readonly stopMax: number;
  /** Whether reasoning models are sent stop sequences; some vendors' models refuse them. */
  readonly stopWhenReasoning: 'send' | 'hold';
  /**
   * Whether blank stop sequences are sent or, if the server refuses them, handled by the gateway.
   */
  readonly blankStops: 'send' | 'hold';
  /** Which tool-call ids are accepted; others are rewritten in both the call and its result. */
  readonly toolIds: 'any' | 'word' | 'nine';
  /** Whether images may be URLs, or have to be data URLs. */
  readonly imageUrls: 'any' | 'data';
  /** How the server counts images in tokens. */
  readonly imageTokens: ImageFormula;
  /**
   * Whether an answer shows all of the model's thinking (`all`), or may hide or summarize thinking
   * that is charged (`part`).
   */
  readonly thinkingShown: 'all' | 'part';
  /**
   * How thinking is turned off. `lowest`: not at all, so the model's lowest effort is sent instead.
   * `between_tools`: by that type of Anthropic's, the least thinking of some of its models.
   */
  readonly thinkingOff: 'send' | 'lowest' | 'between_tools';
  /** The server's word for each depth and for off; an empty one is not sent. */
  readonly effortWords: EffortWords;
  /**
   * Whether a key of the conversation is sent, by which the vendor routes the requests of one
   * prompt prefix to one cache.
   */
  readonly cacheKey: 'send' | 'omit';
  /** Whether the hint to make one call at a time may be sent. */
  readonly parallelToolCalls: 'send' | 'omit';
  /** The text of an empty tool result; some servers refuse an empty one. */
  readonly emptyToolResult: string;
  /**
   * How a JSON schema for the answer is sent. `prompt`: in the system prompt. `send`: by the
   * server's switch, which also shows it to the model. `both`: the server enforces the schema, but
   * its models see only the prompt.
   */
  readonly jsonSchema: 'prompt' | 'send' | 'both';
  /**
   * Cache writes that the server charges and does not report, of prompts of at least 1,024 tokens.
   * `count`: what was not read from the cache counts as written.
   */
  readonly unreportedCacheWrites: 'count' | 'ignore';
  /** Members added to every request, such as routing preferences. The request's own members win. */
  readonly extraBody: JsonObject;
};
