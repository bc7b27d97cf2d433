// What operators list beside accounts: blocks, redemption codes, the audit trail, maintenance.

import type { auditEventRecord } from '../../operations/audit.ts';
import type { blockRecord } from '../../operations/blocks.ts';
import type { codeRecord } from '../../operations/codes.ts';

export type BlockRecord = ReturnType<typeof blockRecord>;

/** With whom it concerns; null for networks. */
export type ListedBlockRecord = BlockRecord & {
  readonly account: { readonly id: string; readonly email: string } | null;
  readonly masked: string | null;
};

export type CodeRecord = ReturnType<typeof codeRecord>;

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

export type AuditEventRecord = ReturnType<typeof auditEventRecord>;
