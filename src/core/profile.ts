// The differences between servers of the same dialect, as data. The catalog names a profile for
// each upstream and may override single fields. The writers and readers of a dialect use the fields
// and never a server's name. A new server is an entry in built-in-profiles.ts or a table in a
// catalog.

import { RESPONSES, type ResponsesProfile } from './responses-profile.ts';
import { type Chosen, type Depth, SHARED, type SharedProfile } from './shared-profile.ts';

export type { ResponsesProfile } from './responses-profile.ts';
export type { EffortWords, ImageFormula } from './shared-profile.ts';

export const CHAT_CHOICES = {
  /** The header that carries the credential. */
  credential: ['bearer', 'api-key'],
  maxTokensField: ['max_tokens', 'max_completion_tokens'],
  /** Temperature, `top_p` and the penalties; some vendors' models refuse them while thinking. */
  sampling: ['send', 'omit_when_thinking', 'omit'],
  /**
   * How a tool is forced. `send`: as the client requested. `required`: by that word, with only the
   * named tool. `auto`: not at all; `auto_when_thinking`: not while the model thinks.
   * `without_thinking`: as the client requested, with thinking turned off. `by_name`: the same if
   * any tool will do; a named one is sent as it is. `instruct`: in words, in the system prompt.
   */
  forcedChoice: [
    'send',
    'required',
    'auto',
    'auto_when_thinking',
    'without_thinking',
    'by_name',
    'instruct',
  ],
  /** How tools are forbidden: by the word `none`, or by omitting them if the server ignores it. */
  forbiddenChoice: ['send', 'drop_tools'],
  /**
   * The field in which earlier thinking is sent back. Both names are always read. `parts`: as
   * Mistral's parts of the content. `details`: as the `reasoning_details` that the server has sent;
   * where those are lost, as `reasoning`.
   */
  reasoningField: ['reasoning_content', 'reasoning', 'parts', 'details', 'none'],
  /**
   * Whether an assistant turn whose thinking is lost carries the field empty, or with the one space
   * that servers demand which refuse an empty one beside calls.
   */
  lostReasoning: ['omit', 'empty', 'space'],
  /**
   * Think tags in the answer's text. `ignore`: not parsed. `split`: if the text begins with one,
   * the text between the tags is thinking. `opened`: the text is thinking up to the first closing
   * tag, because the server's prompt template has written the opening one.
   */
  thinkTags: ['ignore', 'split', 'opened'],
  /**
   * How thinking is switched. `thinking`: by `thinking: {type}` and `reasoning_effort`. `effort`:
   * by `reasoning_effort` alone. `template`: by `chat_template_kwargs: {enable_thinking}` and
   * `reasoning_effort`. `object`: by OpenRouter's `reasoning: {…}`. `none`: not at all.
   */
  reasoningSwitch: ['thinking', 'effort', 'template', 'object', 'none'],
  /** Whether a model may think while it has tools. `off`: thinking is turned off with any tool. */
  thinkingWithTools: ['send', 'off'],
  /** When content is sent as an array of parts: only with images, always, or never. */
  contentParts: ['images', 'always', 'never'],
  /** The content of an assistant turn that has calls and no text. */
  contentBesideCalls: ['null', 'empty'],
  /** Whether consecutive turns of the same role are merged. */
  turnOrder: ['any', 'alternate'],
  /** Whether a user turn may follow tool results, or needs an assistant turn between them. */
  userAfterTool: ['send', 'bridge'],
  /**
   * How a trailing assistant turn is continued. `send`: the turn suffices. `without_thinking`:
   * thinking is turned off for it. `continue_final_message`: by that flag of vLLM. `prefix`: by
   * that flag on the turn; `partial`: by Moonshot's. `bridge`: by a user turn that asks for it.
   */
  prefill: ['send', 'without_thinking', 'continue_final_message', 'prefix', 'partial', 'bridge'],
  /** Speaker names: in a field of their own, or prepended to the user's text. */
  speakerNames: ['send', 'fold'],
  streamOptions: ['send', 'omit'],
  jsonMode: ['send', 'omit'],
  /** Whether each piece of a call's arguments is the next part or everything so far. */
  argumentPieces: ['parts', 'growing'],
  /** Whether reasoning models are sent the wanted length of the answer. */
  verbosity: ['send', 'omit'],
} as const;

export type ChatProfile = SharedProfile &
  Chosen<typeof CHAT_CHOICES> & {
    readonly dialect: 'chat';
    /**
     * The signature of thinking that the first call of an assistant turn carries whose own ones are
     * lost; empty: calls have no signatures. Gemini refuses calls without any.
     */
    readonly callSignature: string;
  };

