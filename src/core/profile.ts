// What differs between servers that speak the same dialect, as data. The catalog names a profile
// for each upstream and may change single fields of it; the writers and readers of a dialect look
// at the fields and never at a server's name. A new server is a row of built-in-profiles.ts or a
// table in a catalog.

import type { JsonObject } from './generation.ts';

/** `low`, `high` and `max` are the depths of thinking that a request can ask for. */
type Depth = 'low' | 'high' | 'max';

/**
 * How an upstream counts images. `tiles`: OpenAI's for most models. `patches`: OpenAI's for its
 * mini and nano models. `area`: Anthropic's. `large_area`: that of its models since Opus 4.7.
 */
export type ImageFormula = 'tiles' | 'patches' | 'area' | 'large_area';

type SharedProfile = {
  /** System text in the middle: kept where it stands, or folded into its neighbour. */
  readonly systemInMiddle: 'fold' | 'keep';
  /** Stop sequences that a request may carry; the gateway itself cuts the answer at the others. */
  readonly stopMax: number;
  /** Whether models that reason are sent any of them; some vendors' refuse them. */
  readonly stopWhenReasoning: 'send' | 'hold';
  /** Whether stop sequences of white space alone are refused; the gateway cuts at those too. */
  readonly blankStops: 'send' | 'hold';
  /** Which tool-call ids are taken; others are rewritten, a call and its result alike. */
  readonly toolIds: 'any' | 'word' | 'nine';
  /** Whether images may be addresses, or have to be data URLs. */
  readonly imageUrls: 'any' | 'data';
  /** How it counts images in tokens. */
  readonly imageTokens: ImageFormula;
  /**
   * Whether an answer shows all that the model thinks, or may cost thinking that it does not show: none is
   * shown, or a summary of it.
   */
  readonly thinkingShown: 'all' | 'part';
  /** Whether the hint to make one call at a time may be sent. */
  readonly parallelToolCalls: 'send' | 'omit';
  /** What a tool result without text says; some servers refuse an empty one. */
  readonly emptyToolResult: string;
  /**
   * What becomes of a JSON schema for the answer. `prompt`: it is put into the system prompt. `send`:
   * the server has a switch for it, and shows it to its models. `both`: the server makes the answer
   * match, but its models see only what is in the prompt.
   */
  readonly jsonSchema: 'prompt' | 'send' | 'both';
  /** Members that every request carries, such as routing preferences; what it says itself wins. */
  readonly extraBody: JsonObject;
};

export type ChatProfile = SharedProfile & {
  readonly dialect: 'chat';
  /** The header that carries the credential. */
  readonly credential: 'bearer' | 'api-key';
  readonly maxTokensField: 'max_tokens' | 'max_completion_tokens';
  /** Temperature, `top_p` and the penalties; some vendors' models refuse them while they think. */
  readonly sampling: 'send' | 'omit_when_thinking' | 'omit';
  /**
   * How a tool is forced. `send`: as the client said. `required`: by that word, with no tool but the
   * one that was named. `auto`: not at all, or with `auto_when_thinking` not while the model thinks.
   * `without_thinking`: as the client said, and thinking is turned off for it.
   */
  readonly forcedChoice: 'send' | 'required' | 'auto' | 'auto_when_thinking' | 'without_thinking';
  /** How tools are forbidden: by the word `none`, or by leaving them out where it is ignored. */
  readonly forbiddenChoice: 'send' | 'drop_tools';
  /** Under which name earlier thinking goes back. Both names are always read. */
  readonly reasoningField: 'reasoning_content' | 'reasoning' | 'none';
  /** Whether an assistant turn whose thinking is lost carries the field all the same, empty. */
  readonly lostReasoning: 'omit' | 'empty';
  /**
   * Think tags in the answer's text. `ignore`: not looked for. `split`: what is between them is
   * thinking, where the text begins with one. `opened`: the text is thinking up to the first closing
   * tag, because the server's prompt template has written the opening one.
   */
  readonly thinkTags: 'ignore' | 'split' | 'opened';
  /**
   * How thinking is turned on, off and up. `thinking`: by `thinking: {type}` beside
   * `reasoning_effort`. `effort`: by that word alone. `template`: by
   * `chat_template_kwargs: {enable_thinking}` beside it. `object`: by OpenRouter's `reasoning: {…}`.
   * `none`: not at all.
   */
  readonly reasoningSwitch: 'thinking' | 'effort' | 'template' | 'object' | 'none';
  /** Whether a model may think while it has tools. `off`: thinking is turned off beside any tool. */
  readonly thinkingWithTools: 'send' | 'off';
  /** The server's own word for each depth and for off; an empty one is not sent. */
  readonly effortWords: Readonly<Record<Depth | 'off', string>>;
  /** Content as an array of parts: only where there are images, always, or never. */
  readonly contentParts: 'images' | 'always' | 'never';
  /** The content of an assistant turn that has calls and no text. */
  readonly contentBesideCalls: 'null' | 'empty';
  /** Whether two turns of the same role in a row are merged. */
  readonly turnOrder: 'any' | 'alternate';
  /** Whether a user turn may follow tool results, or needs an assistant's word between. */
  readonly userAfterTool: 'send' | 'bridge';
  /**
   * How a last assistant turn is to be continued. `send`: the turn says enough. `without_thinking`:
   * thinking is turned off for it. `continue_final_message`: by that flag of vLLM's. `prefix`: by
   * that mark on the turn.
   */
  readonly prefill: 'send' | 'without_thinking' | 'continue_final_message' | 'prefix';
  /** Names of speakers: in a member of their own, or in front of what users say. */
  readonly speakerNames: 'send' | 'fold';
  readonly streamOptions: 'send' | 'omit';
  readonly jsonMode: 'send' | 'omit';
  /** What each piece of a call's arguments is: the next part, or all that there is so far. */
  readonly argumentPieces: 'parts' | 'growing';
};

