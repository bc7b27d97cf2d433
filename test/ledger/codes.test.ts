// Redemption codes managed by the operator, beside a ledger that redeems them.

import { expect, test } from 'bun:test';
import { micro } from '../../src/core/money.ts';
import { codeDigest, codeId, codeStatus, createCodes, listCodes } from '../../src/ledger/codes.ts';
import {
  connectAgain,
  describeOnEachDatabase,
  newDatabase,
  temporaryDirectory,
} from '../support/database.ts';
import { addAccount, booksOver, closeBooks, NOW, openBooks } from '../support/ledger.ts';

const directory = temporaryDirectory();

const TERMS = { amount: micro(5n), reason: 'spring', expiresAt: NOW + 10, nowMs: NOW };
const [FIRST, SECOND, THIRD] = [
  'AAAAAAAAAAAAAAAA',
  'BBBBBBBBBBBBBBBB',
  'CCCCCCCCCCCCCCCC',
] as const;

describeOnEachDatabase('codes', () => {
  test('codes are listed with what became of them', async () => {
    await using open = await openBooks(directory);
    const { database, ledger } = open;
    const codes = createCodes({ database, onChange: async () => {} });
    await addAccount(open, 'ada');
    const made = await codes.add([FIRST, SECOND, THIRD], TERMS);
    expect(made.map(({ digest }) => digest)).toEqual([FIRST, SECOND, THIRD].map(codeDigest));
    expect(new Set(await listCodes(database))).toEqual(new Set(made));
    const [first, second, third] = made;
    if (first === undefined || second === undefined || third === undefined) throw new Error('none');
    await ledger.redeem({ digest: first.digest, accountId: 'ada', nowMs: NOW + 2 });
    await codes.revoke(codeId(second), NOW + 3);
    expect(new Set(await listCodes(database))).toEqual(
      new Set([
        { ...first, redeemedAt: NOW + 2, redeemedBy: 'ada' },
        { ...second, revokedAt: NOW + 3 },
        third,
      ]),
    );
    const byDigest = new Map((await listCodes(database)).map((code) => [code.digest, code]));
    const statuses = made.map(({ digest }) => {
      const code = byDigest.get(digest);
      return code === undefined ? [] : [NOW, NOW + 10].map((now) => codeStatus(code, now));
    });
    expect(statuses).toEqual([
      ['redeemed', 'redeemed'],
      ['revoked', 'revoked'],
      ['open', 'expired'],
    ]);
    const forever = await codes.add(['DDDDDDDDDDDDDDDD'], { ...TERMS, expiresAt: undefined });
    expect(forever.map((code) => codeStatus(code, Number.MAX_SAFE_INTEGER))).toEqual(['open']);
  });

  test('a code is taken back once, and not after it was redeemed', async () => {
    await using open = await openBooks(directory);
    const { database, ledger } = open;
    const codes = createCodes({ database, onChange: async () => {} });
    await addAccount(open, 'ada');
    await codes.add([FIRST, SECOND], TERMS);
    await ledger.redeem({ digest: codeDigest(FIRST), accountId: 'ada', nowMs: NOW });
    await expect(codes.revoke(codeDigest(FIRST), NOW)).rejects.toThrow('redeemed already');
    expect((await codes.revoke(codeDigest(SECOND), NOW + 1)).revokedAt).toBe(NOW + 1);
    expect((await codes.revoke(codeDigest(SECOND), NOW + 2)).revokedAt).toBe(NOW + 1);
    await expect(codes.revoke(codeDigest(THIRD), NOW)).rejects.toThrow(
      'There is no code with this id',
    );
    await expect(codes.revoke('000000000000', NOW)).rejects.toThrow(
      'There is no code with this id',
    );
  });

  test('of codes that are made together, one that cannot be made refuses all', async () => {
    await using database = await newDatabase(directory);
    const codes = createCodes({ database, onChange: async () => {} });
    await codes.add([FIRST], TERMS);
    await expect(codes.add([SECOND, FIRST], TERMS)).rejects.toThrow(/unique/i);
    for (const amount of [0n, -1n]) {
      await expect(codes.add([SECOND], { ...TERMS, amount: micro(amount) })).rejects.toThrow(
        'redemption_codes_amount',
      );
    }
    expect((await listCodes(database)).map(({ digest }) => digest)).toEqual([codeDigest(FIRST)]);
  });

  test('a redemption and a revocation at the same time: one of them wins', async () => {
    const database = await newDatabase(directory);
    const open = booksOver(database);
    const operator = connectAgain(database);
    const codes = createCodes({ database: operator, onChange: async () => {} });
    await addAccount(open, 'ada');
    const seen = new Set<string>();
    for (let round = 0; round < 40; round += 1) {
      const code = `RACE${String(round).padStart(12, '0')}`;
      await codes.add([code], TERMS);
      const digest = codeDigest(code);
      const redeemed = open.ledger.redeem({ digest, accountId: 'ada', nowMs: NOW });
      if (round % 2 === 1) await Bun.sleep(round % 8);
      let revoked = true;
      try {
        await codes.revoke(digest, NOW);
      } catch {
        revoked = false;
      }
      const { kind } = await redeemed;
      expect(kind).toBe(revoked ? 'refused' : 'redeemed');
      seen.add(kind);
    }
    expect(seen).toEqual(new Set(['refused', 'redeemed']));
    const used = (await listCodes(operator)).filter(({ redeemedAt }) => redeemedAt !== null);
    expect((await open.books.balance('ada')).posted).toBe(micro(BigInt(used.length) * 5n));
    await operator.close();
    await closeBooks(open);
  });
});
