// What each route does with a request. Called by the route table in server.ts; every path ends in
// one finished Response, and whatever is thrown ends in the envelope of the path's own format.

import type { Deadlines } from '../core/deadlines.ts';
import { ERRORS, GatewayError } from '../core/error.ts';
import { createRequestId, type RandomBytes } from '../core/id.ts';
import type { GenerateDependencies } from '../generate/call.ts';
import { countTokens } from '../generate/count.ts';
import { generate } from '../generate/generate.ts';
import type { Access } from '../identity/access.ts';
import { clientAddress, type NetworkSet } from '../identity/address.ts';
import type { KeyFacts } from '../identity/authenticate.ts';
import type { ClientFormat } from '../wire/format.ts';
import { parseCount } from '../wire/messages/request.ts';
import { readBody } from './body.ts';
import type { ListDependencies } from './lists.ts';
import { respondError, respondGenerated, respondJson } from './respond.ts';
import { allowedMethods, formatOfPath, isKeyManagement } from './routes.ts';

export type HandlerDependencies = {
  readonly access: Access;
  readonly generation: GenerateDependencies;
  readonly lists: ListDependencies;
  readonly randomBytes: RandomBytes;
  readonly clock: () => number;
  readonly deadlines: Deadlines;
  readonly trustedProxies: NetworkSet;
  /** Why this process cannot serve at the moment; empty when it can. */
  readonly problems: () => readonly string[];
  /** What is wrong and keeps nobody but single accounts from being served. Says nothing of them. */
  readonly warnings: () => readonly string[];
  /** Whether the books of an account differ, so that nothing new may be sold to it. */
  readonly isStopped: (accountId: string) => boolean;
  readonly draining: () => boolean;
  readonly touchKey: (keyId: string) => void;
  readonly onInternal: (requestId: string, error: unknown) => void;
};

/** What the handlers use of the runtime's server. */
export type RuntimeServer = {
  readonly requestIP: (request: Request) => { readonly address: string } | null;
  readonly timeout: (request: Request, seconds: number) => void;
};

/** One request, as its handler sees it. */
export type Exchange = {
  readonly request: Request;
  readonly server: RuntimeServer | null;
  readonly requestId: string;
  readonly format: ClientFormat;
  /** Who asks. Throws the refusal of a key or of its account. */
  readonly authorize: () => KeyFacts;
};

export function openExchange(
  dependencies: HandlerDependencies,
  request: Request,
  server: RuntimeServer | null,
  format: ClientFormat,
): Exchange {
  return {
    request,
    server,
    format,
    requestId: createRequestId(dependencies.clock(), dependencies.randomBytes),
    authorize() {
      const facts = dependencies.access({
        authorization: request.headers.get('authorization'),
        xApiKey: request.headers.get('x-api-key'),
        address: () => addressOf(request, server, dependencies.trustedProxies),
      });
      dependencies.touchKey(facts.keyId);
      return facts;
    },
  };
}

/** POST /v1/chat/completions and /v1/messages. */
export function answerGeneration(
  dependencies: HandlerDependencies,
  exchange: Exchange,
): Promise<Response> {
  const { request, server, format, requestId, authorize } = exchange;
  return answer(dependencies, exchange, async () => {
    const generated = await generate(dependencies.generation, {
      format,
      requestId,
      startedAt: dependencies.clock(),
      authorize() {
        const facts = authorize();
        if (dependencies.isStopped(facts.accountId)) throw accountStopped();
        return facts;
      },
      async readBody() {
        const body = await readBody(request, dependencies);
        // From here on silence is the model's: the runtime must not take it for a dead client.
        server?.timeout(request, 0);
        return body;
      },
      signal: request.signal,
    });
    return respondGenerated(requestId, generated);
  });
}

/** POST /v1/messages/count_tokens. */
export function answerCount(
  dependencies: HandlerDependencies,
  exchange: Exchange,
): Promise<Response> {
  const { request, requestId, authorize } = exchange;
  return answer(dependencies, exchange, async () => {
    const tokens = await countTokens(dependencies.generation, {
      authorize,
      readBody: () => readBody(request, dependencies),
      parse: parseCount,
    });
    return respondJson(requestId, { input_tokens: tokens });
  });
}

/** What a key may know about its account; `record` gathers it. */
export function answerList(
  dependencies: HandlerDependencies,
  exchange: Exchange,
  record: (dependencies: ListDependencies, facts: KeyFacts) => unknown,
): Promise<Response> {
  const { requestId, authorize } = exchange;
  return answer(dependencies, exchange, () =>
    respondJson(requestId, record(dependencies.lists, authorize())),
  );
}

const SHOWN_PATH_LENGTH_MAX = 200;

/** Whatever no route takes: key management, wrong methods, unknown paths. */
export function answerElsewhere(
  dependencies: HandlerDependencies,
  request: Request,
  server: RuntimeServer | null,
): Response {
  const path = new URL(request.url).pathname;
  const exchange = openExchange(dependencies, request, server, formatOfPath(path));
  if (isKeyManagement(path, request.method)) {
    try {
      exchange.authorize();
    } catch (error) {
      return refuse(dependencies, exchange, error);
    }
    return refuse(dependencies, exchange, new GatewayError('session_required'));
  }
  const allow = allowedMethods(path);
  if (allow === undefined) return refuse(dependencies, exchange, nothingAt(path));
  return refuse(dependencies, exchange, new GatewayError('method_not_allowed'), allow);
}

/** Names the path: a base URL with /v1 twice, or without it, is seen at a glance then. */
function nothingAt(path: string): GatewayError {
  const { text } = ERRORS.not_found;
  const shown = path.slice(0, SHOWN_PATH_LENGTH_MAX);
  return new GatewayError('not_found', { message: text.replace('this path', shown) });
}

/** GET /readyz: whether new requests should be sent here. */
export function answerReady(dependencies: HandlerDependencies): Response {
  const problems = dependencies.draining() ? ['draining'] : dependencies.problems();
  const status = problems.length === 0 ? 200 : 503;
  const warnings = dependencies.warnings();
  return Response.json(
    { status: status === 200 ? 'ready' : 'not_ready', problems, warnings },
    { status },
  );
}

async function answer(
  dependencies: HandlerDependencies,
  exchange: Exchange,
  work: () => Response | Promise<Response>,
): Promise<Response> {
  try {
    if (dependencies.draining()) throw stopping();
    return await work();
  } catch (error) {
    return refuse(dependencies, exchange, error);
  }
}

function refuse(
  dependencies: HandlerDependencies,
  { requestId, format }: Exchange,
  error: unknown,
  allow?: string,
): Response {
  return respondError({
    requestId,
    format,
    error,
    onInternal: (cause) => dependencies.onInternal(requestId, cause),
    ...(allow === undefined ? {} : { allow }),
  });
}

function addressOf(
  request: Request,
  server: RuntimeServer | null,
  trustedProxies: NetworkSet,
): string {
  const socketAddress = server?.requestIP(request)?.address ?? '';
  return clientAddress(socketAddress, request.headers.get('x-forwarded-for'), trustedProxies);
}

function accountStopped(): GatewayError {
  return new GatewayError('provider_unavailable', {
    message:
      'The balance of this account is being checked, and new requests wait for that. Nothing was charged. Retry later, or ask the operator, whose log says more.',
  });
}

function stopping(): GatewayError {
  return new GatewayError('provider_unavailable', {
    message: 'The service is restarting. Nothing was charged. Retry with back-off.',
  });
}
