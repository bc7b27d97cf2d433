// One line of an account's own audit trail.

export type AuditRecord = {
  readonly id: number;
  readonly at: string;
  /** What happened, in one sentence. */
  readonly words: string;
  /** Such as api_key.created. */
  readonly action: string;
  readonly actor: 'you' | 'operator' | 'system' | 'visitor';
  /** Where it came from; only of what the account's own people did. */
  readonly address: string | null;
  /** The id of what was changed. */
  readonly subject: string;
  /** Shared by the events of one operation. */
  readonly operation_id: string;
};
