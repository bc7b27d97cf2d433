// The answer and the effect of each command, as tables. `balance` shows posted, held and available;
// `entries` the legs of a transfer; `phase` how a hold ended and with which counts.

import { describe, expect, test } from 'bun:test';
import { AMOUNT_MAX, micro, usdRate } from '../../../src/core/money.ts';
import { readReceipt } from '../../../src/core/receipt.ts';
import type { CreditCommand, Settlement } from '../../../src/ledger/contract.ts';
import { recoverAll } from '../../../src/ledger/recover.ts';
import {
  creditOf,
  holdOf,
  NOW,
  outcomeOf,
  PRICE,
  releaseOf,
  settleOf,
} from '../../support/ledger.ts';
import { rows } from '../../support/table.ts';
import type { LedgerUnderTest } from './contract.ts';
import { CHEAP, expectInvariants } from './run.ts';

const TABLES: Record<string, string> = {
  'a request that costs less than its hold': `
    credit c1 ada 100      -> applied, 100 available
    hold r1 ada 30         -> held, 70 available
    balance ada            -> 100 30 70
    settle r1 20           -> debited 20, lost 0, 80 available
    balance ada            -> 80 0 80
    entries settle:r1      -> operator:revenue 20, customer:ada -20
    entries loss:r1        ->
    record r1              -> completed charged 20 debited 20 lost 0 of 30
  `,
  'a hold needs the whole amount': `
    credit c1 ada 100      -> applied, 100 available
    hold r1 ada 101        -> refused, 100 available
    hold r2 ada 100        -> held, 0 available
    hold r3 ada 1          -> refused, 0 available
    hold r4 ada 0          -> held, 0 available
    balance ada            -> 100 100 0
  `,
  'a charge above the hold takes from what is available': `
    credit c1 ada 100      -> applied, 100 available
    hold r1 ada 30         -> held, 70 available
    settle r1 50           -> debited 50, lost 0, 50 available
    entries settle:r1      -> operator:revenue 50, customer:ada -50
    balance ada            -> 50 0 50
  `,
  'and what the account cannot pay is the loss of the gateway': `
    credit c1 ada 100      -> applied, 100 available
    hold r1 ada 30         -> held, 70 available
    hold r2 ada 60         -> held, 10 available
    settle r1 55           -> debited 40, lost 15, 0 available
    balance ada            -> 60 60 0
    entries settle:r1      -> operator:revenue 40, customer:ada -40
    entries loss:r1        -> operator:revenue 15, operator:loss -15
    record r1              -> completed charged 55 debited 40 lost 15 of 30
    settle r2 60           -> debited 60, lost 0, 0 available
    balance ada            -> 0 0 0
  `,
  'a loss without any debit': `
    credit c1 ada 5        -> applied, 5 available
    hold r1 ada 0          -> held, 5 available
    hold r2 ada 5          -> held, 0 available
    settle r1 3            -> debited 0, lost 3, 0 available
    entries settle:r1      ->
    entries loss:r1        -> operator:revenue 3, operator:loss -3
  `,
  'nothing charged, nothing booked': `
    credit c1 ada 100      -> applied, 100 available
    hold r1 ada 30         -> held, 70 available
    settle r1 0            -> debited 0, lost 0, 100 available
    entries settle:r1      ->
    hold r2 ada 30         -> held, 70 available
    release r2             -> debited 0, lost 0, 100 available
    entries settle:r2      ->
    record r2              -> upstream_failed charged 0 debited 0 lost 0 of 30
  `,
  'the first end of a hold counts, regardless of later ones': `
    credit c1 ada 100      -> applied, 100 available
    hold r1 ada 30         -> held, 70 available
    settle r1 20           -> debited 20, lost 0, 80 available
    settle r1 29           -> debited 20, lost 0, 80 available
    release r1             -> debited 20, lost 0, 80 available
    hold r2 ada 30         -> held, 50 available
    release r2             -> debited 0, lost 0, 80 available
    settle r2 30           -> debited 0, lost 0, 80 available
    balance ada            -> 80 0 80
    record r1              -> completed charged 20 debited 20 lost 0 of 30
    record r2              -> upstream_failed charged 0 debited 0 lost 0 of 30
  `,
  'a credit is booked once by its id': `
    credit c1 ada 100      -> applied, 100 available
    credit c1 ada 100      -> booked before, 100 available
    credit c1 ada 99       -> LedgerRefusal: This credit id was used before, for another account, kind or amount.
    credit c1 bob 100      -> LedgerRefusal: This credit id was used before, for another account, kind or amount.
    credit c2 ada 1        -> applied, 101 available
    entries credit:c1      -> customer:ada 100, operator:credits -100
    balance ada            -> 101 0 101
    balance bob            -> 0 0 0
  `,
  'amounts beyond 2^53 are exact, up to the largest': `
    credit c1 ada 9007199254740993    -> applied, 9007199254740993 available
    hold r1 ada 9007199254740992      -> held, 1 available
    settle r1 9007199254740991        -> debited 9007199254740991, lost 0, 2 available
    credit c2 ada 999999999999999998  -> applied, 1000000000000000000 available
    credit c3 ada 1        -> LedgerRefusal: The credit would take the balance above the largest amount.
    hold r2 ada 1          -> held, 999999999999999999 available
    settle r2 ${AMOUNT_MAX} -> debited 1000000000000000000, lost 0, 0 available
    record r2              -> completed charged 1000000000000000000 debited 1000000000000000000 lost 0 of 1
  `,
  'what cannot be carried out': `
    credit c1 ada 10       -> applied, 10 available
    credit c2 ada 0        -> LedgerRefusal: The amount is outside what the ledger accepts.
    grant c2 ada -1        -> LedgerRefusal: The amount is outside what the ledger accepts.
    extend r1 1            -> LedgerRefusal: There is no open hold with this request id.
    redeem open eve        -> LedgerRefusal: There is no account with this id.
    credit c3 ada -5       -> LedgerRefusal: The amount is outside what the ledger accepts.
    credit c4 ada ${AMOUNT_MAX + 1n} -> LedgerRefusal: The amount is outside what the ledger accepts.
    credit c5 eve 1        -> LedgerRefusal: There is no account with this id.
    hold r1 ada -1         -> LedgerRefusal: The amount is outside what the ledger accepts.
    hold r1 eve 1          -> LedgerRefusal: There is no account with this id.
    settle r1 1            -> LedgerRefusal: There is no hold with this request id.
    release r1             -> LedgerRefusal: There is no hold with this request id.
    hold r2 ada 10         -> held, 0 available
    settle r2 -1           -> LedgerRefusal: The amount is outside what the ledger accepts.
    balance ada            -> 10 10 0
  `,
  'a hold that is given again answers as the first did, and reserves nothing more': `
    credit c1 ada 100      -> applied, 100 available
    hold r1 ada 60         -> held, 40 available
    hold r1 ada 60         -> held, 40 available
    extend r1 70           -> held, 30 available
    hold r1 ada 60         -> held, 30 available
    hold r1 ada 71         -> LedgerRefusal: This request id was used before, for another hold.
    hold r1 bob 0          -> LedgerRefusal: This request id was used before, for another hold.
    balance ada            -> 100 70 30
    balance bob            -> 0 0 0
    settle r1 10           -> debited 10, lost 0, 90 available
    hold r1 ada 60         -> LedgerRefusal: This request has ended already.
    hold r1 ada 91         -> LedgerRefusal: This request has ended already.
    balance ada            -> 90 0 90
  `,
  'a hold grows to an amount, not by one': `
    credit c1 ada 100      -> applied, 100 available
    hold r1 ada 30         -> held, 70 available
    extend r1 50           -> held, 50 available
    extend r1 50           -> held, 50 available
    extend r1 40           -> held, 50 available
    extend r1 101          -> refused, 50 available
    balance ada            -> 100 50 50
    extend r1 100          -> held, 0 available
    settle r1 100          -> debited 100, lost 0, 0 available
    extend r1 100          -> LedgerRefusal: There is no open hold with this request id.
    record r1              -> completed charged 100 debited 100 lost 0 of 100
  `,
  'an ending within its hold takes nothing else': `
    credit c1 ada 100      -> applied, 100 available
    hold r1 ada 30         -> held, 70 available
    settle-within r1 50    -> debited 30, lost 20, 70 available
    entries loss:r1        -> operator:revenue 20, operator:loss -20
    record r1              -> completed charged 50 debited 30 lost 20 of 30
  `,
  'grants and adjustments have counter accounts of their own': `
    grant g1 ada 10        -> applied, 10 available
    entries credit:g1      -> customer:ada 10, operator:promotion -10
    adjustment a1 ada 5    -> applied, 15 available
    adjustment a2 ada -7   -> applied, 8 available
    entries credit:a2      -> customer:ada -7, operator:adjustments 7
    adjustment a2 ada -7   -> booked before, 8 available
    adjustment a2 ada -8   -> LedgerRefusal: This credit id was used before, for another account, kind or amount.
    grant a1 ada 5         -> LedgerRefusal: This credit id was used before, for another account, kind or amount.
    adjustment a3 ada 0    -> LedgerRefusal: An adjustment by nothing is not booked.
    hold r1 ada 6          -> held, 2 available
    adjustment a4 ada -3   -> LedgerRefusal: The adjustment would take more than what is available.
    adjustment a4 ada -2   -> applied, 0 available
    balance ada            -> 6 6 0
    receipts ada           -> grant 10, adjustment 5, adjustment -7, adjustment -2
  `,
  'a code is worth its amount once': `
    redeem open ada        -> redeemed 7, 7 available
    redeem open ada        -> redeemed 7, 7 available
    redeem open bob        -> used
    redeem late ada        -> expired
    redeem gone ada        -> revoked
    redeem never ada       -> unknown
    entries redemption:open -> customer:ada 7, operator:promotion -7
    balance ada            -> 7 0 7
    balance bob            -> 0 0 0
    receipts ada           -> redemption 7
    credit c1 bob ${AMOUNT_MAX} -> applied, 1000000000000000000 available
    redeem large bob       -> LedgerRefusal: The credit would take the balance above the largest amount.
    redeem large ada       -> redeemed 9, 16 available
  `,
  'what a process left behind: released where nothing was delivered, else settled': `
    credit c1 ada 1000     -> applied, 1000 available
    hold r1 ada 100        -> held, 900 available
    hold r2 ada 100        -> held, 800 available
    checkpoint r2 0 full   -> done
    hold r3 ada 100        -> held, 700 available
    checkpoint r3 50 full  -> done
    checkpoint r3 40 full  -> done
    hold r4 ada 100        -> held, 600 available
    checkpoint r4 50 full  -> done
    checkpoint r4 50 cheap -> done
    hold r5 ada 20         -> held, 580 available
    checkpoint r5 50 full  -> done
    hold r6 ada 100        -> held, 480 available
    recover ended r6       -> r1 0, r2 15, r3 45, r4 5, r5 20
    recover ended r6       ->
    balance ada            -> 915 100 815
    # A tenth of the price, half up: 100 tokens of prompt and 50 of output are 4.5.
    record r4              -> gateway_failed charged 5 debited 5 lost 0 of 100
    record r5              -> gateway_failed charged 45 debited 20 lost 25 of 20
    phase r1               -> released recovered 0 0
    phase r3               -> settled recovered 100 50
    settle r3 60           -> debited 45, lost 0, 815 available
    release r1             -> debited 0, lost 0, 815 available
    checkpoint r1 99 full  -> LedgerRefusal: There is no open hold with this request id.
    checkpoint r3 99 full  -> LedgerRefusal: There is no open hold with this request id.
    checkpoint r7 99 full  -> LedgerRefusal: There is no open hold with this request id.
    phase r1               -> released recovered 0 0
    phase r3               -> settled recovered 100 50
    receipts ada           -> credit 1000, r1 0 gateway_failed, r2 15 gateway_failed, r3 45 gateway_failed, r4 5 gateway_failed, r5 20 gateway_failed
    recover expired none   -> r6 0
    phase r6               -> expired recovered 0 0
  `,
  'what this very process lost is expired': `
    credit c1 ada 100      -> applied, 100 available
    hold r1 ada 100        -> held, 0 available
    checkpoint r1 0 cheap  -> done
    recover expired none   -> r1 2
    phase r1               -> expired recovered 100 0
    balance ada            -> 98 0 98
  `,
};

