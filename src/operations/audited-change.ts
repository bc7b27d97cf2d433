// The author of a change and the database to change, which the command line and the console pass to
// every operation that writes.

import { createId } from '../core/id.ts';
import { type Actor, type AuditAction, writeAuditEvent } from '../identity/audit.ts';
import type { OperationDependencies } from './dependencies.ts';

export type Change = Pick<OperationDependencies, 'database' | 'clock' | 'randomBytes'> & {
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
