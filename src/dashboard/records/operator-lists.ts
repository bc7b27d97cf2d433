// Operator lists beside accounts: blocks, redemption codes, the audit trail, maintenance.

import { type Static, Type } from '@sinclair/typebox';
import type { auditEventRecord } from '../../operations/audit.ts';
import type { blockRecord } from '../../operations/blocks.ts';
import type { codeRecord, NewCode } from '../../operations/codes.ts';
import { count, decimal, instant, named, nullable, oneOf, text } from './schema.ts';

/** How a request for approval ended without a booking. */
export const OVER = ['rejected', 'withdrawn', 'failed', 'expired'] as const;

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
export const approvalAnswer = named('Approval', {
  id: Type.String({ pattern: '^appr_' }),
  object: Type.Literal('approval'),
  kind: oneOf('credit', 'grant', 'adjustment', 'codes'),
  account_id: nullable(text),
  account_email: nullable(text),
  amount: decimal,
  count: nullable(count),
  reason: text,
  state: oneOf('pending', 'approved', 'done', ...OVER),
  /** The actor: a token of the operators' API acts for an operator. */
  asked_by: text,
  asked_by_email: nullable(text),
  asked_at: instant,
  expires_at: instant,
  decided_by: nullable(text),
  decided_at: nullable(instant),
  note: nullable(text),
});

export type ApprovalRecord = Static<typeof approvalAnswer>;

export type MaintenanceRecord = {
  readonly maintenance: boolean;
  /** The message to clients; null for the default. */
  readonly message: string | null;
};

export type AuditEventRecord = ReturnType<typeof auditEventRecord>;
