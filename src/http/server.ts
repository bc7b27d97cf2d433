// The /v1 surface and the health paths. The framework routes and nothing else: bodies are read,
// checked and answered in our own code, and each handler returns one finished Response.

import { Elysia } from 'elysia';
import type { Deadlines } from '../core/deadlines.ts';
import { GatewayError } from '../core/error.ts';
import type { RandomBytes } from '../core/id.ts';
import { createRequestId } from '../core/id.ts';
import type { GenerateDependencies } from '../generate/call.ts';
import { countTokens } from '../generate/count.ts';
import { generate } from '../generate/generate.ts';
import type { Access } from '../identity/access.ts';
import { clientAddress, type NetworkSet } from '../identity/address.ts';
import type { KeyFacts } from '../identity/authenticate.ts';
import { chatFormat } from '../wire/chat/format.ts';
import type { ClientFormat } from '../wire/format.ts';
import { messagesFormat } from '../wire/messages/format.ts';
import { parseCount } from '../wire/messages/request.ts';
import { readBody } from './body.ts';
import { type ListDependencies, listKeys, listModels, showAccount, showModel } from './lists.ts';
import { respondError, respondGenerated, respondJson } from './respond.ts';
import { allowedMethods, formatOfPath, isKeyManagement } from './routes.ts';

/** The server's own backstop; our own check of 2 MB comes first and answers in the envelope. */
const RUNTIME_BODY_MAX = 1_073_741_824;

/** Seconds of silence before the runtime drops a connection that has not sent its request. */
const IDLE_TIMEOUT_SECONDS = 60;

export type ServerDependencies = {
  readonly access: Access;
  readonly generation: GenerateDependencies;
  readonly lists: ListDependencies;
  readonly randomBytes: RandomBytes;
  readonly clock: () => number;
  readonly deadlines: Deadlines;
  readonly trustedProxies: NetworkSet;
  /** Why this process cannot serve at the moment; empty when it can. */
  readonly problems: () => readonly string[];
  readonly draining: () => boolean;
  readonly touchKey: (keyId: string) => void;
  readonly onInternal: (requestId: string, error: unknown) => void;
  readonly version: string;
};

type RuntimeServer = {
  readonly requestIP: (request: Request) => { readonly address: string } | null;
  readonly timeout: (request: Request, seconds: number) => void;
};

/** One request, as its handlers see it. */
type Exchange = {
  readonly request: Request;
  readonly server: RuntimeServer | null;
  readonly requestId: string;
  readonly format: ClientFormat;
  readonly authorize: () => KeyFacts;
};

export type GatewayServer = {
  readonly port: number;
  /** Stops taking connections; running requests go on. */
  readonly stop: () => Promise<void>;
  /** Drops the connections that are still there. */
  readonly close: () => Promise<void>;
};

export function startServer(
  dependencies: ServerDependencies,
  address: { readonly hostname: string; readonly port: number },
): GatewayServer {
  const app = createApp(dependencies);
  app.listen({
    ...address,
    reusePort: false,
    idleTimeout: IDLE_TIMEOUT_SECONDS,
    maxRequestBodySize: RUNTIME_BODY_MAX,
    development: false,
  });
  return {
    port: app.server?.port ?? address.port,
    async stop() {
      await app.stop(false);
    },
    async close() {
      await app.server?.stop(true);
    },
  };
}

