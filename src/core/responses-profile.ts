// The profiles of the Responses dialect, and its default.

import { type Chosen, SHARED, type SharedProfile } from './shared-profile.ts';

export const RESPONSES_CHOICES = {
  credential: ['bearer', 'api-key'],
  /** Temperature and `top_p`; the format has no penalties. */
  sampling: ['send', 'omit_when_thinking', 'omit'],
  /** As for chat. */
  forcedChoice: ['send', 'auto', 'without_thinking', 'instruct'],
  /** How thinking is switched: by `reasoning: {effort}`, or not at all. */
  reasoningSwitch: ['effort', 'none'],
  /** Whether a summary of the thinking is requested. */
  reasoningSummary: ['auto', 'omit'],
  /**
   * How earlier thinking is sent back. `encrypted`: as the server's own items, which it is asked to
   * encrypt. `text`: as items with the text. `none`: not at all.
   */
  reasoningHistory: ['text', 'encrypted', 'none'],
  /** Whether assistant messages carry the phase that the server has given them. */
  phases: ['omit', 'send'],
  /** Whether reasoning models are sent the wanted length of the answer. */
  verbosity: ['omit', 'send'],
  /** Whether streams are asked for without padding, by a member that some servers refuse. */
  obfuscation: ['omit', 'off'],
  /** Whether `store: false` is sent; without it the server may keep the conversation. */
  store: ['send', 'omit'],
  /** Whether tools with text for input are sent as such, or as functions. */
  customTools: ['function', 'send'],
} as const;

export type ResponsesProfile = SharedProfile &
  Chosen<typeof RESPONSES_CHOICES> & {
    readonly dialect: 'responses';
    /** The least bound on an answer that the server accepts. */
    readonly minOutputTokens: number;
  };

/**
 * What every stateless server of the Responses format takes
 * (https://platform.openai.com/docs/api-reference/responses, read on 2026-11-28).
 */
export const RESPONSES: ResponsesProfile = {
  ...SHARED,
  dialect: 'responses',
  credential: 'bearer',
  systemInMiddle: 'keep',
  // The format has no stop sequences.
  stopMax: 0,
  stopWhenReasoning: 'hold',
  blankStops: 'hold',
  // An id of more than 64 characters is answered with 400.
  toolIds: 'word',
  effortWords: { off: 'none', low: 'low', high: 'high', max: 'high' },
  jsonSchema: 'send',
  sampling: 'send',
  forcedChoice: 'send',
  reasoningSwitch: 'effort',
  reasoningSummary: 'auto',
  // Servers of open models have no encrypted items, and refuse to be asked for them.
  reasoningHistory: 'text',
  phases: 'omit',
  // Servers of open models refuse or ignore the member.
  verbosity: 'omit',
  obfuscation: 'omit',
  store: 'send',
  minOutputTokens: 1,
  // Open models have no grammars, and their servers refuse the type.
  customTools: 'function',
};
