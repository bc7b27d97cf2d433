// The text of /metrics, byte for byte: what promtool accepts, and what prom-client printed.

import { expect, test } from 'bun:test';
import { type Family, printFamilies } from '../../src/observe/exposition.ts';
import { createCounter, createHistogram } from '../../src/observe/series.ts';

function print(fill: (register: (read: () => Family) => void) => void): string {
  const families: (() => Family)[] = [];
  fill((read) => families.push(read));
  return printFamilies(families.map((read) => read()));
}

test('a metric has its help, its type and a line for each series', () => {
  const text = print((register) => {
    const help = 'Requests of C:\\ \nby "model".';
    const requests = createCounter(register, { name: 'a_total', help, labels: ['model', 'kind'] });
    requests({ model: 'm-1', kind: 'ok' }).value += 2;
    requests({ model: 'a "quoted" \\ name\n', kind: 'é' }).value += 0.5;
    createCounter(register, { name: 'b_total', help: 'None yet.', labels: [] });
  });
  expect(text).toBe(
    [
      '# HELP a_total Requests of C:\\\\ \\nby "model".',
      '# TYPE a_total counter',
      'a_total{model="m-1",kind="ok"} 2',
      'a_total{model="a \\"quoted\\" \\\\ name\\n",kind="é"} 0.5',
      '',
      '# HELP b_total None yet.',
      '# TYPE b_total counter',
      '',
    ].join('\n'),
  );
});

test('a histogram counts up to each bound, and ends with +Inf, sum and count', () => {
  const text = print((register) => {
    const description = { name: 'a_seconds', help: 'Some help.', buckets: [0.1, 1, 10] };
    const observe = createHistogram(register, { ...description, labels: ['a'] })({ a: 'x' });
    for (const value of [0, 0.1, 0.100001, 0.5, 1, 5, 10, 10.5, 1_000]) observe(value);
  });
  expect(text).toBe(
    [
      '# HELP a_seconds Some help.',
      '# TYPE a_seconds histogram',
      'a_seconds_bucket{a="x",le="0.1"} 2',
      'a_seconds_bucket{a="x",le="1"} 5',
      'a_seconds_bucket{a="x",le="10"} 7',
      'a_seconds_bucket{a="x",le="+Inf"} 9',
      'a_seconds_sum{a="x"} 1027.200001',
      'a_seconds_count{a="x"} 9',
      '',
    ].join('\n'),
  );
});

test('numbers that JSON does not have are written as Prometheus reads them', () => {
  const values = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN, 1e21];
  const samples = values.map((value, index) => [{ at: String(index) }, value] as const);
  const text = printFamilies([{ name: 'a', type: 'gauge', help: 'A.', samples }]);
  expect(text.match(/(?<=\} ).*/g)).toEqual(['+Inf', '-Inf', 'NaN', '1e+21']);
});
