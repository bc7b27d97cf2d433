// A request from its key to its receipt, top to bottom. Every branch of the pipeline is here; what
// it calls are leaves that never call back. Until the commit point a refusal is a thrown
// GatewayError; after it the only exits are the format's `finish` and `fail`, each with a receipt.

import { decideOutputBound, requireInPlan } from '../core/admit.ts';
import { GatewayError } from '../core/error.ts';
import { estimatePrompt } from '../core/estimate.ts';
import { failureError, interruptedError } from '../core/failure.ts';
import { createFold, type GenerationRequest, type Receipt } from '../core/generation.ts';
import { randomText } from '../core/id.ts';
import type { Catalog, Model } from '../core/model.ts';
import type { LimitView, Plan } from '../core/plan.ts';
import { SLICE_TOKENS } from '../core/price.ts';
import { candidates } from '../core/route.ts';
import type { KeyFacts } from '../identity/authenticate.ts';
import type { Attempt, Batch } from '../upstream/attempt.ts';
import type { AnswerHead } from '../wire/format.ts';
import { type GenerateDependencies, type GenerationCall, planOf } from './call.ts';
import { createClientStream } from './client-stream.ts';
import { type Grant, obtainGrant } from './grant.ts';
import { createOutputMeter, type OutputMeter } from './meter.ts';
import { type Ending, pump } from './pump.ts';
import { type Routed, recordAttempt, route } from './route.ts';

export type Generated = {
  readonly kind: 'whole' | 'stream' | 'cancelled';
  readonly body: string | ReadableStream<Uint8Array>;
  readonly modelServed: string;
  readonly limits: LimitView;
  /** Whole answers only: a stream's receipt rides in its last event. */
  readonly receipt?: Receipt;
};

/** A request that has been let in, with everything that the rest of the pipeline needs. */
export type Admitted = {
  readonly call: GenerationCall;
  readonly facts: KeyFacts;
  readonly request: GenerationRequest;
  readonly catalog: Catalog;
  readonly plan: Plan;
  readonly model: Model;
  readonly promptTokens: number;
  readonly grant: Grant;
};

export async function generate(
  dependencies: GenerateDependencies,
  call: GenerationCall,
): Promise<Generated> {
  let current: Attempt | undefined;
  const cancel = (): void => current?.abort();
  // Before anything is held: a server that stops waits for everything that could still write.
  const leave = dependencies.inFlight.enter(cancel);
  call.signal.addEventListener('abort', cancel);
  const done = (): void => {
    call.signal.removeEventListener('abort', cancel);
    leave();
  };
  const ended = (): boolean => call.signal.aborted || dependencies.inFlight.aborted();

  let admitted: Admitted;
  try {
    admitted = await admit(dependencies, call);
  } catch (error) {
    done();
    throw error;
  }
  const { request, grant } = admitted;
  // What is fetched as a stream can be stopped when the money is gone, also for a whole answer.
  const streamUpstream = request.stream || grant.outputBound > SLICE_TOKENS;

  let routed: Routed;
  try {
    routed = await route({
      startAttempt: dependencies.startAttempt,
      clock: dependencies.clock,
      alert: dependencies.alert,
      candidates: candidates(admitted.catalog, admitted.model, admitted.plan, dependencies.random),
      request,
      maxOutputTokens: grant.outputBound,
      streamUpstream,
      until: request.stream ? 'content' : 'end',
      tellsExhaustion: call.format.tellsExhaustion,
      silentCommitMs: dependencies.silentCommitMs,
      onAttempt: (attempt) => {
        current = attempt;
        if (ended()) attempt.abort();
      },
      cancelled: ended,
      records: grant.attempts,
    });
  } catch (error) {
    await grant.release('gateway_failed');
    done();
    throw error;
  }

  if (routed.kind === 'failed') {
    const receipt = await grant.release('upstream_failed');
    report(dependencies, admitted, receipt, routed.failure.class);
    done();
    throw failureError(routed.failure);
  }
  if (routed.kind === 'cancelled') {
    const left = call.signal.aborted;
    const receipt = await grant.release(left ? 'client_cancelled' : 'gateway_failed');
    report(dependencies, admitted, receipt);
    done();
    if (left) return cancelled(admitted);
    throw new GatewayError('provider_unavailable');
  }
  if (request.stream) {
    return serveStream(dependencies, admitted, routed.attempt, routed.first, done);
  }
  try {
    return await serveWhole(dependencies, admitted, routed.attempt, await routed.first);
  } finally {
    done();
  }
}

/** Steps 2 to 6 of a request: identity, body, model, size, then claim and hold, or a refusal. */
async function admit(dependencies: GenerateDependencies, call: GenerationCall): Promise<Admitted> {
  const facts = call.authorize();
  const body = await call.readBody();
  if (dependencies.inFlight.aborted()) throw new GatewayError('provider_unavailable');
  const request = call.format.parse(body);
  const catalog = dependencies.catalog();
  const plan = planOf(catalog, facts.plan);
  const model = catalog.resolve(request.model);
  if (model === undefined) throw new GatewayError('model_not_found', { param: 'model' });
  requireInPlan(plan, model);
  const { tokenizer } = dependencies;
  const promptTokens = await estimatePrompt(request, tokenizer.countText);
  const { maxOutputTokens } = request;
  const bound = decideOutputBound(model, plan, promptTokens, maxOutputTokens, call.format.name);
  const grant = await obtainGrant({
    dependencies,
    call,
    facts,
    request,
    catalog,
    plan,
    model,
    promptTokens,
    outputBound: bound,
  });
  return { call, facts, request, catalog, plan, model, promptTokens, grant };
}