export function describeTables(open: () => Promise<LedgerUnderTest>): void {
  describe('tables:', () => {
    test.each(Object.entries(TABLES))('%s', async (_name, text) => {
      const subject = await open();
      for (const account of ['ada', 'bob']) await subject.addAccount(account);
      await subject.addCode({ code: 'open', amount: micro(7n), state: 'open' });
      await subject.addCode({ code: 'large', amount: micro(9n), state: 'open' });
      await subject.addCode({ code: 'late', amount: micro(7n), state: 'expired' });
      await subject.addCode({ code: 'gone', amount: micro(7n), state: 'revoked' });
      for (const { step, expected } of rows(text)) {
        const line = step.join(' ');
        expect(`${line} -> ${await run(subject, step)}`).toBe(`${line} -> ${expected}`);
      }
      await expectInvariants(subject, ['ada', 'bob']);
      expect(await subject.differences()).toEqual([]);
      await subject.close();
    });
  });
}

async function run(subject: LedgerUnderTest, step: readonly string[]): Promise<string> {
  const [verb = ''] = step;
  const looked = await look(subject, step);
  if (looked !== undefined) return looked;
  const outcome = command(subject, step);
  if (outcome === undefined) throw new Error(`no such step: ${verb}`);
  return outcomeOf(outcome);
}

