// API keys as listed by /v1/api-keys, and the responses to creating and rotating one.

import type { keyRecord } from '../../identity/key-record.ts';
import type { createdKeyRecord, rotatedKeyRecord } from '../../operations/keys.ts';
import type { List } from '../edge/page.ts';

export type KeyRecord = ReturnType<typeof keyRecord>;

/** Newest first, in all states. */
export type KeyListRecord = List<KeyRecord> & {
  readonly active_count: number;
  readonly active_limit: number;
  readonly creations: {
    readonly last_hour: number;
    readonly limit: number;
    /** When the next key can be created; null if now. */
    readonly next_at: string | null;
  };
};

/** The only response that contains the key. */
export type CreatedKeyRecord = ReturnType<typeof createdKeyRecord>;

export type RotatedKeyRecord = ReturnType<typeof rotatedKeyRecord>;

/** The connection settings for snippets. */
export type ConnectionRecord = {
  /** Without /v1. */
  readonly base_url: string;
  /** A model of the plan for examples; null if the plan has none. */
  readonly model: string | null;
};
