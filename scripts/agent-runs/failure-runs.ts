// Runs in which the upstream fails, runs with two parallel requests, and one with a patch: how the
// agent reacts, and what the ledger must have booked. Called by run.ts.

import { HELLO } from '../../test/support/behaviours.ts';
import type { EveryFormat } from '../../test/support/client.ts';
import { judgeEnd, judgeSuccess } from './judge.ts';
import type { Generation, Seen, Task } from './stage.ts';

export type FailureRun = {
  readonly agent: string;
  readonly format: EveryFormat;
  readonly happens: string;
  readonly comesTo: string;
  readonly task: Omit<Task, 'agent' | 'format' | 'prompt'>;
  readonly judge: (seen: Seen) => string[];
};

/** No agent may wait for as long as a cap, an empty wallet or a mistake lasts. */
const AT_ONCE_SECONDS = 15;

const CLAUDE_CODE: readonly Omit<FailureRun, 'agent' | 'format'>[] = [
  {
    happens: 'it sends its key as a bearer token',
    comesTo: 'served',
    task: {
      model: 'reasoning',
      environment: (key) => ({ ANTHROPIC_API_KEY: '', ANTHROPIC_AUTH_TOKEN: key }),
    },
    judge: (seen) => judgeSuccess(seen, HELLO),
  },
  {
    happens: 'the upstream breaks off a stream',
    comesTo: 'it retries without streaming; both requests are billed',
    task: { model: 'cut-once' },
    judge(seen) {
      const [first, second] = seen.generations;
      return [
        ...judgeEnd(seen, HELLO),
        ...expect('statuses', statuses(seen), '200 200'),
        ...expect('the first is streamed', isStreamed(first), true),
        ...expect('the second is streamed', isStreamed(second), false),
        ...expect('outcomes', outcomes(seen), 'upstream_failed completed'),
        ...expect('the first is charged', Number(first?.story?.booked?.['debited']) > 0, true),
      ];
    },
  },
  {
    happens: 'the upstream is down for longer than the service retries',
    comesTo: 'it backs off and retries; what failed costs nothing',
    // The service makes three attempts for a request.
    task: { model: 'status-503-times-4' },
    judge: (seen) => [
      ...judgeEnd(seen, HELLO),
      ...expect('statuses', statuses(seen), '503 200'),
      ...expect('outcomes', outcomes(seen), 'upstream_failed completed'),
      ...expect('debits', debits(seen), '0 16.4'),
    ],
  },
  {
    happens: 'the daily cap is reached, hours before midnight',
    comesTo: 'it stops and shows the reason',
    task: { model: 'reasoning', plan: 'capped' },
    judge: (seen) => judgeRefusal(seen, 429, 'daily token cap'),
  },
  {
    happens: 'the balance is too small',
    comesTo: 'it stops and shows the reason',
    task: { model: 'reasoning', credit: 1 },
    judge: (seen) => judgeRefusal(seen, 402, 'balance'),
  },
  {
    happens: 'the prompt is too long for the model',
    comesTo: 'it stops and shows both numbers',
    task: { model: 'small-window' },
    judge: (seen) => judgeRefusal(seen, 400, '(limit 1000)'),
  },
  {
    happens: 'the prompt fits, but not with the requested output',
    comesTo: 'it retries with a lower bound',
    task: { model: 'middle-window' },
    judge: (seen) => [
      ...judgeEnd(seen, HELLO),
      ...expect('statuses', statuses(seen), '400 200'),
      ...expect('outcomes', outcomes(seen), ' completed'),
    ],
  },
];

const OPENCODE: readonly Omit<FailureRun, 'agent' | 'format'>[] = [
  {
    happens: 'it sends two requests at once',
    comesTo: 'both are served',
    task: { model: 'slow-tokens-100-50' },
    judge(seen) {
      const [first, second] = seen.generations;
      const overlap = (second?.startedAtMs ?? Infinity) < (first?.endedAtMs ?? 0);
      return [
        ...judgeSuccess(seen, 'a a a a'),
        ...expect('statuses', statuses(seen), '200 200'),
        ...expect('they overlap', overlap, true),
      ];
    },
  },
  {
    happens: 'it sends two requests at once, and one is allowed',
    comesTo: 'it waits for the two seconds of retry-after and retries',
    task: { model: 'slow-tokens-100-50', plan: 'single' },
    judge: (seen) => [
      ...judgeEnd(seen, 'a a a a'),
      ...expect('the refused one', statuses(seen).split(' ').includes('429'), true),
    ],
  },
];

const CODEX: readonly Omit<FailureRun, 'agent' | 'format'>[] = [
  {
    happens: 'the model patches a file',
    comesTo: 'the patch is applied as the model wrote it',
    task: { model: 'adds-a-note' },
    judge: (seen) => [
      ...judgeSuccess(seen, '+"A\\B" is é'),
      ...judgeEnd(seen, 'The note is there.'),
      ...expect('statuses', statuses(seen), '200 200'),
    ],
  },
  {
    happens: 'the upstream breaks off a stream',
    comesTo: 'it retries; both requests are billed',
    task: { model: 'cut-once' },
    judge: (seen) => [
      ...judgeEnd(seen, HELLO),
      ...expect('statuses', statuses(seen), '200 200'),
      ...expect('outcomes', outcomes(seen), 'upstream_failed completed'),
    ],
  },
  {
    happens: 'the upstream is down for longer than the service retries',
    comesTo: 'it backs off and retries; what failed costs nothing',
    task: { model: 'status-503-times-4' },
    judge: (seen) => [
      ...judgeEnd(seen, HELLO),
      ...expect('statuses', statuses(seen), '503 200'),
      ...expect('debits', debits(seen), '0 16.4'),
    ],
  },
  {
    happens: 'the prompt is too long for the model',
    comesTo: 'it stops and shows the limit',
    task: { model: 'small-window' },
    judge: (seen) => judgeRefusal(seen, 400, 'maximum context length is 1000 tokens'),
  },
];

export const FAILURE_RUNS: readonly FailureRun[] = [
  ...CLAUDE_CODE.map((each) => ({ agent: 'claude-code', format: 'messages', ...each }) as const),
  ...CODEX.map((each) => ({ agent: 'codex', format: 'responses', ...each }) as const),
  ...OPENCODE.flatMap((each) =>
    (['chat', 'messages'] as const).map((format) => ({ agent: 'opencode', format, ...each })),
  ),
];

/** One request, refused with this status, reported to the user, and not a second one. */
function judgeRefusal(seen: Seen, status: number, text: string): string[] {
  return [
    ...judgeEnd(seen, text),
    ...expect('statuses', statuses(seen), String(status)),
    ...expect('ends at once', seen.ran.seconds < AT_ONCE_SECONDS, true),
    ...expect('requests upstream', seen.upstream.length, 0),
  ];
}

function expect(what: string, actual: unknown, expected: unknown): string[] {
  return actual === expected ? [] : [`${what}: ${actual}, not ${expected}`];
}

function isStreamed(generation: Generation | undefined): boolean {
  return generation?.body.includes('"stream":true') === true;
}

function statuses({ generations }: Seen): string {
  return generations.map(({ status }) => status).join(' ');
}

function outcomes({ generations }: Seen): string {
  return generations.map(({ story }) => story?.request?.['outcome']).join(' ');
}

function debits({ generations }: Seen): string {
  return generations.map(({ story }) => story?.booked?.['debited']).join(' ');
}
