// Which commands the queue keeps until they are on disk, which may wait for a batch to join, and which
// it may refuse.

import type { LedgerRequest } from './contract.ts';

/** The request whose end this is: such a command is kept until it is on disk. */
export function promisedFor({ name, command }: LedgerRequest): string | undefined {
  return name === 'settle' || name === 'release' ? command.requestId : undefined;
}

/** A crash before it is written costs the gateway what it would have said, and no customer. */
export function isUnhurried(
  request: LedgerRequest,
): request is Extract<LedgerRequest, { readonly name: 'checkpoint' }> {
  return request.name === 'checkpoint' && request.command.isAwaited !== true;
}

/** Whether it begins something that its caller can ask for again. */
export function isNew(request: LedgerRequest): boolean {
  return isRefusable(request) && request.name !== 'extend';
}

/** Whether it asks for something new; what belongs to a running request is always taken. */
export function isRefusable({ name }: LedgerRequest): boolean {
  return ['hold', 'extend', 'recover', 'credit', 'redeem'].includes(name);
}
