// Events of a simulated gateway outside of requests: payments, clock jumps, incidents and disk
// failures.

import { micro } from '../../src/core/money.ts';
import type { IncidentLimits } from '../../src/core/plan.ts';
import { redemptionCodes } from '../../src/store/money-tables.ts';
import type { CustomerAccount } from './customer.ts';
import type { FaultCounter } from './faults.ts';
import type { Gateway } from './gateway.ts';
import type { World } from './world.ts';

export type Stage = {
  readonly world: World;
  readonly faults: FaultCounter;
  /** Undefined while none is alive. */
  readonly gateway: () => Gateway | undefined;
  /** No new troubles: requests in progress finish. */
  readonly isOver: () => boolean;
};

const MICRO = 1_000_000n;

/** The delay of a retry without an answer. */
const AGAIN_MS = 500;

/** Does `work` again and again, about that often. */
export function repeat(stage: Stage, everyMs: number, work: () => void): void {
  const { world, isOver } = stage;
  world.after(world.between(everyMs / 2, everyMs * 2), () => {
    if (isOver()) return;
    work();
    repeat(stage, everyMs, work);
  });
}

/** Money comes in all the time, as credits and as codes, and each is sent more than once. */
export function payIn(stage: Stage, account: CustomerAccount, paidIn: Map<string, bigint>): void {
  const { world, isOver } = stage;
  let number = 0;
  const next = (): void => {
    if (isOver()) return;
    const amount = BigInt(world.between(1, account.id === 'acct_poor' ? 9_000 : 120_000)) * MICRO;
    const id = `${account.id}-${number}`;
    number += 1;
    paidIn.set(account.id, (paidIn.get(account.id) ?? 0n) + amount);
    const pay = world.chance(0.2)
      ? redemption(stage, account, id, amount)
      : credit(stage, account, id, amount);
    pay();
    world.after(world.between(1_000, 8_000), next);
  };
  next();
}

/** Sends until it has been acknowledged, and then some more. */
function insist(
  { world, faults, gateway }: Stage,
  fault: 'credited twice' | 'redeemed twice',
  send: (node: Gateway) => Promise<unknown>,
): () => void {
  let more = world.between(1, 3);
  let tries = 0;
  const again = (): void => world.after(world.between(1, AGAIN_MS), attempt);
  const attempt = (): void => {
    const node = gateway();
    if (node === undefined) {
      again();
      return;
    }
    tries += 1;
    if (tries > 1) faults.count(fault);
    let answered = false;
    // A gateway that dies does not answer; the payer does not wait for ever.
    world.after(10_000, () => {
      if (!answered) attempt();
      answered = true;
    });
    const answer = (isDone: boolean): void => {
      if (answered) return;
      answered = true;
      if (isDone) more -= 1;
      if (more > 0) again();
    };
    send(node).then(
      () => answer(true),
      () => answer(false),
    );
  };
  return attempt;
}

function credit(
  stage: Stage,
  account: CustomerAccount,
  creditId: string,
  amount: bigint,
): () => void {
  return insist(stage, 'credited twice', ({ ledger }) =>
    ledger.credit({
      creditId,
      accountId: account.id,
      kind: 'credit',
      amount: micro(amount),
      reason: 'simulated',
      nowMs: stage.world.wall(),
    }),
  );
}

function redemption(
  stage: Stage,
  account: CustomerAccount,
  digest: string,
  amount: bigint,
): () => void {
  const redeem = insist(stage, 'redeemed twice', async ({ ledger }) => {
    const result = await ledger.redeem({
      digest,
      accountId: account.id,
      nowMs: stage.world.wall(),
    });
    if (result.kind === 'refused') throw new Error(`${digest} was refused: ${result.why}`);
  });
  const create = async (): Promise<void> => {
    const node = stage.gateway();
    try {
      if (node === undefined) throw new Error('no node is alive');
      const code = { digest, masked: '', amount: micro(amount), reason: 'simulated', createdAt: 0 };
      await node.database.db.insert(redemptionCodes).values(code).run();
    } catch {
      stage.world.after(AGAIN_MS, create);
      return;
    }
    redeem();
  };
  return create;
}

const JUMPS_MS = [86_400_000, 3_600_000, 10_000, 1_000];

export function jumpClock({ world, faults }: Stage): void {
  faults.count('clock');
  world.jump(world.pick(JUMPS_MS) * world.pick([1, -1]));
}

export function changeIncident(
  { world, faults }: Stage,
  incidents: Map<string, IncidentLimits>,
): void {
  const model = world.pick(['first', 'second']);
  if (incidents.delete(model)) return;
  faults.count('incident');
  incidents.set(
    model,
    world.pick([{ concurrentRequests: 1 }, { requestsPerMinute: 5 }, { tokensPerMinute: 20_000 }]),
  );
}

export function breakDisk({ world, faults, gateway }: Stage): void {
  const node = gateway();
  if (node === undefined) return;
  faults.count('disk');
  node.breakDisk(true);
  world.after(world.between(10, 3_000), () => {
    if (gateway() === node) node.breakDisk(false);
  });
}
