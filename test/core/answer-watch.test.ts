// When finished answers raise an alert though nothing failed: missing usage, prompt reports far from
// our count, and unknown words.

import { expect, test } from 'bun:test';
import type { Alert } from '../../src/core/alert.ts';
import { createAnswerWatch } from '../../src/core/answer-watch.ts';
import type { GenerationEvent, UnknownWord, UsageReport } from '../../src/core/generation.ts';
import type { Model } from '../../src/core/model.ts';
import { wordsOf } from '../../src/core/sentence.ts';
import { chatUpstream } from '../support/model.ts';

const model = { slug: 'swift-1' } as Model;
const names = { upstream: 'alpha', model: 'swift-1' };

/** Asks an upstream for answers one by one. */
function watching() {
  const upstream = chatUpstream('alpha');
  let catalog = { upstreams: new Map([['alpha', upstream]]) };
  const alerts: Alert[] = [];
  const words: string[] = [];
  const watch = createAnswerWatch({
    catalog: () => catalog,
    alert: (alert) => void alerts.push(alert),
    onUnknown: (...word) => void words.push(word.join(' ')),
  });
  return {
    ...{ alerts, words, warnings: () => watch.warnings().map(wordsOf) },
    reload: () => {
      catalog = { upstreams: new Map([['alpha', chatUpstream('alpha')]]) };
    },
    finish(
      count: number,
      {
        streamed = true,
        report,
        promptTokens,
        unknown,
      }: {
        readonly streamed?: boolean;
        readonly report?: UsageReport;
        readonly promptTokens?: number;
        readonly unknown?: UnknownWord;
      },
    ): void {
      const events: GenerationEvent[] = [
        ...(report === undefined ? [] : [{ kind: 'usage' as const, usage: report }]),
        { kind: 'finish', reason: 'stop', ...(unknown && { unknown }) },
      ];
      for (let n = 0; n < count; n += 1) {
        watch.see({ candidate: { upstream, model }, promptTokens }, streamed, events);
      }
    },
  };
}

function reported(inputTokens: number): UsageReport {
  const none = { cachedInputTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
  return { ...none, inputTokens, outputTokens: 1, basis: 'reported' };
}

test('answers without usage raise an alert for their mode after every twenty', () => {
  const { alerts, finish, warnings } = watching();
  finish(100, { streamed: false, report: reported(9) });
  finish(19, {});
  expect([alerts, warnings()]).toEqual([[], []]);
  finish(21, {});
  const alert = { kind: 'usage_missing', ...names, streamed: true } as const;
  expect(alerts).toEqual([alert, alert]);
  expect(warnings()).toEqual([
    '1 × missing or doubtful usage reports of a model at an upstream; see the alerts',
  ]);
  finish(20, { report: reported(9) });
  expect([alerts.length, warnings()]).toEqual([2, []]);
  finish(20, { streamed: false });
  expect(alerts.at(-1)).toEqual({ ...alert, streamed: false });
});

test('a rejected report is a report', () => {
  const { alerts, finish } = watching();
  finish(40, { report: { basis: 'rejected', doubt: 'malformed' }, promptTokens: 1_000 });
  expect(alerts).toEqual([]);
});

test.each([
  ['110 times', 19, 2_095, '110'],
  ['a hundredth', 10_000, 100, '0.01'],
  ['four times', 300, 1_200, undefined],
  ['a quarter', 1_200, 300, undefined],
  ['a short prompt', 8, 199, undefined],
])('a prompt report of %s', (_, promptTokens, inputTokens, ratio) => {
  const { alerts, finish, warnings } = watching();
  finish(20, { promptTokens, report: reported(inputTokens) });
  expect(alerts).toEqual(ratio === undefined ? [] : [{ kind: 'prompt_doubted', ...names, ratio }]);
  expect(warnings()).toHaveLength(alerts.length);
});

test('only most of twenty far reports raise an alert, and requests of our own have no count', () => {
  const { alerts, finish } = watching();
  finish(40, { report: reported(9_000) });
  finish(10, { promptTokens: 300, report: reported(9_000) });
  finish(10, { promptTokens: 300, report: reported(300) });
  expect(alerts).toEqual([]);
  finish(11, { promptTokens: 300, report: reported(9_000) });
  finish(9, { promptTokens: 300, report: reported(300) });
  expect(alerts.map(({ kind }) => kind)).toEqual(['prompt_doubted']);
});

test('an unknown word is counted each time, and raises an alert at once and every twenty', () => {
  const { alerts, words, finish } = watching();
  const unknown = { what: 'finish_reason', word: 'so_long' } as const;
  finish(20, { report: reported(9), unknown });
  expect(alerts).toEqual([{ kind: 'word_unknown', ...names, ...unknown }]);
  finish(1, { report: reported(9), unknown });
  expect([alerts.length, words.length, words[0]]).toEqual([2, 21, 'alpha swift-1 finish_reason']);
});

test('a new catalog starts from zero', () => {
  const { finish, reload, warnings } = watching();
  finish(20, {});
  expect(warnings()).toHaveLength(1);
  reload();
  expect(warnings()).toEqual([]);
});
