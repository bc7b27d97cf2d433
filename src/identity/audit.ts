// The audit trail. An event is written in the transaction of its change, so neither exists without
// the other. Never contains a key, a digest or a secret.

import { createId, type RandomBytes } from '../core/id.ts';
import type { Database } from '../store/contract.ts';
import { auditEvents } from '../store/tables.ts';

export type AuditAction =
  | 'account.created'
  | 'account.plan_changed'
  | 'account.standing_changed'
  | 'account.email_verified'
  | 'api_key.created'
  | 'api_key.renamed'
  | 'api_key.bounds_changed'
  | 'api_key.budget_set'
  | 'api_key.paused'
  | 'api_key.pause_mailed'
  | 'api_key.resumed'
  | 'api_key.replaced'
  | 'api_key.revoked'
  | 'block.added'
  | 'block.removed'
  | 'setting.changed'
  | 'incident.set'
  | 'incident.cleared'
  | 'upstream.disabled'
  | 'upstream.enabled'
  | 'upstream.reset'
  | 'prices.published'
  | 'catalog.reload_requested'
  | 'catalog.published'
  | 'catalog.edited'
  | 'upstream.tested'
  | 'code.created'
  | 'code.revoked'
  | 'user.created'
  | 'user.signed_in'
  | 'user.second_factor_failed'
  | 'user.signed_out'
  | 'user.password_changed'
  | 'user.password_reset'
  | 'user.two_factor_enabled'
  | 'user.two_factor_disabled'
  | 'user.recovery_codes_made'
  | 'user.sessions_ended'
  | 'account.deletion_asked'
  | 'account.deletion_taken_back'
  | 'account.closed'
  | 'operator.invited'
  | 'operator.reset'
  | 'operator.removed'
  | 'operator.role_changed'
  | 'alert.acknowledged'
  | 'approval.asked'
  | 'approval.approved'
  | 'approval.rejected'
  | 'approval.withdrawn'
  | 'approval.failed'
  | 'operator_token.created'
  | 'operator_token.revoked'
  | 'operator_api.called'
  | 'database.restored'
  | 'invite.created'
  | 'invite.revoked'
  | 'code.redeemed'
  | 'money.credited'
  | 'money.granted'
  | 'money.adjusted';

/**
 * `operator` on the command line, `system` for the program itself, an account's id, or `operator:`
 * and an e-mail address. Changes in the dashboard include the network address.
 */
export type Actor = string | { readonly name: string; readonly address: string };

type Detail = Readonly<Record<string, string | number | boolean | null>>;

type AuditEvent = {
  /** Shared by the events of one operation, such as the two of a rotation. */
  readonly operationId: string;
  readonly at: number;
  readonly actor: Actor;
  readonly action: AuditAction;
  readonly accountId?: string;
  /** The id of the changed object. */
  readonly subject: string;
  readonly detail?: Detail;
};

/** The dependencies that the stores of identity share. */
export type Basics = {
  readonly database: Database;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly randomBytes: RandomBytes;
};

/** Who changes something, and where. */
export type Change = Basics & { readonly actor: Actor };

/** The event of an operation that has one. Call inside the transaction of the change. */
export async function auditChange(
  { database, clock, randomBytes, actor }: Change,
  action: AuditAction,
  subject: string,
  detail: Detail = {},
  accountId?: string,
): Promise<void> {
  const operationId = createId('op_', randomBytes);
  const event = { operationId, at: clock(), actor, action, subject, detail };
  await writeAuditEvent(database, accountId === undefined ? event : { ...event, accountId });
}

/** Call inside the transaction of the change. The ledger writes the events of money itself. */
export async function writeAuditEvent(database: Database, event: AuditEvent): Promise<void> {
  await database.db.insert(auditEvents).values(rowOf(event)).run();
}

/** Several in few round trips, because other writers wait for the transaction. */
export async function writeAuditEvents(
  database: Database,
  events: readonly AuditEvent[],
): Promise<void> {
  for (let from = 0; from < events.length; from += EVENTS_PER_STATEMENT) {
    const rows = events.slice(from, from + EVENTS_PER_STATEMENT).map(rowOf);
    await database.db.insert(auditEvents).values(rows).run();
  }
}

const EVENTS_PER_STATEMENT = 200;

function rowOf({ actor, operationId, detail = {}, ...facts }: AuditEvent) {
  return { ...facts, ...authorOf(actor, operationId), detail: JSON.stringify(detail) };
}

/** The actor and operation columns of an event. */
export function authorOf(actor: Actor, operationId: string) {
  const { name, address } = typeof actor === 'string' ? { name: actor, address: null } : actor;
  return { operationId, actor: name, address };
}
