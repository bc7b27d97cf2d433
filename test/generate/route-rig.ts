// A route over real health, with attempts made of lists and a clock that advances by itself, so
// that no test waits for a pause.

import type { Alert } from '../../src/core/alert.ts';
import type { FailureClass, UpstreamFailure } from '../../src/core/failure.ts';
import type { Upstream } from '../../src/core/model.ts';
import type { Candidate, FallbackKind } from '../../src/core/route.ts';
import { AttemptLog } from '../../src/generate/attempt-log.ts';
import type { Followed } from '../../src/generate/lifetime.ts';
import { type Routed, route } from '../../src/generate/route.ts';
import type { Attempt, AttemptOptions, Batch } from '../../src/upstream/attempt.ts';
import { type AccountHealth, createHealth, type Health } from '../../src/upstream/health.ts';
import { startTimer } from '../../src/upstream/timer.ts';
import { createFakeTime, type FakeTime } from '../support/fake-time.ts';
import { type ListedProbes, listedProbes } from '../support/probe.ts';
import { requestWith } from '../support/request.ts';
import { candidate, catalogOf, HELLO, type ListedAttempt, listedAttempt } from './fixtures.ts';

export const DELIVERS: Batch = { events: [HELLO] };

export function fails(kind: FailureClass, more: Partial<UpstreamFailure> = {}): Batch {
  return { events: [], end: { class: kind, detail: kind, ...more } };
}

/** One of the model of this name, at an upstream of this name unless there is another. */
export function at(
  model: string,
  changes: Partial<Upstream> & { fallback?: FallbackKind } = {},
): Candidate {
  const { fallback = 'none', ...upstream } = changes;
  const plain = candidate(model, fallback);
  return { ...plain, upstream: { ...plain.upstream, ...upstream } as Upstream };
}

export const keys = (...ids: readonly string[]): Upstream['credentials'] => {
  const [first = '', ...rest] = ids;
  const credential = (id: string) => ({ id, apiKey: `key ${id}` });
  return [credential(first), ...rest.map(credential)];
};

export type Question = {
  readonly model: string;
  readonly upstream: string;
  readonly credential: string;
  readonly atMs: number;
  readonly totalMs: number;
};

export type RouteRig = {
  readonly time: FakeTime;
  /** Of one account. */
  readonly health: Health & AccountHealth;
  readonly probes: ListedProbes;
  readonly alerts: Alert[];
  /** Every question that an upstream was asked, in order. */
  readonly questions: Question[];
  readonly started: ListedAttempt[];
  /** The client leaves: what is followed is aborted. */
  readonly leave: () => void;
  readonly inFlight: () => number;
  readonly run: (asked: Asked) => Promise<Ran>;
};

export type Asked = {
  readonly candidates: readonly Candidate[];
  /** What the questions are answered with, in their order; silence where there is nothing more. */
  readonly answers: readonly (readonly Batch[])[];
  readonly until?: 'content' | 'end';
  readonly tellsExhaustion?: boolean;
  readonly showsReasoning?: boolean;
  readonly silentCommitMs?: number;
  readonly onAttempt?: (attempt: Attempt) => void;
  readonly onStep?: () => void;
  /** In [0, 1): where in its range each pause falls. */
  readonly dice?: number;
};

export type Ran = {
  readonly routed: Routed<Attempt & { readonly permitted: AttemptOptions }>;
  readonly served: string | undefined;
  /** `model failure`, for each that failed or was not asked. */
  readonly story: readonly string[];
};

export function createRouteRig({ runsByItself = true } = {}): RouteRig {
  const time = createFakeTime({ runsByItself });
  const alerts: Alert[] = [];
  let models: readonly Candidate[] = [];
  let catalog = catalogOf([]);
  const probes = listedProbes();
  const all = createHealth({
    catalog: () => catalog,
    probe: probes.probe,
    clock: () => 1_000_000 + time.now(),
    monotonic: time.now,
    startTimer: time.startTimer,
    alert: (alert) => void alerts.push(alert),
  });
  const health = Object.assign(all.of('acct_a'), all);
  const questions: Question[] = [];
  const started: ListedAttempt[] = [];
  let followed: Followed | undefined;
  let gone = false;

  const run = async (asked: Asked): Promise<Ran> => {
    if (models !== asked.candidates) catalog = catalogOf(asked.candidates);
    models = asked.candidates;
    const answers = [...asked.answers];
    const attempts = new AttemptLog({
      clock: () => 5,
      promptTokens: 10,
      requestId: 'req_1',
      heard: () => undefined,
    });
    const follow = (what: Followed): void => {
      followed = what;
      if (gone) what.abort();
      asked.onStep?.();
    };
    const routed = await route({
      startAttempt(options, permit) {
        const { candidate: of, credential } = options;
        const listed = listedAttempt(of, answers.shift() ?? []);
        started.push(listed);
        questions.push({
          model: of.model.slug,
          upstream: of.upstream.id,
          credential: credential.id,
          atMs: time.now(),
          totalMs: of.timeouts.totalMs,
        });
        const attempt = {
          ...listed,
          permitted: options,
          async next() {
            const batch = await listed.next();
            permit.see(batch);
            return batch;
          },
          abort() {
            permit.end('given_up');
            listed.abort();
          },
        };
        follow(attempt);
        asked.onAttempt?.(attempt);
        return attempt;
      },
      health,
      candidates: asked.candidates,
      request: requestWith({ model: 'a', turns: [], stream: true }),
      promptTokens: 10,
      streamUpstream: true,
      until: asked.until ?? 'content',
      tellsExhaustion: asked.tellsExhaustion ?? true,
      showsReasoning: asked.showsReasoning ?? true,
      silentCommitMs: asked.silentCommitMs ?? 60_000,
      lifetime: { isOver: () => gone, follow },
      attempts,
      monotonic: time.now,
      random: () => asked.dice ?? 0,
      startTimer: time.startTimer,
      startDeadline: startTimer,
    });
    const served = routed.kind === 'serving' ? routed.attempt.candidate.model.slug : undefined;
    const story = attempts.records.map(({ model, failure }) => `${model} ${failure}`);
    return { routed, served, story };
  };

  return {
    time,
    health,
    probes,
    alerts,
    questions,
    started,
    leave() {
      gone = true;
      followed?.abort();
    },
    inFlight: () => health.states().reduce((sum, { inFlight }) => sum + inFlight, 0),
    run,
  };
}