function command(
  { ledger }: LedgerUnderTest,
  [verb, id = '', second = '', third = '']: readonly string[],
): Promise<string> | undefined {
  switch (verb) {
    case 'credit':
    case 'grant':
    case 'adjustment': {
      const credit: CreditCommand = { ...creditOf(id, second, BigInt(third)), kind: verb };
      return ledger
        .credit(credit)
        .then(({ applied, available }) =>
          applied ? `applied, ${available} available` : `booked before, ${available} available`,
        );
    }
    case 'hold':
    case 'extend':
      return (
        verb === 'hold'
          ? ledger.hold(holdOf(id, second, BigInt(third)))
          : ledger.extend({ requestId: id, amount: micro(BigInt(second)) })
      ).then(({ ok, available }) => `${ok ? 'held' : 'refused'}, ${available} available`);
    case 'checkpoint': {
      const price = third === 'full' ? PRICE : CHEAP;
      return ledger
        .checkpoint({
          requestId: id,
          served: { model: 'swift-0', upstream: 'demo', price },
          outputTokens: Number(second),
          reasoningTokens: 0,
          nowMs: NOW + 2,
        })
        .then(() => 'done');
    }
    case 'settle':
      return ledger.settle(settleOf(id, BigInt(second))).then(settled);
    case 'settle-within':
      return ledger.settle({ ...settleOf(id, BigInt(second)), withinHold: true }).then(settled);
    case 'release':
      return ledger.release(releaseOf(id)).then(settled);
    case 'recover': {
      const phase = id === 'expired' ? 'expired' : 'ended';
      const times = { createdBefore: NOW + 1, nowMs: NOW + 3 };
      return recoverAll(ledger, {
        live: [second],
        phase,
        usdPerMillion: usdRate(1n),
        ...times,
      }).then((all) =>
        all
          .map(({ requestId, debited }) => `${requestId} ${debited}`)
          .sort()
          .join(', '),
      );
    }
    case 'redeem':
      return ledger
        .redeem({ digest: id, accountId: second, nowMs: NOW })
        .then((result) =>
          result.kind === 'refused'
            ? result.why
            : `redeemed ${result.amount}, ${result.available} available`,
        );
    default:
      return undefined;
  }
}

