// `tollgate upstream test [UPSTREAM [MODEL]]`: asks models at their upstreams for short answers and
// shows what came. Needs the catalog alone: no server, and no database. Loaded by its command alone.

import { every } from '../async/every.ts';
import type { TrialResult } from '../generate/trial.ts';
import { trialCandidates } from '../operations/upstreams.ts';
import { createUpstreams, DEADLINE_SWEEP_MS } from '../server/upstreams.ts';
import { CommandError, type Output, table } from './command.ts';
import type { Context } from './context.ts';

type Tested = {
  readonly upstream: string;
  readonly model: string;
  readonly upstream_model: string;
  readonly results: readonly TrialResult[];
};

export async function testUpstreams(
  context: Context,
  _options: object,
  upstream?: string,
  model?: string,
): Promise<Output> {
  const { clock } = context;
  const place = upstream === undefined ? undefined : { upstream, model };
  const candidates = trialCandidates(context.catalog(), place, clock());
  if (candidates.length === 0) {
    throw new CommandError('no_model', 'No model of the catalog is served there. Name one.');
  }
  const { trial, deadlines, close } = createUpstreams({
    clock,
    monotonic: () => performance.now(),
  });
  const stopSweep = every(DEADLINE_SWEEP_MS, deadlines.sweep);
  const tests: Tested[] = [];
  // In turn: some servers answer one request at a time.
  for (const candidate of candidates) {
    tests.push({
      upstream: candidate.upstream.id,
      model: candidate.model.slug,
      upstream_model: candidate.upstreamModel,
      results: await trial(candidate),
    });
  }
  stopSweep();
  close();
  const ok = tests.every(({ results }) => results.every((result) => result.ok));
  return { json: { ok, tests }, text: tests.map(testText).join('\n\n'), exitCode: ok ? 0 : 1 };
}

function testText({ upstream, model, upstream_model: called, results }: Tested): string {
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
  const counts = new Set(results.flatMap(({ usage }) => usage ?? []));
  return [
    `${model} at ${upstream}${called === model ? '' : `, there ${called}`}`,
    table(header, rows),
    `Usage: ${[...counts].join(', ') || 'no counts'}`,
  ].join('\n');
}