export const MESSAGES_CHOICES = {
  credential: ['x-api-key', 'bearer', 'api-key'],
  /**
   * Where the model and the version go. `messages`: the model into the body, the version into the
   * header `anthropic-version`. `vertex`: the model into the path, the version into the body.
   */
  address: ['messages', 'vertex'],
  /**
   * Whether a tool may be forced, and whether that turns off thinking; otherwise `auto` is sent.
   * `disable_thinking`: turns it off even where the request is silent, for models that think by
   * default. `instruct`: with an instruction in the system prompt that names the tool.
   */
  forcedChoice: [
    'send',
    'auto',
    'auto_when_thinking',
    'without_thinking',
    'disable_thinking',
    'instruct',
  ],
  /**
   * Whether content is an array of blocks. `never`: text is one string, because the server refuses
   * an array; nor does it get images, earlier thinking or cache marks.
   */
  contentParts: ['always', 'never'],
  /** Whether a trailing assistant turn is continued, or a user turn asks for its continuation. */
  prefill: ['send', 'bridge'],
  /** Temperature and `top_p`. `one`: `top_p` only without a temperature. */
  sampling: ['send', 'one', 'omit'],
  /**
   * How thinking is turned on. `budget`: with a number of tokens. `adaptive`: by that type, with an
   * effort, and requesting a summary, since the newest models show nothing by default. `type`: as
   * enabled, with an effort. `none`: not at all.
   */
  thinkingSwitch: ['budget', 'adaptive', 'type', 'none'],
  /**
   * Which earlier thinking is sent back: only with the upstream's signature, in any form, or never.
   */
  thinkingHistory: ['signed', 'any', 'none'],
  /**
   * Whether thinking is bound to everything before it, so that the server has to be asked to drop
   * what no longer fits instead of refusing the request: customers edit their histories.
   */
  thinkingBinding: ['none', 'drop_block'],
  /**
   * Which requests mark the prompt for the upstream's cache. `conversations`: those that expect
   * another turn. `none`: for servers that cache automatically or refuse the marks.
   */
  cacheMarks: ['conversations', 'always', 'none'],
  /**
   * Tools of Anthropic's own types, such as `bash_20250124`: as the client declared them, or as
   * functions with a schema.
   */
  typedTools: ['send', 'function'],
} as const;

export type MessagesProfile = SharedProfile &
  Chosen<typeof MESSAGES_CHOICES> & {
    readonly dialect: 'messages';
    /** The value of `anthropic-version`. */
    readonly version: string;
    /** Thinking tokens for each depth, for the `budget` switch. */
    readonly thinkingBudgets: Readonly<Record<Depth, number>>;
  };

export type UpstreamProfile = ChatProfile | MessagesProfile | ResponsesProfile;

/**
 * Members that `extraBody` cannot set: they would change the cost or the meaning of the request
 * after it was reserved.
 */
export const RESERVED_MEMBERS: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'input',
  'system',
  'instructions',
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'n',
  'tools',
  'tool_choice',
  'stream',
  'stream_options',
]);

/** What nearly every chat-completions server takes. */
const CHAT: ChatProfile = {
  ...SHARED,
  dialect: 'chat',
  credential: 'bearer',
  // The default for unknown servers. Think tags prove nothing, since a prompt can request them.
  thinkingShown: 'part',
  forcedChoice: 'send',
  forbiddenChoice: 'send',
  // Servers without the switch refuse the request, while the prompt works with every model.
  jsonSchema: 'prompt',
  maxTokensField: 'max_tokens',
  sampling: 'send',
  reasoningField: 'reasoning_content',
  lostReasoning: 'omit',
  // Servers that write think tags are seldom known to do so, and other answers do not begin with
  // one.
  thinkTags: 'split',
  reasoningSwitch: 'thinking',
  thinkingWithTools: 'send',
  contentParts: 'images',
  contentBesideCalls: 'null',
  turnOrder: 'any',
  userAfterTool: 'send',
  prefill: 'send',
  speakerNames: 'send',
  streamOptions: 'send',
  jsonMode: 'send',
  argumentPieces: 'parts',
  callSignature: '',
  // Most servers do not know the member, and some refuse what they do not know.
  verbosity: 'omit',
};

/** What nearly every Messages server takes, Anthropic's own for its models before 4.6 included. */
const MESSAGES: MessagesProfile = {
  ...SHARED,
  dialect: 'messages',
  credential: 'x-api-key',
  address: 'messages',
  // The version of 2026-10-21 refuses more and adds nothing needed here.
  version: '2023-06-01',
  // A blank stop sequence is answered with 400.
  blankStops: 'hold',
  // Ids are letters, digits, "_" and "-".
  toolIds: 'word',
  imageTokens: 'area',
  // Models since Claude 4 show a summary of it.
  thinkingShown: 'part',
  // Thinking and a forced tool in one request are answered with 400. The forced tool is a
  // requirement; thinking is a preference.
  forcedChoice: 'without_thinking',
  // Most servers of this format ignore the member, so the model would not see the schema.
  jsonSchema: 'prompt',
  // Some models refuse temperature and top_p in one request.
  sampling: 'one',
  thinkingSwitch: 'budget',
  // No budget may be below 1,024.
  thinkingBudgets: { low: 4_096, high: 16_384, max: 32_768 },
  // A signature from another issuer is answered with 400.
  thinkingHistory: 'signed',
  thinkingBinding: 'none',
  contentParts: 'always',
  prefill: 'send',
  // Servers without this feature ignore the marks: the coding agents of this format send them.
  cacheMarks: 'conversations',
  // Other servers of this format refuse or ignore the types.
  typedTools: 'function',
};

/** The default for an upstream of a dialect whose catalog entry names no profile. */
export const DEFAULT_PROFILE = { chat: CHAT, messages: MESSAGES, responses: RESPONSES } as const;

/** The built-in demo models. */
export const DEMO_PROFILE: ChatProfile = {
  ...CHAT,
  thinkingShown: 'all',
  reasoningField: 'none',
};