function settled({ debited, loss, available }: Settlement): string {
  return `debited ${debited}, lost ${loss}, ${available} available`;
}

async function look(
  subject: LedgerUnderTest,
  [verb, id = '']: readonly string[],
): Promise<string | undefined> {
  switch (verb) {
    case 'balance': {
      const { posted, held, available } = await subject.balance(id);
      return `${posted} ${held} ${available}`;
    }
    case 'entries': {
      const legs = (await subject.legs()).filter((leg) => leg.transferId === id);
      return legs.map((leg) => `${leg.ledgerAccount} ${leg.amount}`).join(', ');
    }
    case 'record': {
      const { record } = (await subject.story(id)) ?? {};
      return `${record?.outcome} charged ${record?.charged} debited ${record?.debited} lost ${record?.loss} of ${record?.held}`;
    }
    case 'phase': {
      const { hold, record } = (await subject.story(id)) ?? {};
      return `${hold?.phase} ${record?.usageBasis} ${record?.inputTokens} ${record?.outputTokens}`;
    }
    case 'receipts':
      return (await subject.receipts(id)).map(receiptLine).join(', ');
    default:
      return undefined;
  }
}

function receiptLine(body: string): string {
  const receipt = readReceipt(body);
  if (receipt === undefined) return 'unreadable';
  if (receipt.kind !== 'request') return `${receipt.kind} ${receipt.amount}`;
  return `${receipt.requestId} ${receipt.debited} ${receipt.outcome}`;
}
