// API keys as listed by /v1/api-keys, and the responses to creating and rotating one.

import { type Static, Type } from '@sinclair/typebox';
import type { KeyListState } from '../../identity/key-list.ts';
import type { KeyRevocation } from '../../store/tables.ts';
import type { List } from '../edge/page.ts';
import type { ModelNameRecord } from './model.ts';
import { decimal, instant, list, many, named, nullable, oneOf, text } from './schema.ts';

const budgetLimit = nullable(
  Type.Object({
    limit: decimal,
    limit_usd: decimal,
    spent: decimal,
    spent_usd: decimal,
    remaining: decimal,
    /** Null for the total, which does not renew. */
    renews_at: nullable(instant),
  }),
);

/** With its budget; null for a key without one. */
export const keyAnswer = named('ApiKey', {
  id: text,
  object: Type.Literal('api_key'),
  name: nullable(text),
  masked: text,
  status: oneOf('active', 'expired', 'revoked'),
  created_at: instant,
  expires_at: nullable(instant),
  last_used_at: nullable(instant),
  revoked_at: nullable(instant),
  revoked_reason: nullable(Type.Unsafe<KeyRevocation>(text)),
  rotated_from: nullable(text),
  replaced_by: nullable(text),
  /** Slugs; null: every model of the plan. */
  models: nullable(many(text)),
  /** In CIDR notation; null: any. */
  networks: nullable(many(text)),
  paused_at: nullable(instant),
  paused_reason: nullable(oneOf('user', 'operator', 'runaway')),
  /** Whether the runaway guard may pause it. */
  runaway_guard: Type.Boolean(),
  budget: nullable(
    Type.Object({ total: budgetLimit, day: budgetLimit, month: budgetLimit, reserved: decimal }),
  ),
  /** Whether this key made the call. */
  current: Type.Boolean(),
});

export const keyListAnswer = list('ApiKeyList', keyAnswer);

export const createdKeyAnswer = named('CreatedApiKey', {
  ...keyAnswer.properties,
  key: Type.String({ pattern: '^sk-', description: 'The key itself, shown only here.' }),
});

export type BoundKeyRecord = Static<typeof keyAnswer>;

export type KeyRecord = Omit<BoundKeyRecord, 'budget'>;

/** The only response that contains the key. */
export type CreatedKeyRecord = KeyRecord & { readonly key: string };

/** The models on offer: of the plan for a customer, all for an operator. */
export type KeyModelsRecord = List<ModelNameRecord>;

/** Amounts of requests that started today and within 30 days, today included (UTC). */
export type ListedKeyRecord = BoundKeyRecord & {
  /** Where it was last used from; null if unknown. */
  readonly last_used_address: string | null;
  readonly spent_today: string;
  readonly spent_today_usd: string;
  readonly spent: string;
  readonly spent_usd: string;
};

export type KeyListRecord = List<ListedKeyRecord>;

export type KeySummaryRecord = {
  /** Of all keys of the account. `kept` are those that are not revoked. */
  readonly counts: Readonly<Record<KeyListState, number>>;
  readonly active_count: number;
  readonly active_limit: number;
  readonly creations: {
    readonly last_hour: number;
    readonly limit: number;
    /** When the next key can be created; null if now. */
    readonly next_at: string | null;
  };
};

const { budget: _budget, ...facts } = keyAnswer.properties;

/** Without the budget, which both keys share. */
export const plainKey = Type.Object(facts);

export const rotatedKeyAnswer = named('RotatedApiKey', {
  replaced: plainKey,
  created: Type.Object({ ...facts, key: createdKeyAnswer.properties.key }),
});

export type RotatedKeyRecord = Static<typeof rotatedKeyAnswer>;

/** The connection settings for snippets. */
export type ConnectionRecord = {
  /** Without /v1. */
  readonly base_url: string;
  /** A model of the plan for examples; null if the plan has none. */
  readonly model: string | null;
  /** Whether that model reasons. */
  readonly reasoning: boolean;
  /** Whether the Responses format is served. */
  readonly responses: boolean;
};
