// The audit over real files: books that are right, and each kind of damage, planted by hand with
// the triggers taken away. It is named exactly, with the account that it belongs to.

import { describe, expect, test } from 'bun:test';
import { ACCOUNTS_PAGE, accountPages } from '../../src/ledger/audit/pages.ts';
import {
  audit,
  type Difference,
  findDifferences,
  type LiveRequests,
} from '../../src/ledger/audit.ts';
import {
  describeOnEachDatabase,
  dropGuards,
  tamper,
  temporaryDirectory,
} from '../support/database.ts';
import {
  addAccount,
  closeBooks,
  fundAccount,
  holdOf,
  NOW,
  type OpenBooks,
  openBooks,
  releaseOf,
  settleOf,
} from '../support/ledger.ts';

const directory = temporaryDirectory();

const DIGEST = 'd1';

/** Two customers: one of everything that the books know, and one who must not be touched by it. */
async function storyBooks(): Promise<OpenBooks> {
  const open = await openBooks(directory);
  const { ledger, database } = open;
  for (const id of ['ada', 'bob']) await fundAccount(open, id, 1_000n);
  await addAccount(open, 'eve');
  for (const id of ['ada', 'bob']) {
    await ledger.hold(holdOf(`${id}-settled`, id, 30n));
    await ledger.settle(settleOf(`${id}-settled`, 15n));
    await ledger.hold(holdOf(`${id}-released`, id, 30n));
    await ledger.release(releaseOf(`${id}-released`));
  }
  await tamper(
    database,
    `INSERT INTO redemption_codes (digest, masked, amount, reason, created_at) VALUES ('${DIGEST}', 'm', 50, 'gift', 1)`,
  );
  await ledger.redeem({ digest: DIGEST, accountId: 'ada', nowMs: NOW });
  await ledger.hold(holdOf('ada-lost', 'ada', 800n));
  await ledger.hold(holdOf('ada-open', 'ada', 100n));
  await ledger.settle(settleOf('ada-lost', 1_000n));
  return open;
}

const ENTRY = 'transfer_id, ledger_account, amount, kind, at';

const lineOf = ({ kind, accountId, subject, detail }: Difference): string =>
  `${kind} ${accountId} ${subject}: ${detail}`;

async function damaged(...statements: string[]): Promise<unknown[]> {
  const open = await storyBooks();
  expect(await audit(open.database)).toEqual([]);
  await dropGuards(open.database);
  for (const statement of statements) await tamper(open.database, statement);
  const differences = await audit(open.database);
  const ofAda = await Array.fromAsync(findDifferences(open.database, { accountId: 'ada' }));
  // Looked at alone, an account shows what is its own.
  expect(ofAda).toEqual(differences.filter(({ accountId }) => accountId === 'ada'));
  await closeBooks(open);
  return differences.map(lineOf);
}

