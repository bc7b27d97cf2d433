// The ledger of a node, and its refusals after the node was fenced.

import { expect, test } from 'bun:test';
import { micro } from '../../src/core/money.ts';
import { createLedgerClient } from '../../src/ledger/client.ts';
import type { HoldCommand } from '../../src/ledger/contract.ts';
import { LedgerRefusal, LedgerUnavailable } from '../../src/ledger/error.ts';
import { createFencedLedger } from '../../src/server/fenced-ledger.ts';
import { holdOf, NOW } from '../support/ledger.ts';

test('carries the current incarnation, and is refused from the moment on at which it is fenced', async () => {
  const asked: HoldCommand[] = [];
  const node = { incarnation: 'boot_1', isFenced: false };
  const ledger = createFencedLedger(
    {
      ...createLedgerClient({}),
      async hold(command) {
        asked.push(command);
        const written = { isDone: () => true, wait: async () => {} };
        return { ok: true, available: micro(0n), written };
      },
    },
    { incarnation: () => node.incarnation, isFenced: () => node.isFenced, onUnbooked: undefined },
  );
  const command = holdOf('req_1', 'ada', 100n);
  await ledger.hold(command);
  node.isFenced = true;
  await expect(ledger.hold(command)).rejects.toBeInstanceOf(LedgerUnavailable);
  // Another node may have ended the hold already: the stream does not begin.
  const passed = { outputTokens: 1, reasoningTokens: 0, nowMs: NOW };
  const served = { model: 'swift-1', upstream: 'demo', price: command.price };
  const begun = ledger.checkpoint({ requestId: 'req_1', served, ...passed });
  await expect(begun).rejects.toBeInstanceOf(LedgerRefusal);
  Object.assign(node, { incarnation: 'boot_2', isFenced: false });
  await ledger.hold(command);
  expect(asked).toEqual([
    { ...command, boot: 'boot_1' },
    { ...command, boot: 'boot_2' },
  ]);
});
