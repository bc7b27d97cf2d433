// The names that the ledger stores as numbers, on both databases.

import { expect, test } from 'bun:test';
import { count } from 'drizzle-orm';
import { Names } from '../../src/ledger/names.ts';
import { texts } from '../../src/store/money-tables.ts';
import { describeOnEachDatabase, temporaryDirectory } from '../support/database.ts';
import { holdOf, openBooks } from '../support/ledger.ts';

const directory = temporaryDirectory();

describeOnEachDatabase('names', () => {
  test('a text means the same to each writer', async () => {
    await using open = await openBooks(directory);
    const [one, other] = [new Names(open.database), new Names(open.database)];
    const batch = [{ name: 'hold', command: holdOf('r1', 'ada', 1n) }] as const;
    await one.learn(batch);
    await other.learn(batch);
    const { keyId, model, price } = batch[0].command;
    for (const text of [keyId, model]) expect(other.numberOf(text)).toBe(one.numberOf(text));
    const third = new Names(open.database);
    await third.read([one.numberOf(model)], [one.priceNumberOf(price)]);
    expect(third.textOf(one.numberOf(model))).toBe(model);
    expect(third.priceOf(one.priceNumberOf(price))).toEqual(price);
  });

  test('an upstream that invents shapes fills the books with a bounded number of them', async () => {
    await using open = await openBooks(directory);
    const names = new Names(open.database);
    for (let batch = 0; batch < 5; batch += 1) {
      for (let n = 0; n < 1_000; n += 1) names.shapeNumber(`{"count_${batch}_${n}":#}`);
      await names.learn([]);
    }
    const [found] = await open.database.db.select({ texts: count() }).from(texts);
    expect(found?.texts).toBe(4_096);
    // One that is known has its number, and the others are kept as they are.
    expect(names.shapeNumber('{"count_0_0":#}')).toBeNumber();
    expect(names.shapeNumber('{"count_4_999":#}')).toBeUndefined();
  }, 60_000);

  test('a shape that an index does not take is kept as it is, and holds up no batch', async () => {
    await using open = await openBooks(directory);
    const names = new Names(open.database);
    // Random, since PostgreSQL compresses what repeats itself; three bytes a character.
    const codes = crypto
      .getRandomValues(new Uint16Array(2_000))
      .map((code) => 0x4e00 + (code % 20_000));
    const shape = String.fromCharCode(...codes);
    names.shapeNumber(shape);
    await names.learn([{ name: 'hold', command: holdOf('r1', 'ada', 1n) }]);
    expect(names.shapeNumber(shape)).toBeUndefined();
  });
});
