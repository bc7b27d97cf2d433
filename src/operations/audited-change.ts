// Who changes something and with what, for every operation that writes: the command line and the
// console both hand it in.

import { createId, type RandomBytes } from '../core/id.ts';
import { type Actor, type AuditAction, writeAuditEvent } from '../identity/audit.ts';
import type { Database } from '../store/contract.ts';

export type Change = {
  readonly database: Database;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly randomBytes: RandomBytes;
  readonly actor: Actor;
};

/** Call inside the transaction of the change. */
export async function auditChange(
  { database, clock, randomBytes, actor }: Change,
  action: AuditAction,
  subject: string,
  detail: Readonly<Record<string, string | number | boolean | null>> = {},
): Promise<void> {
  const operationId = createId('op_', randomBytes);
  await writeAuditEvent(database, { operationId, at: clock(), actor, action, subject, detail });
}
