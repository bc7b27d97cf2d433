// One event of an account's own audit trail.

export type AuditRecord = {
  readonly id: number;
  readonly at: string;
  /** Such as api_key.created. */
  readonly action: string;
  /** The facts that its owner may read; never an operator's reason. */
  readonly detail: Readonly<Record<string, string | number | boolean | null>>;
  readonly actor: 'you' | 'operator' | 'system' | 'visitor';
  /** The network address; only for actions of the account's users. */
  readonly address: string | null;
  /** The id of the changed record. */
  readonly subject: string;
  /** Shared by the events of one operation. */
  readonly operation_id: string;
};
