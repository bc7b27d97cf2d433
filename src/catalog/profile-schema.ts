// The fields of a [profile.NAME] table, for each dialect: the members of the profiles in core, in
// snake_case, each with the values that it takes. Called by profiles.ts. A test holds both together.

import { type Static, type TSchema, Type } from '@sinclair/typebox';

const oneOf = (...values: readonly string[]) => {
  const quoted = values.map((value) => `"${value}"`);
  const last = quoted.pop();
  return Type.Optional(
    Type.Union(
      values.map((value) => Type.Literal(value)),
      { expects: `${quoted.join(', ')} or ${last}` },
    ),
  );
};
const closed = (fields: Readonly<Record<string, TSchema>>, expects: string) =>
  Type.Object(fields, { additionalProperties: false, expects });

const word = () =>
  Type.Optional(
    Type.String({
      pattern: '^[\\x21-\\x7e]*$',
      maxLength: 64,
      expects: 'a word, or "" for none',
    }),
  );
const budget = () =>
  Type.Optional(
    Type.Integer({
      minimum: 1_024,
      maximum: 1_000_000,
      expects: 'an integer from 1,024 to 1,000,000',
    }),
  );

const SharedFields = {
  base: Type.Optional(Type.String({ expects: 'the name of a profile' })),
  system_in_middle: oneOf('fold', 'keep'),
  stop_max: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 16, expects: 'an integer from 0 to 16' }),
  ),
  stop_when_reasoning: oneOf('send', 'hold'),
  blank_stops: oneOf('send', 'hold'),
  tool_ids: oneOf('any', 'word', 'nine'),
  image_urls: oneOf('any', 'data'),
  image_tokens: oneOf('tiles', 'patches', 'area', 'large_area'),
  thinking_shown: oneOf('part', 'all'),
  parallel_tool_calls: oneOf('send', 'omit'),
  empty_tool_result: Type.Optional(
    Type.String({ maxLength: 1_024, expects: 'text of at most 1,024 characters' }),
  ),
  json_schema: oneOf('prompt', 'send', 'both'),
  extra_body: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      expects: 'a table of members for every request',
    }),
  ),
};

export const PROFILE_SCHEMAS = {
  chat: closed(
    {
      ...SharedFields,
      credential: oneOf('bearer', 'api-key'),
      max_tokens_field: oneOf('max_tokens', 'max_completion_tokens'),
      sampling: oneOf('send', 'omit_when_thinking', 'omit'),
      forced_choice: oneOf('send', 'required', 'auto', 'auto_when_thinking', 'without_thinking'),
      forbidden_choice: oneOf('send', 'drop_tools'),
      reasoning_field: oneOf('reasoning_content', 'reasoning', 'none'),
      lost_reasoning: oneOf('omit', 'empty'),
      think_tags: oneOf('ignore', 'split', 'opened'),
      reasoning_switch: oneOf('thinking', 'effort', 'template', 'object', 'none'),
      thinking_with_tools: oneOf('send', 'off'),
      effort_words: Type.Optional(
        closed(
          { off: word(), low: word(), high: word(), max: word() },
          'a table such as { off = "none", max = "xhigh" }',
        ),
      ),
      content_parts: oneOf('images', 'always', 'never'),
      content_beside_calls: oneOf('null', 'empty'),
      turn_order: oneOf('any', 'alternate'),
      user_after_tool: oneOf('send', 'bridge'),
      prefill: oneOf('send', 'without_thinking', 'continue_final_message', 'prefix'),
      speaker_names: oneOf('send', 'fold'),
      stream_options: oneOf('send', 'omit'),
      json_mode: oneOf('send', 'omit'),
      argument_pieces: oneOf('parts', 'growing'),
    },
    'a table',
  ),
  messages: closed(
    {
      ...SharedFields,
      credential: oneOf('x-api-key', 'bearer'),
      version: Type.Optional(
        Type.String({
          pattern: '^[\\x21-\\x7e]+$',
          maxLength: 64,
          expects: '1 to 64 visible ASCII characters',
        }),
      ),
      forced_choice: oneOf('send', 'auto', 'auto_when_thinking', 'without_thinking'),
      sampling: oneOf('send', 'one', 'omit'),
      thinking_switch: oneOf('budget', 'adaptive', 'type', 'none'),
      thinking_budgets: Type.Optional(
        closed(
          { low: budget(), high: budget(), max: budget() },
          'a table such as { low = 4096, high = 16384 }',
        ),
      ),
      thinking_history: oneOf('signed', 'any', 'none'),
      cache_marks: oneOf('conversations', 'always', 'none'),
    },
    'a table',
  ),
} as const;

/** Which tables there are is checked with the document; what is in them only with their dialect. */
export const ProfileTablesSchema = Type.Record(
  Type.String(),
  Type.Record(Type.String(), Type.Unknown(), { expects: 'a table' }),
  { expects: 'a table' },
);

export type ProfileTables = Static<typeof ProfileTablesSchema>;
