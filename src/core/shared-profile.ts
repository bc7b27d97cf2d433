// The fields of every dialect's profiles.

import type { JsonObject } from './generation.ts';

/** The depths of thinking that a request can select. */
export type Depth = 'low' | 'high' | 'max';

export type EffortWords = Readonly<Record<Depth | 'off', string>>;

/** Fields that have one of a few words. The catalog's schemas list the same words. */
export type Chosen<Choices extends Readonly<Record<string, readonly string[]>>> = {
  readonly [Field in keyof Choices]: Choices[Field][number];
};

export const SHARED_CHOICES = {
  /** System text in the middle of a conversation: kept in place, or folded into its neighbour. */
  systemInMiddle: ['fold', 'keep'],
  /** Whether reasoning models are sent stop sequences; some vendors' models refuse them. */
  stopWhenReasoning: ['send', 'hold'],
  /**
   * Whether blank stop sequences are sent or, if the server refuses them, handled by the gateway.
   */
  blankStops: ['send', 'hold'],
  /** Which tool-call ids are accepted; others are rewritten in both the call and its result. */
  toolIds: ['any', 'word', 'nine'],
  /**
   * Which images may be addresses, which the server fetches; others have to be data. `public`: any, if
   * the server's own address is public, so that no customer reaches what is beside it.
   */
  imageUrls: ['public', 'any', 'data'],
  /**
   * How the server counts images in tokens. `tiles`: OpenAI's for most models. `patches`: OpenAI's
   * for its mini and nano models. `area`: Anthropic's. `large_area`: Anthropic's since Opus 4.7.
   */
  imageTokens: ['tiles', 'patches', 'area', 'large_area'],
  /**
   * Whether an answer shows all of the model's thinking (`all`), or may hide or summarize thinking
   * that is charged (`part`).
   */
  thinkingShown: ['part', 'all'],
  /**
   * Whether closing the connection is known to stop the generation and its bill: by the guides of
   * OpenAI, Anthropic, Google, xAI, DeepSeek and Moonshot, and by servers that operators run
   * themselves (2026-11-28). Where it is not (`unknown`: some hosts behind OpenRouter, unnamed
   * servers), an answer that may hide thinking is read to its end.
   */
  closing: ['stops', 'unknown'],
  /**
   * How thinking is turned off. `lowest`: not at all, so the model's lowest effort is sent instead.
   * `between_tools`: by that type of Anthropic's, the least thinking of some of its models.
   */
  thinkingOff: ['send', 'lowest', 'between_tools'],
  /**
   * Whether a key of the conversation is sent, by which the vendor routes the requests of one
   * prompt prefix to one cache.
   */
  cacheKey: ['send', 'omit'],
  /** Whether the hint to make one call at a time may be sent. */
  parallelToolCalls: ['send', 'omit'],
  /**
   * How a JSON schema for the answer is sent. `prompt`: in the system prompt. `send`: by the
   * server's switch, which also shows it to the model. `both`: the server enforces the schema, but
   * its models see only the prompt.
   */
  jsonSchema: ['prompt', 'send', 'both'],
  /**
   * Cache writes that the server charges and does not report, of prompts of at least 1,024 tokens.
   * `count`: what was not read from the cache counts as written.
   */
  unreportedCacheWrites: ['count', 'ignore'],
} as const;

export type SharedProfile = Chosen<typeof SHARED_CHOICES> & {
  /** Stop sequences accepted per request; the gateway cuts the answer at any others itself. */
  readonly stopMax: number;
  /** The server's word for each depth and for off; an empty one is not sent. */
  readonly effortWords: EffortWords;
  /** The text of an empty tool result; some servers refuse an empty one. */
  readonly emptyToolResult: string;
  /** Members added to every request, such as routing preferences. The request's own members win. */
  readonly extraBody: JsonObject;
};

export type ImageFormula = SharedProfile['imageTokens'];

/** What most servers take, of any dialect. */
export const SHARED: SharedProfile = {
  systemInMiddle: 'fold',
  stopMax: 16,
  stopWhenReasoning: 'send',
  blankStops: 'send',
  toolIds: 'any',
  imageUrls: 'public',
  imageTokens: 'tiles',
  thinkingShown: 'part',
  closing: 'unknown',
  thinkingOff: 'send',
  effortWords: { off: '', low: 'low', high: 'high', max: 'max' },
  cacheKey: 'omit',
  parallelToolCalls: 'send',
  emptyToolResult: '',
  jsonSchema: 'prompt',
  unreportedCacheWrites: 'ignore',
  extraBody: {},
};
