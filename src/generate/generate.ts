// A request from its key to its receipt, top to bottom. Every branch of the pipeline is here; what
// it calls are leaves that never call back. Until the commit point a refusal is a thrown
// GatewayError; after it the only exits are the format's `finish` and `fail`, each with a receipt.

import { decideOutputBound, requireInPlan, requireModel, requirePlan } from '../core/admit.ts';
import { GatewayError } from '../core/error.ts';
import { estimatePrompt } from '../core/estimate.ts';
import { failureError, interruptedError, type UpstreamFailure } from '../core/failure.ts';
import { createFold } from '../core/fold.ts';
import type { Outcome, Receipt } from '../core/generation.ts';
import { randomText } from '../core/id.ts';
import type { LimitView } from '../core/plan.ts';
import { SLICE_TOKENS } from '../core/price.ts';
import { priceAt } from '../core/price-book.ts';
import { candidates } from '../core/route.ts';
import type { Attempt } from '../upstream/attempt.ts';
import type { AnswerHead } from '../wire/format.ts';
import type { CheckedRequest, GenerateDependencies, GenerationCall } from './call.ts';
import { type ClientStream, createClientStream } from './client-stream.ts';
import { type Grant, obtainGrant } from './grant.ts';
import { type Lifetime, startLifetime } from './in-flight.ts';
import { createOutputMeter, type OutputMeter } from './meter.ts';
import { type Ending, pump } from './pump.ts';
import { report } from './report.ts';
import { type Routed, route, type Serving } from './route.ts';
import { recordThinking, restoreThinking } from './thinking.ts';

export type Generated =
  | {
      readonly kind: 'whole';
      readonly body: string;
      readonly modelServed: string;
      readonly limits: LimitView;
      readonly receipt: Receipt;
    }
  | {
      /** The receipt rides in the last event. */
      readonly kind: 'stream';
      readonly body: ReadableStream<Uint8Array>;
      readonly modelServed: string;
      readonly limits: LimitView;
    }
  /** The client has left: there is nobody to answer. */
  | { readonly kind: 'cancelled' };

/** A request that has been let in, with everything that the rest of the pipeline needs. */
type Admitted = CheckedRequest & { readonly grant: Grant };

/** Throws `GatewayError` for every refusal and failure before the commit point. */
export async function generate(
  dependencies: GenerateDependencies,
  call: GenerationCall,
): Promise<Generated> {
  // Before anything is held: a server that stops waits for everything that could still write.
  const lifetime = startLifetime(dependencies.inFlight, call.requestId, call.signal);
  /** A stream is settled after it has been answered, everything else before. */
  let settled: Promise<void> | undefined;
  try {
    const checked = await check(dependencies, call);
    const grant = await obtainGrant(dependencies, checked);
    const admitted: Admitted = { ...checked, grant };
    const routed = await findUpstream(dependencies, admitted, lifetime);
    if (routed.kind === 'failed') {
      const receipt = await grant.release('upstream_failed');
      report(dependencies, admitted, receipt, routed.failure.class);
      throw failureError(routed.failure, grant.limits);
    }
    if (routed.kind === 'cancelled') return await giveUp(dependencies, admitted, routed);
    if (!checked.request.stream) return await serveWhole(dependencies, admitted, routed);
    const stream = serveStream(dependencies, admitted, routed);
    settled = stream.settled;
    return stream.generated;
  } finally {
    if (settled === undefined) lifetime.end();
    else settled.finally(lifetime.end);
  }
}

/** Steps 2 to 5 of a request: identity, body, model, size. Nothing is taken yet. */
async function check(
  dependencies: GenerateDependencies,
  call: GenerationCall,
): Promise<CheckedRequest> {
  const facts = call.authorize();
  const body = await call.readBody();
  if (dependencies.inFlight.aborted()) throw new GatewayError('provider_unavailable');
  const parsed = call.format.parse(body);
  const catalog = dependencies.catalog();
  const plan = requirePlan(catalog, facts.plan);
  const model = requireModel(catalog, parsed.model);
  requireInPlan(plan, model);
  const request = restoreThinking(dependencies, { facts, request: parsed, catalog, model });
  const promptTokens = await estimatePrompt(request, dependencies.tokenizer.countText);
  const { maxOutputTokens } = request;
  const { name: format } = call.format;
  const price = priceAt(model.prices, call.startedAt);
  const outputBound = decideOutputBound(model, plan, promptTokens, maxOutputTokens, format);
  return { call, facts, request, catalog, plan, model, price, promptTokens, outputBound };
}

