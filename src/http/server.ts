// The routes of the /v1 surface and the health paths, and the listening server. The framework only
// routes: our own code reads, checks and answers bodies, and each handler returns one finished
// Response.

import { type AnyElysia, Elysia } from 'elysia';
import { decodePart } from '../core/percent-encoding.ts';
import type { RouteName } from '../core/request-summary.ts';
import { targetOf } from '../core/request-target.ts';
import { chatFormat } from '../wire/chat/format.ts';
import type { ClientFormat } from '../wire/format.ts';
import { messagesFormat } from '../wire/messages/format.ts';
import { responsesFormat } from '../wire/responses/format.ts';
import {
  Exchange,
  GenerationExchange,
  type HandlerDependencies,
  IDLE_TIMEOUT_SECONDS,
  type Mount,
  type RuntimeServer,
} from './exchange.ts';
import { answerCount, answerElsewhere, answerInputTokens, answerList } from './handlers.ts';
import { answerOnce } from './keyed-request.ts';
import { listKeys, listModels, showAccount, showBill, showModel } from './lists.ts';
import { answerMetrics, answerReady, underOwnName } from './probes.ts';
import { type ApiRoute, servedRoutes } from './routes.ts';
import { bounded, paced } from './visits.ts';

/** The runtime's own backstop; our 2 MB limit applies first and answers in the envelope. */
const RUNTIME_BODY_BYTES_MAX = 1_073_741_824;

export type ServerDependencies = HandlerDependencies & {
  readonly version: string;
  readonly dashboard: Mount;
  /** The documentation: the customers' part is public, the operators' part is in the console. */
  readonly docs: Readonly<Record<'customers' | 'operators', Mount>>;
  /** The description of the API. */
  readonly openapi: Mount;
  /** The pages for strangers, at `/` and `/models`. */
  readonly site: Mount;
};

export type GatewayServer = {
  readonly port: number;
  /** Stops accepting connections; running requests continue. */
  readonly stop: () => Promise<void>;
  /** Closes the remaining connections. */
  readonly close: () => Promise<void>;
};

type Address = {
  readonly hostname: string;
  readonly port: number;
  /** Whether other processes may listen on the same address. */
  readonly reusePort?: boolean;
};

/** Starts to listen immediately. Throws the runtime's error if the address is unavailable. */
export function startServer(dependencies: ServerDependencies, address: Address): GatewayServer {
  return listening(createApp(dependencies), address);
}

/**
 * The operator's console, on its own listener, so that exposing the public one does not expose the
 * console. It stays open while the public one drains, with the operators' requests on it. Throws as
 * `startServer` does.
 */
export function startConsole(
  dependencies: ServerDependencies,
  console: Mount,
  address: Address,
): GatewayServer {
  const { version } = dependencies;
  const mount = (answer: Mount): Mount =>
    underOwnName(dependencies, bounded(dependencies, answer, 'console'));
  const pages = mount(console);
  const docs = mount(dependencies.docs.operators);
  const { ready, metrics } = probesOf(dependencies);
  const app = new Elysia({ strictPath: true, handler: { standardHostname: false } })
    .onError(() => new Response(null, { status: 404 }))
    .get('/', () => new Response(null, { status: 302, headers: { location: '/operator' } }))
    .get('/healthz', () => Response.json({ status: 'ok', version }))
    .get('/readyz', answeredBy(ready))
    .get('/metrics', answeredBy(metrics))
    .all('/*', () => new Response(null, { status: 404 }), { parse: 'none' });
  mountBelow(app, '/operator', pages);
  mountBelow(app, '/operator/docs', docs);
  return listening(app, address);
}

