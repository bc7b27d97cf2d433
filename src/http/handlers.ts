// The handlers of the /v1 routes. Each path ends in one finished Response; anything thrown is
// answered in the envelope of the path's format.

import { ERRORS, GatewayError } from '../core/error.ts';
import { targetOf } from '../core/request-target.ts';
import type { ServiceState } from '../core/service-state.ts';
import { countTokens } from '../generate/count.ts';
import { generate } from '../generate/generate.ts';
import type { KeyFacts } from '../identity/authenticate.ts';
import { parseCount } from '../wire/messages/request.ts';
import { parseResponses } from '../wire/responses/request.ts';
import {
  Exchange,
  type GenerationExchange,
  type HandlerDependencies,
  type RuntimeServer,
  refuse,
  requireServing,
} from './exchange.ts';
import { claimLook, type ListDependencies } from './lists.ts';
import { respondGenerated, respondJson } from './respond.ts';
import { allowedMethods, formatOfPath, isKeyManagement, notOffered } from './routes.ts';

/** POST /v1/chat/completions, /v1/messages and /v1/responses. */
export async function answerGeneration(
  dependencies: HandlerDependencies,
  exchange: GenerationExchange,
): Promise<Response> {
  try {
    requireServing(dependencies);
    // A repeat needs no upstream.
    if (exchange.keyed === undefined) requireRoom(dependencies);
    const generated = await generate(dependencies.generation, exchange);
    const response = respondGenerated(exchange.requestId, generated);
    if (generated.kind === 'stream') exchange.tally.streaming(response.status);
    else exchange.tally.answered(response.status);
    return response;
  } catch (error) {
    return refuse(dependencies, exchange, error);
  }
}

/** POST /v1/messages/count_tokens. */
export function answerCount(
  dependencies: HandlerDependencies,
  exchange: Exchange,
): Promise<Response> {
  return answerJson(dependencies, exchange, async () => ({
    input_tokens: await countTokens(dependencies.generation, exchange, parseCount),
  }));
}

/** POST /v1/responses/input_tokens. */
export function answerInputTokens(
  dependencies: HandlerDependencies,
  exchange: Exchange,
): Promise<Response> {
  return answerJson(dependencies, exchange, async () => ({
    object: 'response.input_tokens',
    input_tokens: await countTokens(dependencies.generation, exchange, parseResponses),
  }));
}

/** Answers what a key may know about its account; `record` gathers it. */
export function answerList(
  dependencies: HandlerDependencies,
  exchange: Exchange,
  record: (dependencies: ListDependencies, facts: KeyFacts, state: ServiceState) => unknown,
): Promise<Response> {
  return answerJson(dependencies, exchange, async () => {
    const facts = await exchange.authorize();
    claimLook(dependencies.lists, facts, exchange.serviceState);
    return record(dependencies.lists, facts, exchange.serviceState);
  });
}

async function answerJson(
  dependencies: HandlerDependencies,
  exchange: Exchange,
  read: () => Promise<unknown>,
): Promise<Response> {
  try {
    requireServing(dependencies);
    const response = respondJson(exchange.requestId, await read());
    exchange.tally.answered(response.status);
    return response;
  } catch (error) {
    return refuse(dependencies, exchange, error);
  }
}

const SHOWN_PATH_LENGTH_MAX = 200;

/** Answers everything without a route: key management, wrong methods, unknown paths. */
export async function answerElsewhere(
  dependencies: HandlerDependencies,
  request: Request,
  server: RuntimeServer | null,
): Promise<Response> {
  const path = targetOf(request).pathname;
  const exchange = new Exchange(dependencies, request, server, formatOfPath(path), 'elsewhere');
  if (isKeyManagement(path, request.method)) {
    try {
      await exchange.authorize();
    } catch (error) {
      return refuse(dependencies, exchange, error);
    }
    return refuse(dependencies, exchange, new GatewayError('session_required'));
  }
  const { offersResponses } = dependencies;
  const allow = allowedMethods(path, offersResponses);
  if (allow === undefined) {
    return refuse(dependencies, exchange, nothingAt(path, offersResponses));
  }
  // Clients that prefer a WebSocket change to HTTP at this status, and retry it at any other.
  const upgrade = path === '/v1/responses' ? request.headers.get('upgrade')?.toLowerCase() : null;
  const code = upgrade === 'websocket' ? 'websocket_not_offered' : 'method_not_allowed';
  return refuse(dependencies, exchange, new GatewayError(code), allow);
}

/** Names the path, which makes a base URL with /v1 twice or missing obvious. */
function nothingAt(path: string, offersResponses: boolean): GatewayError {
  const known = notOffered(path, offersResponses);
  if (known !== undefined) return new GatewayError('not_found', { message: known });
  const { text } = ERRORS.not_found;
  const shown = path.slice(0, SHOWN_PATH_LENGTH_MAX);
  return new GatewayError('not_found', { message: text.replace('this path', shown) });
}

/** Throws if no upstream connection is free. */
export function requireRoom({ hasRoom }: HandlerDependencies): void {
  if (hasRoom()) return;
  throw new GatewayError('provider_unavailable', {
    message:
      'The server has as many connections as it can take at the moment. Nothing was charged. Retry with back-off.',
    retryAfterSeconds: 1,
    closesConnection: true,
  });
}
