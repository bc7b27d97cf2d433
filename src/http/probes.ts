// GET /readyz and GET /metrics, for load balancers and operators. Both answer while the server
// drains, and neither needs an account.

import { GatewayError } from '../core/error.ts';
import { upstreamCounts, upstreamRecords } from '../core/readiness.ts';
import { wordsOf } from '../core/sentence.ts';
import { chatFormat } from '../wire/chat/format.ts';
import {
  Exchange,
  type HandlerDependencies,
  type Mount,
  type RuntimeServer,
  refuse,
  socketAddressOf,
} from './exchange.ts';

/** GET /readyz: whether new requests should be sent here. Warnings do not affect that. */
export async function answerReady(
  dependencies: HandlerDependencies,
  request: Request,
  server: RuntimeServer | null,
): Promise<Response> {
  const problems = dependencies.draining()
    ? ['draining']
    : (await dependencies.problems()).map(wordsOf);
  const status = problems.length === 0 ? 200 : 503;
  const states = dependencies.upstreams();
  const isOperator = mayOperate(dependencies, request, server);
  const warnings = dependencies.warnings(isOperator ? 'operator' : 'public').map(wordsOf);
  const { upstreams, credentialsDisabled, breakersOpen } = upstreamCounts(states);
  const { requestsInFlight, streamsOpen, ledgerPending, limits } = dependencies.load();
  const detail = {
    requests_in_flight: requestsInFlight,
    streams_open: streamsOpen,
    limits: limits.mode,
    redis: limits.redis,
    ledger_pending: ledgerPending,
    upstreams: isOperator ? upstreamRecords(states) : upstreams,
    credentials_disabled: credentialsDisabled,
    breakers_open: breakersOpen,
  };
  return Response.json(
    { status: status === 200 ? 'ready' : 'not_ready', problems, warnings, detail },
    { status },
  );
}

/** GET /metrics, for the operator only. */
export async function answerMetrics(
  dependencies: HandlerDependencies,
  request: Request,
  server: RuntimeServer | null,
): Promise<Response> {
  const refused = (error: unknown): Promise<Response> =>
    refuse(dependencies, new Exchange(dependencies, request, server, chatFormat, 'metrics'), error);
  if (!mayOperate(dependencies, request, server)) {
    return refused(
      new GatewayError('operator_only', { message: dependencies.operatorAccess.hint }),
    );
  }
  try {
    const { contentType, text } = await dependencies.metrics();
    return new Response(text, { headers: { 'content-type': contentType } });
  } catch (error) {
    return refused(error);
  }
}

/**
 * Requires a known host name: see `known-hosts.ts`. A request with METRICS_TOKEN cannot come from a
 * hostile page, so any name is accepted.
 */
export function underOwnName(dependencies: HandlerDependencies, answer: Mount): Mount {
  const { knownHosts, operatorAccess } = dependencies;
  return async (request, server) => {
    const { headers } = request;
    const address = socketAddressOf(request, server);
    if (knownHosts.isKnown(headers.get('host'), address) || operatorAccess.hasToken(headers)) {
      return answer(request, server);
    }
    const exchange = new Exchange(dependencies, request, server, chatFormat, 'elsewhere');
    return refuse(dependencies, exchange, new GatewayError('misdirected_request'));
  };
}

function mayOperate(
  { operatorAccess }: HandlerDependencies,
  request: Request,
  server: RuntimeServer | null,
): boolean {
  return operatorAccess.isOperator(request.headers, socketAddressOf(request, server));
}
