// The fields of a [profile.NAME] table for each dialect: the profile members in core, in
// snake_case. A test checks that both match.

import { type Static, Type } from '@sinclair/typebox';
import { EFFORTS } from '../core/effort.ts';
import { CHAT_CHOICES, MESSAGES_CHOICES } from '../core/profile.ts';
import { RESPONSES_CHOICES } from '../core/responses-profile.ts';
import { say } from '../core/sentence.ts';
import { SHARED_CHOICES } from '../core/shared-profile.ts';
import {
  A_TABLE,
  closed,
  integer,
  listOf,
  oneOf,
  prose,
  tableLike,
  text,
  visible,
  word,
} from './shapes.ts';

const wordOrNone = () =>
  Type.Optional(visible(say('a word, or {none} for none', { none: '""' }), 64));
const words = () =>
  Type.Optional(
    closed(
      { off: wordOrNone(), low: wordOrNone(), high: wordOrNone(), max: wordOrNone() },
      tableLike('{ off = "none", max = "xhigh" }'),
    ),
  );
const budget = () => Type.Optional(integer(1_024, 1_000_000));

/** The fields with one of a few words; the name of a field here is its snake_case. */
const choices = (fields: Readonly<Record<string, readonly string[]>>) =>
  Object.fromEntries(
    Object.entries(fields).map(([name, values]) => [
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      Type.Optional(oneOf(...values)),
    ]),
  );

const SharedFields = {
  ...choices(SHARED_CHOICES),
  base: Type.Optional(text(say('the name of a profile'))),
  stop_max: Type.Optional(integer(0, 16)),
  effort_words: words(),
  efforts: Type.Optional(
    listOf(oneOf(...EFFORTS), say('a list of different efforts'), { uniqueItems: true }),
  ),
  empty_tool_result: Type.Optional(prose(1_024)),
  extra_body: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      expects: say('a table of members for every request'),
    }),
  ),
};

export const PROFILE_SCHEMAS = {
  chat: closed({ ...SharedFields, ...choices(CHAT_CHOICES), call_signature: wordOrNone() }),
  messages: closed({
    ...SharedFields,
    ...choices(MESSAGES_CHOICES),
    version: Type.Optional(word(64)),
    thinking_budgets: Type.Optional(
      closed(
        { low: budget(), high: budget(), max: budget() },
        tableLike('{ low = 4096, high = 16384 }'),
      ),
    ),
  }),
  responses: closed({
    ...SharedFields,
    ...choices(RESPONSES_CHOICES),
    min_output_tokens: Type.Optional(integer(1, 1_024)),
  }),
} as const;

/** The document check covers only the tables' names; their content depends on the dialect. */
export const ProfileTablesSchema = Type.Record(
  Type.String(),
  Type.Record(Type.String(), Type.Unknown(), { expects: A_TABLE }),
  { expects: A_TABLE },
);

export type ProfileTables = Static<typeof ProfileTablesSchema>;