const DAMAGE: readonly (readonly [string, string | readonly string[], readonly string[]])[] = [
  [
    'a raised balance',
    "UPDATE balances SET posted = posted + 7 WHERE account_id = 'ada'",
    [
      'posted ada ada: its entries sum to 0.0001, and 0.000107 is posted',
      'chain ada ada: its last receipt leaves 0.0001, and 0.000107 is posted',
    ],
  ],
  [
    'a raised balance of an account without a movement',
    "UPDATE balances SET posted = 7, held = 2 WHERE account_id = 'eve'",
    [
      'posted eve eve: its entries sum to 0, and 0.000007 is posted',
      'held eve eve: its open holds sum to 0, and 0.000002 is held',
    ],
  ],
  [
    'a balance that is gone',
    "DELETE FROM balances WHERE account_id = 'ada'",
    [
      'posted ada ada: its entries sum to 0.0001, and it has no balance',
      'chain ada ada: its last receipt leaves 0.0001, and nothing is posted',
    ],
  ],
  [
    'an open hold of another size',
    "UPDATE holds SET amount = 99 WHERE request_id = 'ada-open'",
    ['held ada ada: its open holds sum to 0.000099, and 0.0001 is held'],
  ],
  [
    'a transfer with a leg too much',
    `INSERT INTO ledger_entries (${ENTRY}) VALUES ('settle:ada-settled', 'operator:gone', 3, 'settle', 1)`,
    ['transfer ada settle:ada-settled: its legs sum to 0.000003'],
  ],
  [
    'a transfer of the operator alone',
    `INSERT INTO ledger_entries (${ENTRY}) VALUES ('odd', 'operator:credits', 7, 'credit', 1)`,
    ['transfer null odd: its legs sum to 0.000007'],
  ],
  [
    'a usage record of another amount',
    "UPDATE usage_records SET debited = 14, charged = 14 WHERE request_id = 'ada-settled'",
    [
      'debited ada ada-settled: the entries say 0.000015, the usage record says 0.000014',
      'receipt ada ada-settled: its receipt says 0.000015, and the books say 0.000014',
    ],
  ],
  [
    'a usage record of another loss',
    "UPDATE usage_records SET loss = 51, charged = 986 WHERE request_id = 'ada-lost'",
    ['loss ada ada-lost: the entries say 0.000065, the usage record says 0.000051'],
  ],
  [
    'a usage record that does not add up',
    "UPDATE usage_records SET charged = 16 WHERE request_id = 'ada-settled'",
    ['charged ada ada-settled: 0.000015 debited and 0 lost are not the 0.000016 charged'],
  ],
  [
    'a usage record that is gone',
    "DELETE FROM usage_records WHERE request_id = 'ada-settled'",
    [
      'debited ada ada-settled: 0.000015 was taken, and no usage record tells of it',
      'record ada ada-settled: its hold has ended without a usage record',
      'receipt ada ada-settled: its receipt says 0.000015, and the books know nothing of it',
    ],
  ],
  [
    'a usage record of somebody else',
    "UPDATE usage_records SET account_id = 'eve' WHERE request_id = 'ada-released'",
    ['record ada ada-released: its usage record belongs to another account'],
  ],
  [
    'an open hold with a usage record',
    "UPDATE holds SET phase = 'held', ended_at = null WHERE request_id = 'ada-released'",
    [
      'held ada ada: its open holds sum to 0.00013, and 0.0001 is held',
      'record ada ada-released: its hold is open, and it has a usage record',
    ],
  ],
  [
    'a hold that is gone',
    "DELETE FROM holds WHERE request_id = 'ada-released'",
    ['record ada ada-released: there is a usage record, and there was no hold'],
  ],
  [
    'an open hold that has ended',
    `UPDATE holds SET ended_at = ${NOW + 1} WHERE request_id = 'ada-open'`,
    [
      'held ada ada: its open holds sum to 0, and 0.0001 is held',
      'phase ada ada-open: it is held, and it has ended',
      'record ada ada-open: its hold has ended without a usage record',
      'receipt ada ada-open: it has ended, and no receipt tells of it',
    ],
  ],
  [
    'an ended hold without an end',
    "UPDATE holds SET phase = 'settled' WHERE request_id = 'ada-open'",
    ['phase ada ada-open: it is settled, and it has not ended'],
  ],
  [
    'a hold that was dispatched and is held',
    "UPDATE holds SET dispatched_at = 1 WHERE request_id = 'ada-open'",
    ['phase ada ada-open: it is held, and it was dispatched'],
  ],
  [
    'a hold with a checkpoint that is held',
    "UPDATE holds SET checkpoint_at = 1 WHERE request_id = 'ada-open'",
    ['phase ada ada-open: it is held, and it has a checkpoint'],
  ],
  [
    'a dispatched hold that never was',
    "UPDATE holds SET phase = 'dispatched' WHERE request_id = 'ada-open'",
    ['phase ada ada-open: it is dispatched since never'],
  ],
  [
    'a receipt that is gone',
    "DELETE FROM receipts WHERE subject = 'ada-released'",
    [
      'receipt ada ada-released: it has ended, and no receipt tells of it',
      'chain ada ada: receipt 3: missing. The receipts from 3 to 3 are not there.',
    ],
  ],
  [
    'the last receipt of a credit that is gone',
    "DELETE FROM receipts WHERE subject = 'credit:opening-bob' OR account_id = 'bob'",
    [
      'receipt bob credit:opening-bob: 0.001 moved, and no receipt tells of it',
      'receipt bob bob-settled: it has ended, and no receipt tells of it',
      'receipt bob bob-released: it has ended, and no receipt tells of it',
    ],
  ],
  [
    'a changed receipt',
    "UPDATE receipts SET body = replace(body, 'completed', 'stopped_balance') WHERE subject = 'ada-settled'",
    [
      'receipt ada ada-settled: the hash beside its receipt is another',
      'chain ada ada: receipt 2: changed. Its hash is not the one that receipt 3 names.',
    ],
  ],
  [
    'a receipt under another number',
    "UPDATE receipts SET sequence = 9 WHERE subject = 'ada-lost'",
    ['receipt ada ada-lost: its receipt has another number'],
  ],
  [
    'a receipt under another name',
    "UPDATE receipts SET subject = 'nobody' WHERE subject = 'ada-released'",
    [
      'receipt ada ada-released: it has ended, and no receipt tells of it',
      'receipt ada nobody: its receipt is of another',
    ],
  ],
  [
    'a code that was redeemed without an entry',
    "INSERT INTO redemption_codes VALUES ('d2', 'm', 9, 'gift', 1, null, null, 2, 'ada')",
    ['redemption ada d2: it was redeemed, and no entry of its amount is there'],
  ],
  [
    'a code whose entry is of another amount',
    `UPDATE redemption_codes SET amount = 51 WHERE digest = '${DIGEST}'`,
    [
      'redemption ada d1: 0.00005 was booked, and no code of that amount was redeemed',
      'redemption ada d1: it was redeemed, and no entry of its amount is there',
    ],
  ],
  [
    'a code that was booked and is still good',
    `UPDATE redemption_codes SET redeemed_at = null, redeemed_by = null WHERE digest = '${DIGEST}'`,
    ['redemption ada d1: 0.00005 was booked, and no code of that amount was redeemed'],
  ],
  [
    'a code that somebody redeemed at no time',
    "INSERT INTO redemption_codes VALUES ('d2', 'm', 9, 'gift', 1, null, null, 2, null)",
    ['redemption null d2: it was redeemed, and no entry of its amount is there'],
  ],
];

