// Operator lists beside accounts: blocks, redemption codes, the audit trail, maintenance.

import { type Static, Type } from '@sinclair/typebox';
import { count, decimal, instant, list, many, named, nullable, oneOf, text } from './schema.ts';

/** How a request for approval ended without a booking. */
export const OVER = ['rejected', 'withdrawn', 'failed', 'expired'] as const;

export const blockAnswer = named('Block', {
  id: text,
  object: Type.Literal('block'),
  kind: oneOf('account', 'key', 'network'),
  value: text,
  reason: text,
  created_at: instant,
  expires_at: nullable(instant),
});

/** With the affected account; null for networks. */
const listedBlock = named('ListedBlock', {
  ...blockAnswer.properties,
  account: nullable(Type.Object({ id: text, email: text })),
  masked: nullable(text),
});

export const blockListAnswer = list('BlockList', listedBlock);

export type BlockRecord = Static<typeof blockAnswer>;

export type ListedBlockRecord = Static<typeof listedBlock>;

export const codeAnswer = named('Code', {
  id: text,
  object: Type.Literal('redemption_code'),
  masked: text,
  amount: decimal,
  status: oneOf('open', 'redeemed', 'revoked', 'expired'),
  reason: text,
  created_at: instant,
  expires_at: nullable(instant),
  revoked_at: nullable(instant),
  redeemed_at: nullable(instant),
  redeemed_by: nullable(text),
});

export const codeListAnswer = list('CodeList', codeAnswer);

/** The only response that contains the codes. */
const createdCodes = named('CreatedCodes', {
  object: Type.Literal('list'),
  data: many(Type.Object({ code: text, ...codeAnswer.properties })),
});

export type CodeRecord = Static<typeof codeAnswer>;

export type CreatedCodesRecord = Static<typeof createdCodes>;

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

export type ApprovalListRecord = {
  readonly object: 'list';
  readonly data: readonly ApprovalRecord[];
  readonly next: string | null;
  /** Service tokens above which a second operator is needed; null: none is. */
  readonly above: string | null;
};

/** Above the amount of four eyes they wait, and no token sees them. */
export const codesAnswer = Type.Union([createdCodes, approvalAnswer], { $id: 'CodesOrApproval' });

export const maintenanceAnswer = named('Maintenance', {
  maintenance: Type.Boolean(),
  /** The message to clients; null for the default. */
  message: nullable(text),
});

export type MaintenanceRecord = Static<typeof maintenanceAnswer>;

const auditEvent = named('AuditEvent', {
  id: count,
  at: instant,
  actor: text,
  address: nullable(text),
  action: text,
  account_id: nullable(text),
  subject: text,
  operation_id: text,
  detail: Type.Unsafe<Readonly<Record<string, string | number | boolean | null>>>(
    Type.Record(text, Type.Union([text, Type.Number(), Type.Boolean(), Type.Null()])),
  ),
});

export const auditListAnswer = list('AuditEventList', auditEvent);

export type AuditEventRecord = Static<typeof auditEvent>;