export function createApp(dependencies: ServerDependencies) {
  const { clock } = dependencies;

  const exchange = (
    request: Request,
    server: RuntimeServer | null,
    format: ClientFormat,
  ): Exchange => ({
    request,
    server,
    format,
    requestId: createRequestId(clock(), dependencies.randomBytes),
    authorize: () => {
      const facts = dependencies.access({
        authorization: request.headers.get('authorization'),
        xApiKey: request.headers.get('x-api-key'),
        address: () => addressOf(request, server, dependencies.trustedProxies),
      });
      dependencies.touchKey(facts.keyId);
      return facts;
    },
  });

  const answer = async (
    exchanged: Exchange,
    work: (exchanged: Exchange) => Response | Promise<Response>,
  ): Promise<Response> => {
    try {
      if (dependencies.draining()) throw stopping();
      return await work(exchanged);
    } catch (error) {
      return respondError({
        ...exchanged,
        error,
        onInternal: (cause) => dependencies.onInternal(exchanged.requestId, cause),
      });
    }
  };

  const generation = (request: Request, server: RuntimeServer | null, format: ClientFormat) =>
    answer(exchange(request, server, format), async ({ requestId, authorize }) => {
      const generated = await generate(dependencies.generation, {
        format,
        requestId,
        startedAt: clock(),
        authorize,
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

  const count = (request: Request, server: RuntimeServer | null) =>
    answer(exchange(request, server, messagesFormat), async ({ requestId, authorize }) => {
      const tokens = await countTokens(dependencies.generation, {
        authorize,
        readBody: () => readBody(request, dependencies),
        parse: parseCount,
      });
      return respondJson(requestId, { input_tokens: tokens });
    });

  const list = (
    request: Request,
    server: RuntimeServer | null,
    record: (dependencies: ListDependencies, facts: KeyFacts) => unknown,
  ) =>
    answer(exchange(request, server, formatOfPath('')), ({ requestId, authorize }) =>
      respondJson(requestId, record(dependencies.lists, authorize())),
    );

  const elsewhere = (request: Request, server: RuntimeServer | null): Response => {
    const path = new URL(request.url).pathname;
    const exchanged = exchange(request, server, formatOfPath(path));
    const refuse = (error: unknown, allow?: string): Response =>
      respondError({
        ...exchanged,
        error,
        onInternal: (cause) => dependencies.onInternal(exchanged.requestId, cause),
        ...(allow === undefined ? {} : { allow }),
      });
    if (isKeyManagement(path, request.method)) {
      try {
        exchanged.authorize();
      } catch (error) {
        return refuse(error);
      }
      return refuse(new GatewayError('session_required'));
    }
    const allow = allowedMethods(path);
    if (allow !== undefined) return refuse(new GatewayError('method_not_allowed'), allow);
    return refuse(new GatewayError('not_found'));
  };

  const ready = (): Response => {
    const problems = dependencies.draining() ? ['draining'] : dependencies.problems();
    const status = problems.length === 0 ? 200 : 503;
    return Response.json({ status: status === 200 ? 'ready' : 'not_ready', problems }, { status });
  };

  return new Elysia({
    precompile: true,
    strictPath: true,
    handler: { standardHostname: false },
  })
    .post(
      '/v1/chat/completions',
      ({ request, server }) => generation(request, server, chatFormat),
      { parse: 'none' },
    )
    .post('/v1/messages', ({ request, server }) => generation(request, server, messagesFormat), {
      parse: 'none',
    })
    .post('/v1/messages/count_tokens', ({ request, server }) => count(request, server), {
      parse: 'none',
    })
    .get('/v1/models', ({ request, server }) => list(request, server, listModels))
    .get('/v1/models/:model', ({ request, server, params }) =>
      list(request, server, (lists, facts) => showModel(lists, facts, params.model)),
    )
    .get('/v1/api-keys', ({ request, server }) => list(request, server, listKeys))
    .get('/v1/account', ({ request, server }) => list(request, server, showAccount))
    .get('/healthz', () => Response.json({ status: 'ok', version: dependencies.version }))
    .get('/readyz', () => ready())
    .get('/', () => Response.json({ service: 'tollgate', version: dependencies.version }))
    .head('/', () => new Response(null))
    .all('/*', ({ request, server }) => elsewhere(request, server), { parse: 'none' })
    .onError(({ request }) => elsewhere(request, null));
}

function addressOf(
  request: Request,
  server: RuntimeServer | null,
  trustedProxies: NetworkSet,
): string {
  const socketAddress = server?.requestIP(request)?.address ?? '';
  return clientAddress(socketAddress, request.headers.get('x-forwarded-for'), trustedProxies);
}

function stopping(): GatewayError {
  return new GatewayError('provider_unavailable', {
    message: 'The service is restarting. Nothing was charged. Retry with back-off.',
  });
}