async function serveWhole(
  dependencies: GenerateDependencies,
  admitted: Admitted,
  attempt: Attempt,
  batch: Batch,
): Promise<Generated> {
  const { call, grant } = admitted;
  recordAttempt({ ...dependencies, records: grant.attempts }, attempt, undefined);
  const meter = createOutputMeter(dependencies.tokenizer.countNow);
  const fold = createFold();
  for (const event of batch.events) {
    meter.push(event);
    fold.push(event);
  }
  const receipt = await grant.settle(attempt.candidate, meter, 'completed');
  report(dependencies, admitted, receipt);
  return {
    kind: 'whole',
    body: call.format.response(answerHead(dependencies, admitted), fold.answer(), receipt),
    modelServed: receipt.modelServed,
    limits: grant.limits,
    receipt,
  };
}

/** The commit point: from here on, status and headers are on their way to the client. */
function serveStream(
  dependencies: GenerateDependencies,
  admitted: Admitted,
  attempt: Attempt,
  first: Promise<Batch>,
  done: () => void,
): Generated {
  const { call, grant } = admitted;
  const client = createClientStream(() => attempt.abort());
  const leave = (): void => client.leave();
  call.signal.addEventListener('abort', leave);
  const encoder = call.format.stream(answerHead(dependencies, admitted));
  const meter = createOutputMeter(dependencies.tokenizer.countNow);

  // This task belongs to the request and not to the client's socket: it settles either way.
  const run = async (): Promise<void> => {
    let last = '';
    try {
      const ending = await pump({
        attempt,
        first,
        encoder,
        client,
        meter,
        tellsExhaustion: call.format.tellsExhaustion,
        heartbeatMs: dependencies.heartbeatMs,
        onTick: grant.renew,
      });
      const failure = ending.kind === 'upstream_failed' ? ending.failure : undefined;
      recordAttempt({ ...dependencies, records: grant.attempts }, attempt, failure);
      const receipt = await settleEnding(grant, attempt, meter, ending);
      report(dependencies, admitted, receipt, failure?.class);
      last =
        ending.kind === 'completed'
          ? encoder.finish(receipt)
          : encoder.fail(endingError(ending, meter), receipt);
    } catch (error) {
      dependencies.onInternal(call.requestId, error);
      const receipt = meter.hasContent()
        ? await grant.settle(attempt.candidate, meter, 'gateway_failed')
        : await grant.release('gateway_failed');
      report(dependencies, admitted, receipt);
      last = encoder.fail(new GatewayError('internal_error'), receipt);
    }
    client.write(last);
    client.close();
  };
  run()
    .catch(() => client.close())
    .finally(() => {
      call.signal.removeEventListener('abort', leave);
      done();
    });

  return {
    kind: 'stream',
    body: client.body,
    modelServed: attempt.candidate.model.slug,
    limits: grant.limits,
  };
}

/** What had been delivered is charged; where nothing had been, nothing is. */
function settleEnding(
  grant: Grant,
  attempt: Attempt,
  meter: OutputMeter,
  ending: Ending,
): Promise<Receipt> {
  if (ending.kind !== 'completed' && !meter.hasContent()) return grant.release(ending.kind);
  return grant.settle(attempt.candidate, meter, ending.kind);
}

/** After a silent commit an upstream can still fail with nothing delivered and nothing charged. */
function endingError(ending: Ending, meter: OutputMeter): GatewayError {
  if (ending.kind === 'upstream_failed' && !meter.hasContent()) return failureError(ending.failure);
  return interruptedError();
}

function answerHead(dependencies: GenerateDependencies, admitted: Admitted): AnswerHead {
  const { call, request, model } = admitted;
  return {
    id: randomText(24, dependencies.randomBytes),
    requestId: call.requestId,
    model: model.slug,
    createdSeconds: Math.floor(call.startedAt / 1_000),
    includeUsage: request.includeUsage,
    showReasoning: request.reasoning !== 'off',
  };
}

function cancelled(admitted: Admitted): Generated {
  const { model, grant } = admitted;
  return { kind: 'cancelled', body: '', modelServed: model.slug, limits: grant.limits };
}

function report(
  dependencies: GenerateDependencies,
  admitted: Admitted,
  receipt: Receipt,
  failure?: string,
): void {
  const { call, facts, request, model } = admitted;
  dependencies.report({
    requestId: call.requestId,
    format: call.format.name,
    accountId: facts.accountId,
    keyId: facts.keyId,
    model: model.slug,
    modelServed: receipt.modelServed,
    stream: request.stream,
    outcome: receipt.outcome,
    inputTokens: receipt.usage.inputTokens,
    outputTokens: receipt.usage.outputTokens,
    tokensDebited: receipt.tokensDebited,
    durationMs: dependencies.clock() - call.startedAt,
    ...(failure === undefined ? {} : { failure }),
  });
}
