// Runs a request from its key to its receipt, top to bottom. Every branch of the pipeline is here;
// the modules it calls are leaves that never call back. Before the commit point a refusal is a
// thrown GatewayError. After it the only exits are the format's `finish` and `fail`, each with a
// receipt.

import { affinityOf } from '../core/conversation.ts';
import { GatewayError } from '../core/error.ts';
import { failureError, interruptedError, type UpstreamFailure } from '../core/failure.ts';
import { Fold } from '../core/fold.ts';
import type { Answer, GenerationEvent } from '../core/generation.ts';
import type { Tokens } from '../core/money.ts';
import { SLICE_TOKENS } from '../core/price.ts';
import { candidates, type RouteFacts } from '../core/route.ts';
import { answerHead, showsReasoning } from './answer-head.ts';
import { check } from './check.ts';
import { ClientStream } from './client-stream.ts';
import { Opening } from './deferred-attempt.ts';
import { startMetered } from './dispatch.ts';
import { type Admitted, causeOf, causeOfEnd, finish, outputOf } from './finish.ts';
import { obtainGrant } from './hold.ts';
import { Lifetime } from './lifetime.ts';
import type { MeteredAttempt } from './metered-attempt.ts';
import type {
  AnswerStream,
  CheckedRequest,
  GenerateDependencies,
  Generated,
  GenerationCall,
} from './pipeline-types.ts';
import { pump } from './pump.ts';
import { readToEnd } from './reading.ts';
import { type Routed, route, type StartedAttempt } from './route.ts';
import { recordThinking, type ThinkingRecorder } from './thinking.ts';

/** Throws `GatewayError` for every refusal and failure before the commit point. */
export async function generate(
  dependencies: GenerateDependencies,
  call: GenerationCall,
): Promise<Generated> {
  // Authorize first, usually synchronously: refusing a key should cost nothing more.
  const identified = call.authorize();
  // Register before anything is held: shutdown waits for every request that could still write.
  const lifetime = new Lifetime(dependencies.inFlight, call);
  /** A stream ends after its response has started, everything else before. */
  let isStreaming = false;
  try {
    const checked = await check(dependencies, call, await identified);
    if (typeof checked === 'function') return { kind: 'repeated', response: await checked() };
    const grant = await obtainGrant(dependencies, checked);
    // The upstream is called while the hold is being written; none of its answer is passed on
    // before.
    grant.watchHold(() => lifetime.giveUp());
    lifetime.onLeave(grant);
    const admitted: Admitted = { checked, grant, lifetime };
    if (lifetime.isOver()) return await giveUp(dependencies, admitted);
    const routed = await findUpstream(dependencies, admitted);
    if (routed.kind === 'failed') return await refuse(dependencies, admitted, routed);
    if (routed.kind === 'cancelled') return await giveUp(dependencies, admitted, routed.asked);
    if (routed.kind === 'serving' && !checked.request.stream) {
      return await serveWhole(dependencies, admitted, routed);
    }
    const generated = serveStream(dependencies, admitted, routed);
    isStreaming = true;
    return generated;
  } finally {
    if (!isStreaming) lifetime.end();
  }
}

/** Step 7: runs attempts until one delivers. An internal error releases the grant. */
async function findUpstream(
  dependencies: GenerateDependencies,
  admitted: Admitted,
): Promise<Routed<MeteredAttempt>> {
  const { checked, grant, lifetime } = admitted;
  const { call, facts, request } = checked;
  const { random, silentCommitMs, health, monotonic, startTimer, startDeadline } = dependencies;
  const { outputBound } = grant.cover;
  try {
    const routed = await route({
      startAttempt: (options, permit) => startMetered(dependencies, admitted, options, permit),
      candidates: candidates(routeFacts(checked, outputBound), random),
      request,
      promptTokens: checked.promptTokens,
      // An upstream stream can be stopped when the balance runs out, even for a whole answer.
      streamUpstream: request.stream || outputBound > SLICE_TOKENS,
      until: request.stream ? 'content' : 'end',
      tellsExhaustion: call.format.tellsExhaustion,
      showsReasoning: showsReasoning(checked),
      silentCommitMs,
      lifetime,
      attempts: grant.attempts,
      health: health.of(facts.accountId),
      monotonic,
      random,
      startTimer,
      startDeadline,
    });
    if (routed.kind !== 'silent') return routed;
    // This delays the headers as well. If the hold is lost, the search is aborted.
    const isHeld = await grant.isHeld();
    return isHeld ? routed : await routed.found;
  } catch (error) {
    await finish(dependencies, admitted, 'gateway');
    throw error;
  }
}

function routeFacts(
  { call, facts, request, catalog, model, plan, promptTokens }: CheckedRequest,
  outputBound: Tokens,
): RouteFacts {
  return {
    catalog,
    isDisabled: call.serviceState.isDisabled,
    incidentOf: call.serviceState.incidentOf,
    model,
    plan,
    allowed: facts.bounds?.models,
    request,
    affinity: affinityOf(facts.accountId, request),
    startedAt: call.startedAt,
    promptTokens,
    outputBound,
  };
}

/** Every attempt has failed, or the balance could not cover a whole answer to its end. */
async function refuse(
  dependencies: GenerateDependencies,
  admitted: Admitted,
  { failure, ...wait }: Extract<Routed<MeteredAttempt>, { readonly kind: 'failed' }>,
): Promise<never> {
  const cause = causeOf(dependencies, failure);
  const { tokensDebited } = await finish(dependencies, admitted, cause, { failure });
  throw failureError(failure, { ...wait, limits: admitted.grant.limits, tokensDebited });
}