export type MessagesProfile = SharedProfile & {
  readonly dialect: 'messages';
  readonly credential: 'x-api-key' | 'bearer';
  /** The value of `anthropic-version`. */
  readonly version: string;
  /** Whether a tool may be forced, and whether thinking is turned off for that; else `auto` is sent. */
  readonly forcedChoice: 'send' | 'auto' | 'auto_when_thinking' | 'without_thinking';
  /** Temperature and `top_p`. `one`: `top_p` only where there is no temperature. */
  readonly sampling: 'send' | 'one' | 'omit';
  /**
   * How thinking is turned on. `budget`: with a number of tokens. `adaptive`: by that type, with an
   * effort, and asking for a summary, since the newest models show nothing unasked. `type`: as
   * enabled, with an effort. `none`: not at all.
   */
  readonly thinkingSwitch: 'budget' | 'adaptive' | 'type' | 'none';
  /** Tokens of thinking for each depth, where the switch is a budget. */
  readonly thinkingBudgets: Readonly<Record<Depth, number>>;
  /** Whether earlier thinking goes back: only with the upstream's own signature, in any form, never. */
  readonly thinkingHistory: 'signed' | 'any' | 'none';
  /**
   * In which requests the prompt is marked for the upstream's cache. `conversations`: where a next
   * turn can be expected. `none`: for servers that cache unasked, or that refuse the marks.
   */
  readonly cacheMarks: 'conversations' | 'always' | 'none';
};

export type UpstreamProfile = ChatProfile | MessagesProfile;

/**
 * What `extraBody` can never add: with these an answer would cost or mean something else than what
 * was asked for, held and promised.
 */
export const RESERVED_MEMBERS: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'system',
  'max_tokens',
  'max_completion_tokens',
  'n',
  'tools',
  'tool_choice',
  'stream',
  'stream_options',
]);

/** What nearly every chat-completions server takes. */
const CHAT: ChatProfile = {
  dialect: 'chat',
  credential: 'bearer',
  systemInMiddle: 'fold',
  stopMax: 16,
  stopWhenReasoning: 'send',
  blankStops: 'send',
  toolIds: 'any',
  imageUrls: 'any',
  imageTokens: 'tiles',
  // Of an unknown server it is not known. Its word is not enough: a prompt can ask for think tags.
  thinkingShown: 'part',
  forcedChoice: 'send',
  forbiddenChoice: 'send',
  parallelToolCalls: 'send',
  emptyToolResult: '',
  // Servers without it refuse the request, and the prompt reaches every model.
  jsonSchema: 'prompt',
  extraBody: {},
  maxTokensField: 'max_tokens',
  sampling: 'send',
  reasoningField: 'reasoning_content',
  lostReasoning: 'omit',
  // A server that writes them is seldom known as one, and no answer begins with one otherwise.
  thinkTags: 'split',
  reasoningSwitch: 'thinking',
  thinkingWithTools: 'send',
  effortWords: { off: '', low: 'low', high: 'high', max: 'max' },
  contentParts: 'images',
  contentBesideCalls: 'null',
  turnOrder: 'any',
  userAfterTool: 'send',
  prefill: 'send',
  speakerNames: 'send',
  streamOptions: 'send',
  jsonMode: 'send',
  argumentPieces: 'parts',
};

/** What nearly every Messages server takes, Anthropic's own for its models before 4.6 included. */
const MESSAGES: MessagesProfile = {
  dialect: 'messages',
  credential: 'x-api-key',
  // The version of 2026-10-21 refuses more and offers nothing that is needed here.
  version: '2023-06-01',
  systemInMiddle: 'fold',
  stopMax: 16,
  stopWhenReasoning: 'send',
  // A stop sequence of white space alone is answered with 400.
  blankStops: 'hold',
  // Ids are letters, digits, "_" and "-".
  toolIds: 'word',
  imageUrls: 'any',
  imageTokens: 'area',
  // Models since Claude 4 show a summary of it.
  thinkingShown: 'part',
  // Thinking and a forced tool in one request are answered with 400. The tool must be called, and
  // thinking is a wish.
  forcedChoice: 'without_thinking',
  parallelToolCalls: 'send',
  emptyToolResult: '',
  // Most servers of this format ignore the member, and the schema would reach no model.
  jsonSchema: 'prompt',
  extraBody: {},
  // Temperature and top_p in one request are refused by some models.
  sampling: 'one',
  thinkingSwitch: 'budget',
  // No budget may be below 1,024.
  thinkingBudgets: { low: 4_096, high: 16_384, max: 32_768 },
  // A signature that it did not issue is answered with 400.
  thinkingHistory: 'signed',
  // Servers that do not know the marks ignore them: the coding agents of this format send them.
  cacheMarks: 'conversations',
};

/** What an upstream of a dialect has when its catalog entry names no profile. */
export const DEFAULT_PROFILE = { chat: CHAT, messages: MESSAGES } as const;