describeOnEachDatabase('the audit', () => {
  describe('the audit names', () => {
    test.each(DAMAGE)('%s', async (_name, statements, expected) => {
      expect(await damaged(...[statements].flat())).toEqual([...expected]);
    });

    test('each of two damages in two accounts', async () => {
      const found = await damaged(
        "UPDATE balances SET posted = posted + 7 WHERE account_id = 'bob'",
        "UPDATE holds SET amount = 99 WHERE request_id = 'ada-open'",
      );
      expect(found.map((line) => String(line).split(' ').slice(0, 2).join(' '))).toEqual([
        'held ada',
        'posted bob',
        'chain bob',
      ]);
    });
  });

  describe('against what is under way', () => {
    const CLAIM = { requestId: 'ada-open', accountId: 'ada', startedAt: NOW };

    async function live(live: LiveRequests, accountId?: string): Promise<unknown[]> {
      const open = await storyBooks();
      const scope = accountId === undefined ? { live } : { live, accountId };
      const differences = await Array.fromAsync(findDifferences(open.database, scope));
      await closeBooks(open);
      return differences.map(lineOf);
    }

    test('a hold has a request', async () => {
      const createdBefore = NOW + 1;
      const lost =
        'orphan ada ada-open: its hold is open, and the request is not under way any more';
      expect(await live({ requests: ['ada-open'], claims: [CLAIM], createdBefore })).toEqual([]);
      expect(await live({ requests: [], claims: [], createdBefore })).toEqual([lost]);
      expect(await live({ requests: [], claims: [], createdBefore }, 'bob')).toEqual([]);
      expect(await live({ requests: [], claims: [], createdBefore: NOW })).toEqual([]);
      // What another node has under way is not known here.
      const ofNobody = { requests: [], claims: [], createdBefore };
      expect(await live({ ...ofNobody, boot: 'boot_other' })).toEqual([]);
      expect(await live({ ...ofNobody, boot: '' })).toEqual([lost]);
    });

    test('a request with a claim has a hold of its account, once it had the time', async () => {
      const claims = [
        CLAIM,
        { requestId: 'none', accountId: 'bob', startedAt: NOW },
        { requestId: 'bob-settled', accountId: 'eve', startedAt: NOW },
      ];
      const requests = claims.map(({ requestId }) => requestId);
      const none = 'unheld bob none: it is under way, and nothing is held for it';
      expect(await live({ requests, claims, createdBefore: NOW + 1 })).toEqual([
        none,
        'unheld eve bob-settled: it is under way, and its hold belongs to another account',
      ]);
      expect(await live({ requests, claims, createdBefore: NOW + 1 }, 'bob')).toEqual([none]);
      expect(await live({ requests, claims, createdBefore: NOW })).toEqual([]);
    });

    test('a claim on the limits has a request', async () => {
      const claims = [CLAIM, { requestId: 'bob-settled', accountId: 'bob', startedAt: NOW }];
      expect(await live({ requests: ['ada-open'], claims, createdBefore: NOW + 1 })).toEqual([
        'lease bob bob-settled: it has a claim on the limits, and it is not under way any more',
      ]);
    });
  });

  test('books from before there were receipts are whole', async () => {
    const open = await storyBooks();
    await dropGuards(open.database);
    await tamper(open.database, 'DELETE FROM receipts');
    expect(await audit(open.database)).toEqual([]);
    await open.ledger.hold({ ...holdOf('later', 'bob', 30n), nowMs: NOW + 10 });
    await open.ledger.settle({ ...settleOf('later', 15n), nowMs: NOW + 11 });
    expect(await audit(open.database)).toEqual([]);
    await closeBooks(open);
  });

  test('a balance that was wrong for a while leaves no mark on the receipts of that time', async () => {
    const open = await storyBooks();
    await tamper(open.database, "UPDATE balances SET posted = posted + 5 WHERE account_id = 'bob'");
    await open.ledger.hold(holdOf('meanwhile', 'bob', 30n));
    await open.ledger.settle(settleOf('meanwhile', 15n));
    expect(
      (await audit(open.database)).map(({ kind, accountId }) => `${kind} ${accountId}`),
    ).toEqual(['posted bob', 'chain bob']);
    await tamper(open.database, "UPDATE balances SET posted = posted - 5 WHERE account_id = 'bob'");
    expect(await audit(open.database)).toEqual([]);
    await closeBooks(open);
  });

  test('a table that is longer than one look, while others write', async () => {
    const open = await openBooks(directory);
    await fundAccount(open, 'ada', 10n ** 9n);
    const ends: Promise<unknown>[] = [];
    for (let at = 0; at < 1_200; at += 1) {
      ends.push(open.ledger.hold(holdOf(`r${at}`, 'ada', 30n)));
      ends.push(open.ledger.settle(settleOf(`r${at}`, 15n)));
    }
    await Promise.all(ends);
    const found = findDifferences(open.database);
    const writing = (async () => {
      for (let at = 0; at < 300; at += 1) {
        await open.ledger.hold(holdOf(`w${at}`, 'ada', 30n));
        await open.ledger.settle(settleOf(`w${at}`, 15n));
      }
    })();
    expect(await Array.fromAsync(found)).toEqual([]);
    await writing;
    expect(await audit(open.database)).toEqual([]);
    await closeBooks(open);
  });

  test('what is wrong behind the first look at a long table', async () => {
    const open = await openBooks(directory);
    await fundAccount(open, 'ada', 10n ** 9n);
    const ends: Promise<unknown>[] = [];
    for (let at = 0; at < 2_100; at += 1) {
      ends.push(open.ledger.hold(holdOf(`r${at}`, 'ada', 30n)));
      ends.push(open.ledger.settle(settleOf(`r${at}`, 15n)));
    }
    await Promise.all(ends);
    await tamper(
      open.database,
      `INSERT INTO ledger_entries (${ENTRY}) VALUES ('settle:r2090', 'operator:gone', 3, 'settle', 1)`,
    );
    await open.ledger.hold(holdOf('late', 'ada', 30n));
    const live = { requests: [], claims: [], createdBefore: NOW + 1 };
    const found = await Array.fromAsync(findDifferences(open.database, { live }));
    expect(found.map(({ kind, subject }) => `${kind} ${subject}`)).toEqual([
      'transfer settle:r2090',
      'orphan late',
    ]);
    await closeBooks(open);
  });

  test('a number of accounts that fills its pages to the last row is read once', async () => {
    const open = await openBooks(directory);
    for (let n = 0; n < ACCOUNTS_PAGE; n += 1) await addAccount(open, `a${n}`);
    const pages = await Array.fromAsync(accountPages(open.database, undefined));
    expect(pages.map((page) => page.length)).toEqual([ACCOUNTS_PAGE]);
    await closeBooks(open);
  });
});
