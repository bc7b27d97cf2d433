// `tollgate upstream test [UPSTREAM [MODEL]]`: asks models at their upstreams for short answers and
// shows what came. Needs the catalog alone: no server, and no database. Loaded by its command alone.

import { every } from '../async/every.ts';
import type { Candidate } from '../core/route.ts';
import { TRIAL_TOKENS, type TrialResult } from '../core/trial.ts';
import { trialCandidates } from '../operations/upstreams.ts';
import { createUpstreams, DEADLINE_SWEEP_MS } from '../server/upstreams.ts';
import { createAttempts } from '../upstream/attempt.ts';
import { createTrial } from '../upstream/trial.ts';
import { CommandError, type Output, table } from './command.ts';
import type { Context } from './context.ts';

type Tested = {
  readonly candidate: Candidate;
  readonly results: readonly TrialResult[];
};

export async function testUpstreams(
  context: Context,
  _options: object,
  upstream?: string,
  model?: string,
): Promise<Output> {
  const { clock } = context;
  const candidates = trialCandidates(context.catalog(), { upstream, model }, clock());
  if (candidates.length === 0) {
    throw new CommandError('no_model', 'No model of the catalog is served there. Name one.');
  }
  const monotonic = () => performance.now();
  const { client, deadlines, close } = createUpstreams({ clock, monotonic });
  const trial = createTrial(createAttempts({ client, clock, deadlines }), monotonic);
  const stopSweep = every(DEADLINE_SWEEP_MS, deadlines.sweep);
  const tested: Tested[] = [];
  try {
    // In turn: some servers answer one request at a time.
    for (const candidate of candidates) {
      tested.push({ candidate, results: await trial(candidate) });
    }
  } finally {
    stopSweep();
    close();
  }
  const ok = tested.every(({ results }) => results.every((result) => result.ok));
  const sent = tested.reduce((sum, { results }) => sum + results.length, 0);
  const cost = `${sent} requests of at most ${TRIAL_TOKENS} tokens each, which the upstreams charge for.`;
  return {
    json: { ok, tests: tested.map(testRecord) },
    text: [...tested.map(testText), cost].join('\n\n'),
    exitCode: ok ? 0 : 1,
  };
}

function testRecord({ candidate: { upstream, model, upstreamModel }, results }: Tested) {
  return { upstream: upstream.id, model: model.slug, upstream_model: upstreamModel, results };
}

function testText({ candidate: { upstream, model, upstreamModel }, results }: Tested): string {
  const header = ['', 'KEY', 'FEATURE', 'ANSWER', 'CONTENT', 'END', 'USAGE', 'DETAIL'];
  const rows = results.map((result) => [
    result.ok ? 'ok' : 'FAILED',
    result.credential,
    result.feature,
    result.stream ? 'streamed' : 'whole',
    result.first_content_ms === null ? '-' : `${result.first_content_ms} ms`,
    `${result.duration_ms} ms`,
    result.usage === null ? '-' : 'reported',
    result.detail ?? '',
  ]);
  const called = upstreamModel === model.slug ? '' : `, there ${upstreamModel}`;
  return [
    `${model.slug} at ${upstream.id}${called}`,
    table(header, rows),
    usageWords(results),
  ].join('\n');
}

/** Where usage is reported, and of what. */
function usageWords(results: readonly TrialResult[]): string {
  const answered = results.filter(({ ok }) => ok);
  const counts = [...new Set(answered.flatMap(({ usage }) => usage ?? []))].join(', ');
  const missing = ['whole', 'streamed'].filter((mode) =>
    answered.some(({ stream, usage }) => stream === (mode === 'streamed') && usage === null),
  );
  const how = `${missing.join(' and ')} answers, which are charged by our own count`;
  const none = missing.length === 0 ? '' : `; none in ${how}`;
  return `Usage: ${counts || 'no counts'}${none}.`;
}
