// An application of the server over real domains and a real database, called as its pages call it:
// through the guard, from its own origin. Only the session is a stub: the cookie says who it is.

import { randomBytes } from 'node:crypto';
import type { Plan } from '../../src/core/plan.ts';
import { type AppDependencies, createDashboardApp } from '../../src/dashboard/edge/app.ts';
import type { RouteServer } from '../../src/dashboard/edge/route.ts';
import type { SignedIn } from '../../src/identity/signed-in.ts';
import { createHistory } from '../../src/ledger/history.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import { createLimits } from '../../src/limits/limits.ts';
import { createStore } from '../../src/operations/store.ts';
import { connectAgain, newDatabase } from '../support/database.ts';
import { onDisk } from '../support/ledger.ts';
import { pageRequest } from './request.ts';

export const ADDRESS = '203.0.113.7';

export type Answer = {
  readonly status: number;
  readonly json: Record<string, unknown>;
  readonly text: string;
};

type Called = { readonly signal?: AbortSignal; readonly server?: RouteServer | null };

/** Checks an answer against its description; throws where it differs. */
type Held = (response: Response, method: string) => Response | Promise<Response>;

type Required = 'session' | 'prefix' | 'routes' | 'clock' | 'onChange';

export function openApp<Who extends SignedIn>({
  held = (response) => response,
  ...given
}: Pick<AppDependencies<Who>, Required> &
  Partial<AppDependencies<Who>> & { readonly held?: Held }) {
  const origin = 'http://pages.test';
  const handle = createDashboardApp<Who>({
    isOpen: async () => true,
    standing: async () => undefined,
    address: () => ADDRESS,
    origin,
    isHttps: () => false,
    randomBytes,
    onInternal: (_requestId, error) => {
      throw error;
    },
    files: { page: () => new Response(''), serve: () => new Response('') },
    ...given,
  });

  const urlOf = (path: string): string => `${origin}${given.prefix}/api${path}`;

  async function open(
    cookie: string,
    method: string,
    path: string,
    body?: unknown,
    { signal, server = null }: Called = {},
  ): Promise<Response> {
    return handle(pageRequest(urlOf(path), cookie, method, body, signal), server);
  }

  async function ask(
    cookie: string,
    method: string,
    path: string,
    body?: unknown,
  ): Promise<Answer> {
    const response = await open(cookie, method, path, body);
    Object.defineProperty(response, 'url', { value: urlOf(path) });
    const answer = response.status === 200 ? await held(response, method) : response;
    const text = await answer.text();
    return { status: response.status, text, json: text === '' ? {} : JSON.parse(text) };
  }

  return { handle, open, ask };
}

type Basics = { readonly clock: () => number; readonly plans: () => ReadonlyMap<string, Plan> };

/** The store and the limits of a server over a new database. `close` closes all of it. */
export async function openDomains(directory: string, { clock, plans }: Basics) {
  const database = await newDatabase(directory);
  // The ledger of a server has a connection of its own, too.
  const booksDatabase = connectAgain(database);
  const ledger = onDisk(createLedger({ database: booksDatabase }));
  return {
    /** The same as that of the store, with what tests need beside it. */
    database,
    store: createStore({ database, ledger, clock, randomBytes, plans }),
    limits: await createLimits({
      clock,
      monotonic: clock,
      isLive: () => true,
      history: createHistory(database),
    }),
    async close(): Promise<void> {
      await ledger.close();
      await booksDatabase.close();
      await database.close();
    },
  };
}
