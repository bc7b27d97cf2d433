// What upstreams said, as operators see it: equal words counted over nodes, found by request, and
// bounded for each place.

import { expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import type { HeardWords } from '../../src/core/failure.ts';
import { createRaisedAlerts } from '../../src/observe/raised-alerts.ts';
import {
  createHeardGroups,
  listWords,
  sweepWords,
  wordsOfAttempts,
  wordsRecord,
} from '../../src/operations/upstream-words.ts';
import { createAlertKeeper } from '../../src/server/alert-keeper.ts';
import { describeOnEachDatabase, newDatabase, temporaryDirectory } from '../support/database.ts';

const START = 1_800_000_000_000;
const DAY = 86_400_000;

const HEARD: HeardWords = {
  upstream: 'east',
  model: 'swift-1',
  failure: 'mismatch',
  status: 400,
  words: '400 model_not_found (model): No such model (request abc123)',
  requestId: 'req_1',
  at: START,
};

const attemptOf = ({ upstream, model, failure, status = 0, at }: HeardWords) => ({
  ...{ upstream, model, failure, status, endedAt: at },
});

describeOnEachDatabase('what upstreams said', () => {
  async function open() {
    const database = await newDatabase(temporaryDirectory());
    const errors: string[] = [];
    const node = () => {
      const heard = createHeardGroups();
      const store = createAlertKeeper({
        ...{ database, heard, randomBytes, raised: createRaisedAlerts({ clock: () => START }) },
        log: { error: (message) => errors.push(message) },
      });
      return { ...heard, store };
    };
    const list = async () => (await listWords(database, 'east')).map(wordsRecord);
    return { database, errors, node, list };
  }

  test('is one row for equal words, over batches and nodes; numbers do not distinguish', async () => {
    const { node, list, errors } = await open();
    const [one, other] = [node(), node()];
    for (let n = 0; n < 20; n += 1) {
      const words = `400 model_not_found (model): No such model (request ${n}ff)`;
      one.hear({
        ...HEARD,
        words,
        requestId: `req_a${n}`,
        at: START + n,
      });
    }
    await one.store();
    other.hear({ ...HEARD, requestId: 'req_b', at: START + 60_000 });
    one.hear({ ...HEARD, requestId: 'req_c', at: START - 5 });
    await Promise.all([one.store(), other.store()]);
    expect([await list(), errors]).toMatchObject([
      [
        {
          model: 'swift-1',
          failure: 'mismatch',
          words: expect.stringMatching(
            /^400 model_not_found \(model\): No such model \(request \w+\)$/,
          ),
          count: 22,
          first_at: new Date(START - 5).toISOString(),
          last_at: new Date(START + 60_000).toISOString(),
        },
      ],
      [],
    ]);
  });

  test('is found by request, else by place, status and time', async () => {
    const { database, node } = await open();
    const { hear, store } = node();
    hear(HEARD);
    const filtered = { ...HEARD, status: 500, words: '500', failure: 'server_error' } as const;
    hear({ ...filtered, requestId: 'req_1', at: START + 1 });
    for (let n = 0; n < 30; n += 1) hear({ ...HEARD, requestId: `req_x${n}`, at: START + n });
    await store();
    const words = '400 model_not_found (model): No such model (request abc123)';
    const ask = (id: string, ...attempts: HeardWords[]) =>
      wordsOfAttempts(database, id, attempts.map(attemptOf));
    expect(await ask('req_x29', HEARD)).toEqual([{ words, exact: true }]);
    expect(await ask('req_1', { ...HEARD, at: START + 3 }, filtered)).toEqual([
      { words, exact: false },
      { words: '500', exact: true },
    ]);
    expect(await ask('req_1', { ...HEARD, at: START - 60_000 }, { ...HEARD, model: 'x' })).toEqual([
      null,
      null,
    ]);
  });

  test('is bounded between writes and in the database, for each place', async () => {
    const { database, node, list } = await open();
    const { hear, store } = node();
    const say = (message: string, at: number, model = 'swift-1'): void =>
      hear({ ...HEARD, model, words: message, at });
    const letters = Array.from({ length: 80 }, (_, n) => String.fromCodePoint(0x4e00 + n));
    for (const [index, letter] of letters.entries()) {
      say(letter, START + index);
      if (index % 8 === 7) await store();
    }
    for (const letter of letters) say(letter, START, 'swift-2');
    say('old', START - 8 * DAY, 'swift-3');
    await store();
    await sweepWords(database, START);
    const all = await listWords(database, 'east', 1_000);
    const of = (slug: string): number => all.filter(({ model }) => model === slug).length;
    expect([of('swift-1'), of('swift-2'), of('swift-3')]).toEqual([50, 10, 0]);
    expect((await list())[0]?.words).toBe(`${letters[79]}`);
  });
});
