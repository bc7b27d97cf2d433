// What operators list beside accounts: blocks, redemption codes, the audit trail, maintenance.

export type BlockRecord = {
  readonly id: string;
  readonly object: 'block';
  readonly kind: 'account' | 'key' | 'network';
  /** An account id, a key id, or a network in CIDR notation. */
  readonly value: string;
  readonly reason: string;
  readonly created_at: string;
  /** Null: until it is removed. */
  readonly expires_at: string | null;
};

/** With whom it concerns; null for networks. */
export type ListedBlockRecord = BlockRecord & {
  readonly account: { readonly id: string; readonly email: string } | null;
  readonly masked: string | null;
};

export type CodeRecord = {
  readonly id: string;
  readonly object: 'redemption_code';
  readonly masked: string;
  readonly amount: string;
  readonly status: 'open' | 'redeemed' | 'revoked' | 'expired';
  readonly reason: string;
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly revoked_at: string | null;
  readonly redeemed_at: string | null;
  readonly redeemed_by: string | null;
};

/** The one answer that has the codes themselves. */
export type CreatedCodesRecord = {
  readonly object: 'list';
  readonly data: readonly (CodeRecord & { readonly code: string })[];
};

export type MaintenanceRecord = {
  readonly maintenance: boolean;
  /** What callers are told; null: the standard words. */
  readonly message: string | null;
};

export type AuditEventRecord = {
  readonly id: number;
  readonly at: string;
  readonly actor: string;
  /** Null for the command line. */
  readonly address: string | null;
  readonly action: string;
  readonly account_id: string | null;
  readonly subject: string;
  /** Shared by the events of one operation. */
  readonly operation_id: string;
  readonly detail: Readonly<Record<string, string | number | boolean | null>>;
};