/** Step 7: attempts until one of them delivers. An error of our own gives the grant back. */
async function findUpstream(
  dependencies: GenerateDependencies,
  admitted: Admitted,
  lifetime: Lifetime,
): Promise<Routed> {
  const { call, request, catalog, model, plan, grant } = admitted;
  try {
    return await route({
      startAttempt: dependencies.startAttempt,
      candidates: candidates(catalog, model, plan, call.startedAt, dependencies.random),
      request,
      maxOutputTokens: grant.outputBound,
      // What is fetched as a stream can be stopped when the money is gone, also for a whole answer.
      streamUpstream: request.stream || grant.outputBound > SLICE_TOKENS,
      until: request.stream ? 'content' : 'end',
      tellsExhaustion: call.format.tellsExhaustion,
      silentCommitMs: dependencies.silentCommitMs,
      onAttempt: lifetime.follow,
      cancelled: lifetime.isOver,
      attempts: grant.attempts,
    });
  } catch (error) {
    await grant.release('gateway_failed');
    throw error;
  }
}

async function serveWhole(
  dependencies: GenerateDependencies,
  admitted: Admitted,
  { attempt, first }: Serving,
): Promise<Generated> {
  const { call, grant } = admitted;
  const { events } = await first;
  grant.attempts.add(attempt, undefined);
  const meter = createOutputMeter(dependencies.tokenizer.countNow);
  const thinking = recordThinking(dependencies, admitted);
  const fold = createFold();
  for (const event of events) {
    meter.push(event);
    thinking.push(event);
    fold.push(event);
  }
  thinking.keep(attempt.candidate.upstream);
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
  serving: Serving,
): { readonly generated: Generated; readonly settled: Promise<void> } {
  const { call, grant } = admitted;
  const { attempt } = serving;
  const client = createClientStream(() => attempt.abort());
  const leave = (): void => client.leave();
  call.signal.addEventListener('abort', leave);
  const run = async (): Promise<void> => {
    client.write(await deliver(dependencies, admitted, serving, client));
    client.close();
  };
  // This task belongs to the request and not to the client's socket: it settles either way.
  const settled = run()
    .catch(() => client.close())
    .finally(() => call.signal.removeEventListener('abort', leave));
  return {
    generated: {
      kind: 'stream',
      body: client.body,
      modelServed: attempt.candidate.model.slug,
      limits: grant.limits,
    },
    settled,
  };
}

const STOPPED: UpstreamFailure = { class: 'cut', detail: 'the server was stopping' };

/** Steps 8 and 9: pumps the answer and settles it. Resolves to the last words, receipt included. */
async function deliver(
  dependencies: GenerateDependencies,
  admitted: Admitted,
  { attempt, first }: Serving,
  client: ClientStream,
): Promise<string> {
  const { call, grant } = admitted;
  const encoder = call.format.stream(answerHead(dependencies, admitted));
  const meter = createOutputMeter(dependencies.tokenizer.countNow);
  const thinking = recordThinking(dependencies, admitted);
  try {
    const ending = await pump({
      attempt,
      first,
      encoder,
      client,
      onEvent(event) {
        meter.push(event);
        thinking.push(event);
      },
      tellsExhaustion: call.format.tellsExhaustion,
      heartbeatMs: dependencies.heartbeatMs,
    });
    // Before the last words leave: the client's next request may come right behind them.
    thinking.keep(attempt.candidate.upstream);
    // A server that stops ends its streams, which then look as if their upstream had.
    const stopped = ending.kind === 'upstream_failed' && dependencies.inFlight.aborted();
    const failure = ending.kind === 'upstream_failed' ? ending.failure : undefined;
    grant.attempts.add(attempt, stopped ? STOPPED : failure);
    const outcome = stopped ? 'gateway_failed' : ending.kind;
    const receipt = await settleProduced(grant, attempt, meter, outcome);
    report(dependencies, admitted, receipt, failure?.class);
    if (ending.kind === 'completed') return encoder.finish(receipt);
    return encoder.fail(endingError(ending, meter), receipt);
  } catch (error) {
    dependencies.onInternal(call.requestId, error);
    const receipt = await settleProduced(grant, attempt, meter, 'gateway_failed');
    report(dependencies, admitted, receipt);
    return encoder.fail(new GatewayError('internal_error'), receipt);
  }
}

/** A client that left pays for what had been produced for it; one that we send away does not. */
async function giveUp(
  dependencies: GenerateDependencies,
  admitted: Admitted,
  { attempt, events }: Extract<Routed, { readonly kind: 'cancelled' }>,
): Promise<Generated> {
  const { call, grant } = admitted;
  const left = call.signal.aborted;
  const meter = createOutputMeter(dependencies.tokenizer.countNow);
  if (left) for (const event of events) meter.push(event);
  const outcome = left ? 'client_cancelled' : 'gateway_failed';
  const receipt = await settleProduced(grant, attempt, meter, outcome);
  report(dependencies, admitted, receipt);
  if (left) return { kind: 'cancelled' };
  throw new GatewayError('provider_unavailable', { limits: grant.limits });
}

/** What had been produced is charged; where nothing had been, nothing is. */
function settleProduced(
  grant: Grant,
  attempt: Attempt,
  meter: OutputMeter,
  outcome: Outcome,
): Promise<Receipt> {
  if (outcome !== 'completed' && !meter.hasContent()) return grant.release(outcome);
  return grant.settle(attempt.candidate, meter, outcome);
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
