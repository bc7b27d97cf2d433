// Operator lists beside accounts: blocks, redemption codes, the audit trail, maintenance.

import type { approvalRecord } from '../../operations/approval-records.ts';
import type { auditEventRecord } from '../../operations/audit.ts';
import type { blockRecord } from '../../operations/blocks.ts';
import type { codeRecord, NewCode } from '../../operations/codes.ts';

export type BlockRecord = ReturnType<typeof blockRecord>;

/** With the affected account; null for networks. */
export type ListedBlockRecord = BlockRecord & {
  readonly account: { readonly id: string; readonly email: string } | null;
  readonly masked: string | null;
};

export type CodeRecord = ReturnType<typeof codeRecord>;

/** The only response that contains the codes. */
export type CreatedCodesRecord = {
  readonly object: 'list';
  readonly data: readonly NewCode[];
};

/** What waits for a second operator, or did. */
export type ApprovalRecord = ReturnType<typeof approvalRecord>;

export type MaintenanceRecord = {
  readonly maintenance: boolean;
  /** The message to clients; null for the default. */
  readonly message: string | null;
};

export type AuditEventRecord = ReturnType<typeof auditEventRecord>;
