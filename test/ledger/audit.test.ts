// The audit over real files: correct ledgers, and each kind of damage, made by hand with the
// triggers removed. Each difference is reported exactly, with its account.

import { describe, expect, test } from 'bun:test';
import { micro } from '../../src/core/money.ts';
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

const DAMAGE: readonly (readonly [string, string, readonly string[]])[] = [
  [
    'a raised balance',
    "UPDATE balances SET posted = posted + 7 WHERE account_id = 'ada'",
    [
      'chain ada ada: its last receipt leaves 0.0001, and 0.000107 is posted',
      'posted ada ada: its entries sum to 0.0001, and 0.000107 is posted',
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
      'posted ada ada: it has no balance',
      'record null ada-settled: it belongs to no account that has a balance',
      'record null ada-released: it belongs to no account that has a balance',
      'record null ada-lost: it belongs to no account that has a balance',
      'record null credit:opening-ada: it belongs to no account that has a balance',
      'record null redemption:d1: it belongs to no account that has a balance',
      'record null ada-open: its hold belongs to no account that has a balance',
      'redemption ada d1: it was redeemed, and no entry of its amount is there',
    ],
  ],
  [
    'a balance that names another last receipt',
    "UPDATE balances SET sequence = 2 WHERE account_id = 'bob'",
    ['chain bob bob: its last receipt is 3, and its balance names 2'],
  ],
  [
    'a balance that names another hash',
    "UPDATE balances SET head = {bob-released} WHERE account_id = 'bob'",
    ['chain bob bob: its balance names another hash than its last receipt has'],
  ],
  [
    'a balance that forgets its receipts',
    "UPDATE balances SET sequence = 0, head = null, receipted = 0 WHERE account_id = 'bob'",
    [
      'chain bob bob: its last receipt leaves 0.000985, and the next one would begin with 0',
      'chain bob bob: its last receipt is 3, and its balance names 0',
      'chain bob bob: its balance names another hash than its last receipt has',
    ],
  ],
  [
    'an open hold of another size',
    'UPDATE open_holds SET amount = 99 WHERE id = {ada-open}',
    ['held ada ada: its open holds sum to 0.000099, and 0.0001 is held'],
  ],
  [
    'an open hold that is gone',
    'DELETE FROM open_holds WHERE id = {ada-open}',
    ['held ada ada: its open holds sum to 0, and 0.0001 is held'],
  ],
  [
    'an open hold of a request that has ended',
    'UPDATE open_holds SET id = {ada-released} WHERE id = {ada-open}',
    ['record ada ada-released: its hold is open, and it has ended'],
  ],
  [
    'an open hold of no account',
    'UPDATE open_holds SET account = 99 WHERE id = {ada-open}',
    [
      'held ada ada: its open holds sum to 0, and 0.0001 is held',
      'record null ada-open: its hold belongs to no account that has a balance',
    ],
  ],
  [
    'a hold with output before its checkpoint',
    'UPDATE open_holds SET output_tokens = 1 WHERE id = {ada-open}',
    [
      'record ada ada-open: its hold has progress without a checkpoint, or a checkpoint of no upstream',
    ],
  ],
  [
    'a hold with a checkpoint of no upstream',
    'UPDATE open_holds SET checkpoint_at = 1 WHERE id = {ada-open}',
    [
      'record ada ada-open: its hold has progress without a checkpoint, or a checkpoint of no upstream',
    ],
  ],
  [
    'a request of another charge',
    'UPDATE requests SET charged = 14 WHERE id = {ada-settled}',
    [
      'chain ada ada: receipt 2: charge. The tokens cost 0.000015, and 0.000014 was charged.',
      'chain ada ada: receipt 2: balance. The balance would be 0.000986, and is 0.000985.',
      'receipt ada ada-settled: it says something else than when its receipt was hashed',
      'posted ada ada: its entries sum to 0.000101, and 0.0001 is posted',
    ],
  ],
  [
    'a request of another charge and as much more loss',
    'UPDATE requests SET charged = 16, loss = 1 WHERE id = {ada-settled}',
    [
      'chain ada ada: receipt 2: charge. The tokens cost 0.000015, and 0.000016 was charged.',
      'receipt ada ada-settled: it says something else than when its receipt was hashed',
    ],
  ],
  [
    'a last request of another loss',
    'UPDATE requests SET loss = 51 WHERE id = {ada-lost}',
    [
      'chain ada ada: receipt 5: balance. The balance would be 0.000086, and is 0.0001.',
      'receipt ada ada-lost: it says something else than when its receipt was hashed',
      'posted ada ada: its entries sum to 0.000086, and 0.0001 is posted',
    ],
  ],
  [
    'a request of another outcome',
    'UPDATE requests SET outcome = 1 WHERE id = {ada-settled}',
    ['receipt ada ada-settled: it says something else than when its receipt was hashed'],
  ],
  [
    'a last request of another outcome',
    'UPDATE requests SET outcome = 1 WHERE id = {bob-released}',
    ['receipt bob bob-released: it says something else than when its receipt was hashed'],
  ],
  [
    'a request of another usage',
    'UPDATE requests SET output_tokens = 11 WHERE id = {ada-settled}',
    ['receipt ada ada-settled: it says something else than when its receipt was hashed'],
  ],
  [
    'a request under another name',
    'UPDATE requests SET id = {unknown} WHERE id = {ada-released}',
    ['receipt ada unknown: it says something else than when its receipt was hashed'],
  ],
  [
    'a request under another number',
    'UPDATE requests SET sequence = 9 WHERE id = {ada-lost}',
    [
      'chain ada ada: receipt 5: missing. The receipts from 5 to 8 are not there.',
      'chain ada ada: its last receipt is 9, and its balance names 5',
    ],
  ],
  [
    'a request of another model',
    "UPDATE texts SET text = 'swift-2' WHERE text = 'swift-1'",
    [
      'receipt ada ada-settled: it says something else than when its receipt was hashed',
      'receipt ada ada-released: it says something else than when its receipt was hashed',
      'receipt ada ada-lost: it says something else than when its receipt was hashed',
      'receipt bob bob-settled: it says something else than when its receipt was hashed',
      'receipt bob bob-released: it says something else than when its receipt was hashed',
    ],
  ],
  [
    'a request of a model without a name',
    "DELETE FROM texts WHERE text = 'swift-1'",
    [
      'chain ada ada: receipt 2: missing. The receipts from 2 to 3 are not there.',
      'chain ada ada: its last receipt leaves 0.001035, and 0.0001 is posted',
      'chain ada ada: its last receipt leaves 0.001035, and the next one would begin with 0.0001',
      'chain ada ada: its balance names another hash than its last receipt has',
      'posted ada ada: its entries sum to 0.00105, and 0.0001 is posted',
      'chain bob bob: its last receipt leaves 0.001, and 0.000985 is posted',
      'chain bob bob: its last receipt leaves 0.001, and the next one would begin with 0.000985',
      'chain bob bob: its balance names another hash than its last receipt has',
      'posted bob bob: its entries sum to 0.001, and 0.000985 is posted',
    ],
  ],
  [
    'a request at another price',
    "UPDATE price_versions SET output = 700000 WHERE version = 'swift-1@1'",
    [
      'chain ada ada: receipt 2: charge. The tokens cost 0.000016, and 0.000015 was charged.',
      'receipt ada ada-settled: it says something else than when its receipt was hashed',
      'receipt ada ada-released: it says something else than when its receipt was hashed',
      'chain ada ada: receipt 5: charge. The tokens cost 0.001167, and 0.001 was charged.',
      'receipt ada ada-lost: it says something else than when its receipt was hashed',
      'chain bob bob: receipt 2: charge. The tokens cost 0.000016, and 0.000015 was charged.',
      'receipt bob bob-settled: it says something else than when its receipt was hashed',
      'receipt bob bob-released: it says something else than when its receipt was hashed',
    ],
  ],
  [
    'a request that is gone',
    'DELETE FROM requests WHERE id = {ada-settled}',
    [
      'chain ada ada: receipt 2: missing. The receipts from 2 to 2 are not there.',
      'posted ada ada: its entries sum to 0.000115, and 0.0001 is posted',
    ],
  ],
  [
    'the last request that is gone',
    'DELETE FROM requests WHERE id = {bob-released}',
    [
      'chain bob bob: its last receipt is 2, and its balance names 3',
      'chain bob bob: its balance names another hash than its last receipt has',
    ],
  ],
  [
    'a request of another account',
    "UPDATE requests SET account = (SELECT number FROM balances WHERE account_id = 'eve') WHERE id = {ada-released}",
    [
      'chain ada ada: receipt 3: missing. The receipts from 3 to 3 are not there.',
      'chain eve eve: receipt 3: beginning. This receipt names none before it.',
      'chain eve eve: its last receipt leaves 0.000985, and 0 is posted',
      'chain eve eve: its last receipt leaves 0.000985, and the next one would begin with 0',
      'chain eve eve: its last receipt is 3, and its balance names 0',
      'chain eve eve: its balance names another hash than its last receipt has',
    ],
  ],
  [
    'a request of no account',
    'UPDATE requests SET account = 99 WHERE id = {bob-released}',
    [
      'chain bob bob: its last receipt is 2, and its balance names 3',
      'chain bob bob: its balance names another hash than its last receipt has',
      'record null bob-released: it belongs to no account that has a balance',
    ],
  ],
  [
    'a request that was released and charged',
    'UPDATE requests SET ending = 1 WHERE id = {ada-settled}',
    ['record ada ada-settled: it was released, and it was charged'],
  ],
  [
    'a receipt of another hash',
    'UPDATE requests SET hash = {bob-released} WHERE id = {ada-settled}',
    [
      'receipt ada ada-settled: it says something else than when its receipt was hashed',
      'receipt ada ada-released: it says something else than when its receipt was hashed',
    ],
  ],
  [
    'a movement of another amount',
    "UPDATE movements SET amount = 999 WHERE transfer_id = 'credit:opening-bob'",
    [
      'receipt bob credit:opening-bob: it says something else than when its receipt was hashed',
      'posted bob bob: its entries sum to 0.000984, and 0.000985 is posted',
    ],
  ],
  [
    'a movement of another kind',
    "UPDATE movements SET kind = 1 WHERE transfer_id = 'credit:opening-bob'",
    ['receipt bob credit:opening-bob: it says something else than when its receipt was hashed'],
  ],
  [
    'a movement that is gone',
    "DELETE FROM movements WHERE transfer_id = 'credit:opening-bob'",
    [
      'chain bob bob: receipt 2: beginning. This receipt names none before it.',
      'posted bob bob: its entries sum to -0.000015, and 0.000985 is posted',
    ],
  ],
  [
    'a movement of no account',
    "UPDATE movements SET account = 99 WHERE transfer_id = 'credit:opening-bob'",
    [
      'chain bob bob: receipt 2: beginning. This receipt names none before it.',
      'posted bob bob: its entries sum to -0.000015, and 0.000985 is posted',
      'record null credit:opening-bob: it belongs to no account that has a balance',
    ],
  ],
  [
    'a movement that no balance knows',
    "INSERT INTO movements (transfer_id, account, kind, amount, at, reason, sequence, posted, reserved, hash) SELECT 'credit:forged', account, 0, 5, 1, 'forged', 4, 990, 0, hash FROM movements WHERE transfer_id = 'credit:opening-bob'",
    [
      'receipt bob credit:forged: it says something else than when its receipt was hashed',
      'chain bob bob: its last receipt leaves 0.00099, and 0.000985 is posted',
      'chain bob bob: its last receipt leaves 0.00099, and the next one would begin with 0.000985',
      'chain bob bob: its last receipt is 4, and its balance names 3',
      'chain bob bob: its balance names another hash than its last receipt has',
      'posted bob bob: its entries sum to 0.00099, and 0.000985 is posted',
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
    'a code that is redeemed without a time',
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
        'UPDATE open_holds SET amount = 99 WHERE id = {ada-open}',
      );
      expect(found.map((line) => String(line).split(' ').slice(0, 2).join(' '))).toEqual([
        'held ada',
        'chain bob',
        'posted bob',
      ]);
    });
  });

  describe('against the requests in progress', () => {
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
      const lost = 'orphan ada ada-open: its hold is open, and the request is no longer running';
      expect(await live({ requests: ['ada-open'], claims: [CLAIM], createdBefore })).toEqual([]);
      expect(await live({ requests: [], claims: [], createdBefore })).toEqual([lost]);
      expect(await live({ requests: [], claims: [], createdBefore }, 'bob')).toEqual([]);
      expect(await live({ requests: [], claims: [], createdBefore: NOW })).toEqual([]);
      // Requests in progress on another node are not known here.
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
      const none = 'unheld bob none: it is running, and nothing is held for it';
      expect(await live({ requests, claims, createdBefore: NOW + 1 })).toEqual([
        none,
        'unheld eve bob-settled: it is running, and its hold belongs to another account',
      ]);
      expect(await live({ requests, claims, createdBefore: NOW + 1 }, 'bob')).toEqual([none]);
      expect(await live({ requests, claims, createdBefore: NOW })).toEqual([]);
    });

    test('a claim on the limits has a request', async () => {
      const claims = [CLAIM, { requestId: 'bob-settled', accountId: 'bob', startedAt: NOW }];
      expect(await live({ requests: ['ada-open'], claims, createdBefore: NOW + 1 })).toEqual([
        'lease bob bob-settled: it has a claim on the limits, and it is no longer running',
      ]);
    });
  });

  test('a balance that was wrong for a while leaves no mark on the receipts of that time', async () => {
    const open = await storyBooks();
    await tamper(open.database, "UPDATE balances SET posted = posted + 5 WHERE account_id = 'bob'");
    await open.ledger.hold(holdOf('between', 'bob', 30n));
    await open.ledger.settle(settleOf('between', 15n));
    expect(
      (await audit(open.database)).map(({ kind, accountId }) => `${kind} ${accountId}`),
    ).toEqual(['chain bob', 'posted bob']);
    await tamper(open.database, "UPDATE balances SET posted = posted - 5 WHERE account_id = 'bob'");
    expect(await audit(open.database)).toEqual([]);
    await closeBooks(open);
  });

  test('a table that is longer than one look, while others write', async () => {
    await using open = await openBooks(directory);
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
  });

  test('a budget that has counted something else than its keys were charged', async () => {
    await using open = await openBooks(directory);
    for (const id of ['ada', 'bob']) {
      await fundAccount(open, id, 1_000n);
      const key = { family: `key-${id}`, keyId: `key-${id}` };
      const limits = { total: micro(500n) };
      await open.ledger.budget({ ...key, accountId: id, limits, nowMs: NOW });
      await open.ledger.hold({ ...holdOf(`${id}-1`, id, 30n), keyId: `key-${id}` });
      await open.ledger.settle(settleOf(`${id}-1`, 15n));
    }
    expect(await audit(open.database)).toEqual([]);
    await dropGuards(open.database);
    const ofAda = "(SELECT number FROM balances WHERE account_id = 'ada')";
    await tamper(
      open.database,
      `UPDATE key_budgets SET spent_day = 14, spent_month = 14, spent_total = 14 WHERE account = ${ofAda}`,
    );
    await tamper(open.database, "UPDATE balances SET budgets = 0 WHERE account_id = 'bob'");
    expect((await audit(open.database)).map(lineOf)).toEqual([
      'budget ada key-ada: its keys were charged 0.000015, and its budget has counted 0.000014',
      'budget bob key-bob: it has a budget that no account counts',
    ]);
    const ofBob = await Array.fromAsync(findDifferences(open.database, { accountId: 'bob' }));
    expect(ofBob.map(({ subject }) => subject)).toEqual(['key-bob']);
  });

  test('what is wrong behind the first look at a long table', async () => {
    await using open = await openBooks(directory);
    await fundAccount(open, 'ada', 10n ** 9n);
    const ends: Promise<unknown>[] = [];
    for (let at = 0; at < 2_100; at += 1) {
      ends.push(open.ledger.hold(holdOf(`r${at}`, 'ada', 30n)));
      ends.push(open.ledger.settle(settleOf(`r${at}`, 15n)));
    }
    await Promise.all(ends);
    await dropGuards(open.database);
    await tamper(open.database, 'UPDATE requests SET outcome = 1, ending = 1 WHERE id = {r2090}');
    await open.ledger.hold(holdOf('late', 'ada', 30n));
    const live = { requests: [], claims: [], createdBefore: NOW + 1 };
    const found = await Array.fromAsync(findDifferences(open.database, { live }));
    expect(found.map(({ kind, subject }) => `${kind} ${subject}`)).toEqual([
      'receipt r2090',
      'record r2090',
      'orphan late',
    ]);
  });

  test('a number of accounts that fills its pages to the last row is read once', async () => {
    await using open = await openBooks(directory);
    for (let n = 0; n < ACCOUNTS_PAGE; n += 1) await addAccount(open, `a${n}`);
    const pages = await Array.fromAsync(accountPages(open.database, undefined));
    expect(pages.map((page) => page.length)).toEqual([ACCOUNTS_PAGE]);
  });
});
