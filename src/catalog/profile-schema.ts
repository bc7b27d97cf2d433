// The fields of a [profile.NAME] table for each dialect: the profile members in core, in
// snake_case, with their allowed values. A test checks that both match.

import { type Static, Type } from '@sinclair/typebox';
import { EFFORTS } from '../core/effort.ts';
import { closed, integer, listOf, oneOf, text, visible } from './shapes.ts';

const choice = (...values: readonly string[]) => Type.Optional(oneOf(...values));
const word = () => Type.Optional(visible('a word, or "" for none', 64));
const words = () =>
  Type.Optional(
    closed(
      { off: word(), low: word(), high: word(), max: word() },
      'a table such as { off = "none", max = "xhigh" }',
    ),
  );
const budget = () => Type.Optional(integer(1_024, 1_000_000));

const SharedFields = {
  base: Type.Optional(text('the name of a profile')),
  system_in_middle: choice('fold', 'keep'),
  stop_max: Type.Optional(integer(0, 16)),
  stop_when_reasoning: choice('send', 'hold'),
  blank_stops: choice('send', 'hold'),
  tool_ids: choice('any', 'word', 'nine'),
  image_urls: choice('any', 'data'),
  image_tokens: choice('tiles', 'patches', 'area', 'large_area'),
  thinking_shown: choice('part', 'all'),
  thinking_off: choice('send', 'lowest', 'between_tools'),
  effort_words: words(),
  efforts: Type.Optional(
    listOf(oneOf(...EFFORTS), 'a list of different efforts', { uniqueItems: true }),
  ),
  cache_key: choice('send', 'omit'),
  parallel_tool_calls: choice('send', 'omit'),
  empty_tool_result: Type.Optional(text('text of at most 1,024 characters', { maxLength: 1_024 })),
  json_schema: choice('prompt', 'send', 'both'),
  unreported_cache_writes: choice('count', 'ignore'),
  extra_body: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      expects: 'a table of members for every request',
    }),
  ),
};

export const PROFILE_SCHEMAS = {
  chat: closed({
    ...SharedFields,
    credential: choice('bearer', 'api-key'),
    max_tokens_field: choice('max_tokens', 'max_completion_tokens'),
    sampling: choice('send', 'omit_when_thinking', 'omit'),
    forced_choice: choice(
      'send',
      'required',
      'auto',
      'auto_when_thinking',
      'without_thinking',
      'by_name',
      'instruct',
    ),
    forbidden_choice: choice('send', 'drop_tools'),
    reasoning_field: choice('reasoning_content', 'reasoning', 'parts', 'details', 'none'),
    lost_reasoning: choice('omit', 'empty', 'space'),
    think_tags: choice('ignore', 'split', 'opened'),
    reasoning_switch: choice('thinking', 'effort', 'template', 'object', 'none'),
    tool_schemas: choice('any', 'properties'),
    thinking_with_tools: choice('send', 'off'),
    content_parts: choice('images', 'always', 'never'),
    content_beside_calls: choice('null', 'empty'),
    turn_order: choice('any', 'alternate'),
    user_after_tool: choice('send', 'bridge'),
    prefill: choice(
      'send',
      'without_thinking',
      'continue_final_message',
      'prefix',
      'partial',
      'bridge',
    ),
    speaker_names: choice('send', 'fold'),
    stream_options: choice('send', 'omit'),
    json_mode: choice('send', 'omit'),
    argument_pieces: choice('parts', 'growing'),
    call_signature: word(),
    verbosity: choice('send', 'omit'),
  }),
  messages: closed({
    ...SharedFields,
    credential: choice('x-api-key', 'bearer', 'api-key'),
    address: choice('messages', 'vertex'),
    version: Type.Optional(visible('1 to 64 visible ASCII characters', 64, '+')),
    forced_choice: choice('send', 'auto', 'auto_when_thinking', 'without_thinking', 'instruct'),
    prefill: choice('send', 'bridge'),
    sampling: choice('send', 'one', 'omit'),
    thinking_switch: choice('budget', 'adaptive', 'type', 'none'),
    thinking_budgets: Type.Optional(
      closed(
        { low: budget(), high: budget(), max: budget() },
        'a table such as { low = 4096, high = 16384 }',
      ),
    ),
    thinking_history: choice('signed', 'any', 'none'),
    thinking_binding: choice('none', 'drop_block'),
    cache_marks: choice('conversations', 'always', 'none'),
    typed_tools: choice('send', 'function'),
  }),
  responses: closed({
    ...SharedFields,
    credential: choice('bearer', 'api-key'),
    sampling: choice('send', 'omit_when_thinking', 'omit'),
    forced_choice: choice('send', 'auto', 'without_thinking', 'instruct'),
    reasoning_switch: choice('effort', 'none'),
    reasoning_summary: choice('auto', 'omit'),
    reasoning_history: choice('text', 'encrypted', 'none'),
    phases: choice('omit', 'send'),
    verbosity: choice('omit', 'send'),
    obfuscation: choice('omit', 'off'),
    store: choice('send', 'omit'),
    min_output_tokens: Type.Optional(integer(1, 1_024)),
    custom_tools: choice('function', 'send'),
  }),
} as const;

/** The document check covers only the tables' names; their content depends on the dialect. */
export const ProfileTablesSchema = Type.Record(
  Type.String(),
  Type.Record(Type.String(), Type.Unknown(), { expects: 'a table' }),
  { expects: 'a table' },
);

export type ProfileTables = Static<typeof ProfileTablesSchema>;