async function serveWhole(
  dependencies: GenerateDependencies,
  admitted: Admitted,
  { attempt, first }: StartedAttempt<MeteredAttempt>,
): Promise<Generated> {
  const { checked, grant } = admitted;
  grant.attempts.add(attempt, undefined);
  let answer: Answer;
  try {
    const thinking = recordThinking(dependencies, checked);
    answer = foldAnswer(first.events, thinking);
    await thinking.keep(attempt);
  } catch (error) {
    await finish(dependencies, admitted, 'gateway');
    throw error;
  }
  const receipt = await finish(dependencies, admitted, causeOfEnd(attempt), { attempt });
  // Another node ended the hold without a charge, so the answer must not be delivered.
  if (receipt.outcome === 'gateway_failed') {
    throw new GatewayError('provider_unavailable', { limits: grant.limits });
  }
  return {
    kind: 'whole',
    body: checked.call.format.response(answerHead(checked), answer, receipt),
    modelServed: receipt.modelServed,
    limits: grant.limits,
    receipt,
  };
}

/** Folds the events of a whole answer into one. */
function foldAnswer(events: readonly GenerationEvent[], thinking: ThinkingRecorder): Answer {
  const fold = new Fold();
  for (const event of events) {
    thinking.push(event);
    fold.push(event);
  }
  return fold.answer();
}

/** The commit point: from here on, status and headers are being sent to the client. */
function serveStream(
  dependencies: GenerateDependencies,
  admitted: Admitted,
  routed: Extract<Routed<MeteredAttempt>, { readonly kind: 'serving' | 'silent' }>,
): Generated {
  const { checked, grant, lifetime } = admitted;
  const leave = (): void => lifetime.leave();
  const client = checked.call.keyed?.openStream(leave) ?? new ClientStream(leave);
  lifetime.serve(client);
  const answer = new Opening(routed, grant.attempts);
  // This task belongs to the request, not to the client's socket: it settles either way.
  const run = async (): Promise<void> => {
    let last = '';
    try {
      last = await deliver(dependencies, admitted, answer, client);
      checked.call.limitIdle?.(); // Behind the close it would have no effect.
    } finally {
      client.close(last);
      lifetime.end();
    }
  };
  run().catch(() => {}); // Without a settlement the hold is recovered.
  return {
    kind: 'stream',
    body: client.body,
    ...(routed.kind === 'silent' ? {} : { modelServed: routed.attempt.candidate.model.slug }),
    limits: grant.limits,
  };
}

const STOPPED: UpstreamFailure = { class: 'gateway', detail: 'the server was stopping' };

/** Steps 8 and 9: pumps the answer and settles it. Resolves to the final events and receipt. */
async function deliver(
  dependencies: GenerateDependencies,
  admitted: Admitted,
  answer: Opening<MeteredAttempt>,
  client: AnswerStream,
): Promise<string> {
  const { checked } = admitted;
  const { call } = checked;
  const encoder = call.format.stream(answerHead(checked));
  const thinking = recordThinking(dependencies, checked);
  try {
    const pumped = await pump({
      attempt: answer,
      first: answer.begin((model) => encoder.servedBy(model)),
      encoder,
      client,
      onEvent: thinking.push,
      tellsExhaustion: call.format.tellsExhaustion,
      heartbeatMs: dependencies.heartbeatMs,
    });
    const attempt = answer.attempt();
    // Stored before the final events are sent: the client's next request may follow immediately.
    if (attempt !== undefined) await thinking.keep(attempt);
    if (pumped.kind === 'client_left') {
      // One that was aborted ends at once, with what was held back for a stop sequence.
      if (attempt !== undefined && !pumped.over) await readToEnd(attempt);
      answer.note(undefined);
      await finish(dependencies, admitted, 'client', { attempt });
      return '';
    }
    if (pumped.kind === 'finished' && attempt !== undefined) {
      answer.note(undefined);
      return encoder.finish(await finish(dependencies, admitted, causeOfEnd(attempt), { attempt }));
    }
    // Shutdown aborts its streams, which then look like upstream failures.
    const isStopped = dependencies.inFlight.aborted() || pumped.kind === 'finished';
    const failure = isStopped ? STOPPED : pumped.failure;
    answer.note(failure);
    const cause = causeOf(dependencies, failure);
    const receipt = await finish(dependencies, admitted, cause, { attempt, failure, isSent: true });
    // After a silent commit an upstream can still fail without delivering anything.
    const isDelivered = outputOf(checked, attempt) === 'visible';
    return encoder.fail(isDelivered ? interruptedError() : failureError(failure, receipt), receipt);
  } catch (error) {
    answer.abort();
    dependencies.onInternal(call.requestId, error);
    const attempt = answer.attempt();
    const receipt = await finish(dependencies, admitted, 'gateway', { attempt, isSent: true });
    return encoder.fail(new GatewayError('internal_error'), receipt);
  }
}

/**
 * Handles the end of a search without a reader: the client disconnected or the server is stopping.
 * `asked` is the attempt in progress, if any. Resolves if the client disconnected, and throws the
 * refusal during shutdown.
 */
async function giveUp(
  dependencies: GenerateDependencies,
  admitted: Admitted,
  asked?: StartedAttempt<MeteredAttempt>,
): Promise<Generated> {
  const { grant, lifetime } = admitted;
  if (asked !== undefined && asked.first.end === undefined && lifetime.isDraining()) {
    await readToEnd(asked.attempt);
  }
  const left = lifetime.hasLeft();
  // A client that is refused during shutdown receives none of the answer and is charged nothing.
  const attempt = left ? asked?.attempt : undefined;
  await finish(dependencies, admitted, left ? 'client' : 'gateway', { attempt, failure: STOPPED });
  if (left) return { kind: 'cancelled' };
  throw grant.refusal() ?? new GatewayError('provider_unavailable', { limits: grant.limits });
}