function listening(app: AnyElysia, { reusePort = false, ...address }: Address): GatewayServer {
  app.listen({
    ...address,
    reusePort,
    idleTimeout: IDLE_TIMEOUT_SECONDS,
    maxRequestBodySize: RUNTIME_BODY_BYTES_MAX,
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

function probesOf(dependencies: ServerDependencies): Record<'ready' | 'metrics', Mount> {
  return {
    ready: paced(
      dependencies,
      underOwnName(dependencies, (...asked) => answerReady(dependencies, ...asked)),
    ),
    metrics: underOwnName(dependencies, (...asked) => answerMetrics(dependencies, ...asked)),
  };
}

type Asked = {
  readonly request: Request;
  readonly server: RuntimeServer | null;
  readonly params: Readonly<Record<string, string>>;
};

type RouteHandler = (asked: Asked) => Response | Promise<Response>;

function answeredBy(mount: Mount): RouteHandler {
  return ({ request, server }) => mount(request, server);
}

/** Answers a path and all below it. */
function mountBelow(app: AnyElysia, path: string, mount: Mount): void {
  for (const each of [path, `${path}/*`]) {
    app.all(each, ({ request, server }) => mount(request, server), { parse: 'none' });
  }
}

function createApp(dependencies: ServerDependencies) {
  const site = bounded(dependencies, dependencies.site);
  const dashboard = bounded(dependencies, dependencies.dashboard);
  const docs = bounded(dependencies, dependencies.docs.customers);
  const elsewhere = bounded(dependencies, (...asked) => answerElsewhere(dependencies, ...asked));
  const app = new Elysia({
    precompile: true,
    strictPath: true,
    handler: { standardHostname: false },
  });
  // Before the routes: it holds for those that come after it.
  app.onError(({ request }) => answerElsewhere(dependencies, request, null));
  const handlers = handlersOf(dependencies, () => app.server);
  for (const { name, method, path } of servedRoutes(dependencies.offersResponses)) {
    app.route(method, path.replace(':model', '*'), handlers[name], { parse: 'none' });
  }
  mountBelow(app, '/dashboard', dashboard);
  mountBelow(app, '/docs', docs);
  // `/models` is the path of a base URL that lacks /v1, too.
  return app
    .get('/models', ({ request, server }) =>
      isBrowser(request) ? site(request, server) : elsewhere(request, server),
    )
    .all(
      '/*',
      ({ request, server }) =>
        isLost(request) ? site(request, server) : elsewhere(request, server),
      { parse: 'none' },
    );
}

/** Whether a person followed a link to nowhere. What is below /v1 is answered as the API does. */
function isLost(request: Request): boolean {
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  return isRead && isBrowser(request) && !/^\/v1(\/|$)/.test(targetOf(request).pathname);
}

/** Whether a person opens the address: programs accept anything, or JSON. */
function isBrowser({ headers }: Request): boolean {
  return headers.get('accept')?.includes('text/html') ?? false;
}

function handlersOf(
  dependencies: ServerDependencies,
  serverOf: () => RuntimeServer | null,
): Readonly<Record<ApiRoute, RouteHandler>> {
  const { version } = dependencies;
  const site = bounded(dependencies, dependencies.site);
  const health = paced(dependencies, async () => Response.json({ status: 'ok', version }));
  const { ready, metrics } = probesOf(dependencies);
  const open = (request: Request, server: RuntimeServer | null, route: RouteName) =>
    new Exchange(dependencies, request, server, chatFormat, route);
  // The framework defines a property on each request for handlers that take its server.
  const opened = (request: Request, format: ClientFormat, route: RouteName) =>
    new GenerationExchange(dependencies, request, serverOf(), format, route);
  const list =
    (route: RouteName, show: Parameters<typeof answerList>[2]): RouteHandler =>
    ({ request, server }) =>
      answerList(dependencies, open(request, server, route), show);

  return {
    chat_completions: ({ request }) =>
      answerOnce(dependencies, opened(request, chatFormat, 'chat_completions')),
    messages: ({ request }) =>
      answerOnce(dependencies, opened(request, messagesFormat, 'messages')),
    count_tokens: ({ request }) =>
      answerCount(
        dependencies,
        new Exchange(dependencies, request, serverOf(), messagesFormat, 'count_tokens'),
      ),
    responses: ({ request }) =>
      answerOnce(dependencies, opened(request, responsesFormat, 'responses')),
    input_tokens: ({ request }) =>
      answerInputTokens(
        dependencies,
        new Exchange(dependencies, request, serverOf(), responsesFormat, 'input_tokens'),
      ),
    models: ({ request, server }) =>
      answerList(dependencies, open(request, server, 'models'), (lists, facts, operator) =>
        listModels(lists, facts, operator, targetOf(request).searchParams),
      ),
    model: ({ request, server, params }) => {
      const { '*': name = '' } = params;
      if (name === '') return answerElsewhere(dependencies, request, server);
      return answerList(dependencies, open(request, server, 'model'), (lists, facts, operator) =>
        // The framework does not decode the rest of a path.
        showModel(lists, facts, operator, decodePart(name) ?? ''),
      );
    },
    api_keys: list('api_keys', listKeys),
    account: list('account', showAccount),
    receipt: ({ request, server, params }) =>
      answerList(dependencies, open(request, server, 'receipt'), (lists, facts) =>
        showBill(lists, facts, params['request_id'] ?? ''),
      ),
    health: answeredBy(health),
    ready: answeredBy(ready),
    openapi: answeredBy(bounded(dependencies, dependencies.openapi)),
    service: ({ request, server }) =>
      isBrowser(request)
        ? site(request, server)
        : Response.json(
            { service: 'tollgate', version, docs: '/docs' },
            { headers: { vary: 'accept' } },
          ),
    service_head: () => new Response(null),
    metrics: answeredBy(metrics),
  };
}
