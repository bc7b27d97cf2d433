// API keys as /v1/api-keys lists them, and what creating and rotating one answers.

import type { keyRecord } from '../../identity/key-record.ts';
import type { createdKeyRecord, rotatedKeyRecord } from '../../operations/keys.ts';
import type { List } from '../edge/page.ts';

export type KeyRecord = ReturnType<typeof keyRecord>;

/** Newest first, in every state. */
export type KeyListRecord = List<KeyRecord> & {
  readonly active_count: number;
  readonly active_limit: number;
  readonly creations: {
    readonly last_hour: number;
    readonly limit: number;
    /** When the next key may be created; null where it may be now. */
    readonly next_at: string | null;
  };
};

/** The one answer that has the key itself. */
export type CreatedKeyRecord = ReturnType<typeof createdKeyRecord>;

export type RotatedKeyRecord = ReturnType<typeof rotatedKeyRecord>;

/** What a key is pasted into. */
export type ConnectionRecord = {
  /** Without /v1. */
  readonly base_url: string;
  /** A model of the plan, for examples; null where the plan has none. */
  readonly model: string | null;
};
