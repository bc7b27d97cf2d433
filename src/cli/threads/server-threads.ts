// The server threads as the main thread has them: starts them on one port, tells them what they have
// to know, adds up what they have under way, and replaces one that has died, whose slots and holds it
// gives back. Made by serve where there is more than one worker.

import { joinUpstreams, type UpstreamState } from '../../core/health.ts';
import { within } from '../../generate/within.ts';
import type { LedgerClient, LedgerProblem } from '../../ledger/remote.ts';
import type { OpenClaimRecord } from '../../limits/contract.ts';
import { addLimitsLoads, OWN_LIMITS } from '../../limits/load.ts';
import { openMemory } from '../../limits/shared/memory.ts';
import { recoverThread } from '../../limits/shared/table.ts';
import type { Log } from '../../observe/log.ts';
import {
  type FromServerThread,
  type News,
  NO_LOAD,
  type SharedState,
  type ThreadLive,
  type ThreadLoad,
  type ThreadStart,
  type ToServerThread,
} from './protocol.ts';

export type ServerThreadsOptions = {
  /** Server threads; they have the numbers from 1 in the memory of the limits. */
  readonly count: number;
  readonly start: Omit<ThreadStart, 'thread' | 'port' | 'state' | 'catalog'>;
  /** What is in force. */
  readonly catalog: () => ThreadStart['catalog'];
  readonly port: number;
  /** What all of them decide by, as it is now. */
  readonly state: () => SharedState;
  /** Lets a thread write to the ledger; answers what lets go of one that has died. */
  readonly connectLedger: (client: LedgerClient) => () => Promise<readonly string[]>;
  readonly onNews: (news: readonly News[]) => void;
  /** A thread has died: these requests have lost whoever would have ended them. */
  readonly onDeath: (requestIds: readonly string[], cause: unknown) => Promise<void>;
  /** Something new has taken effect in a thread. */
  readonly onSeen: () => void;
  readonly log: Pick<Log, 'info'>;
};

export type ServerThreads = {
  /** Resolves with the port once all of them listen. Rejects where one cannot. */
  readonly open: () => Promise<number>;
  /** What they have under way, as they said last. */
  readonly load: () => Omit<ThreadLoad, 'upstreams' | 'ledgerProblem'>;
  readonly upstreams: (own: readonly UpstreamState[]) => readonly UpstreamState[];
  /** Asks all of them but one that dies meanwhile. Rejects where one does not answer. */
  readonly ask: () => Promise<{
    readonly requests: readonly string[];
    readonly unwritten: readonly string[];
    readonly claims: readonly OpenClaimRecord[];
  }>;
  /** `catalog` where there is a new one. */
  readonly look: (catalog?: ThreadStart['catalog']) => void;
  readonly ledgerProblems: () => readonly LedgerProblem[];
  /** Until when everything has taken effect in all of them. */
  readonly seenAt: () => number;
  /** Lets them finish what they have; resolves with the commands that could not be written. */
  readonly drain: (hurry: Promise<unknown>) => Promise<number>;
};

type Thread = {
  readonly worker: Worker;
  readonly number: number;
  load: ThreadLoad;
  listening: boolean;
  seenAt: number;
  unsettled: number | undefined;
  readonly leaveLedger: () => Promise<readonly string[]>;
};

const RESTART_FIRST_MS = 100;
const RESTART_LAST_MS = 5_000;

/** For a thread to end what is left, to settle it and to close what it has open. */
const END_GRACE_MS = 20_000;

/** For an answer that takes a thread no time, unless it hangs. */
const ASK_MS = 2_000;

/** How soon threads know what the main thread has learned. */
const STATE_MS = 100;

export function createServerThreads(options: ServerThreadsOptions): ServerThreads {
  const { count, connectLedger, onNews, onDeath, onSeen, log } = options;
  const threads = new Map<number, Thread>();
  const restarts = new Set<Timer>();
  const memory = openMemory(options.start.memory);
  /** Who waits for something that a thread says, or for its death. */
  const waiting = new Map<Thread, Map<FromServerThread['kind'], ((said: Said) => void)[]>>();
  let port = options.port;
  let isServing = false;
  let told = '';

  type Said = FromServerThread | undefined;

  const tell = ({ worker }: Thread, message: ToServerThread, transfer: MessagePort[] = []): void =>
    worker.postMessage(message, transfer);
  const tellAll = (message: ToServerThread): void => {
    for (const thread of threads.values()) tell(thread, message);
  };

  /** What the thread says next of a kind; undefined where it dies instead. */
  function heard(thread: Thread, kind: FromServerThread['kind']): Promise<Said> {
    return new Promise((resolve) => {
      const own = waiting.get(thread);
      if (own === undefined) return resolve(undefined);
      own.set(kind, [...(own.get(kind) ?? []), resolve]);
    });
  }

  function hear(thread: Thread, said: FromServerThread): void {
    switch (said.kind) {
      case 'time':
        tell(thread, { kind: 'time', nowMs: performance.now() });
        break;
      case 'listening':
        thread.listening = true;
        port = said.port;
        break;
      case 'told':
        thread.load = said.load;
        onNews(said.news);
        break;
      case 'status':
        thread.load = said.load;
        break;
      case 'seen':
        thread.seenAt = said.atMs;
        if (said.isNews) onSeen();
        break;
      case 'drained':
        thread.unsettled = said.unsettled;
        break;
    }
    const own = waiting.get(thread);
    const waiters = own?.get(said.kind) ?? [];
    own?.delete(said.kind);
    for (const resolve of waiters) resolve(said);
  }

  function startThread(number: number, restartMs: number): Thread {
    const worker = startWorker();
    const client: LedgerClient = {
      link: (ledgerPort) => tell(thread, { kind: 'ledger', port: ledgerPort }, [ledgerPort]),
      unlink: () => tell(thread, { kind: 'ledger lost' }),
    };
    let cause: Error | undefined;
    const thread: Thread = {
      ...{ worker, number, load: NO_LOAD, listening: false, seenAt: 0, unsettled: undefined },
      leaveLedger: () => leave(),
    };
    threads.set(number, thread);
    waiting.set(thread, new Map());
    worker.onmessage = ({ data }: MessageEvent<FromServerThread>) => hear(thread, data);
    worker.onerror = ({ message }) => {
      // The runtime prints the source around the error into its message; its own line will do.
      cause = new Error(/^\w*error: .*$/im.exec(message)?.[0] ?? message);
    };
    worker.addEventListener('close', () => {
      if (threads.get(number) === thread) threads.delete(number);
      for (const waiters of waiting.get(thread)?.values() ?? []) {
        for (const resolve of waiters) resolve(undefined);
      }
      waiting.delete(thread);
      void bury(thread, cause, thread.listening ? RESTART_FIRST_MS : restartMs);
    });
    tell(thread, {
      kind: 'start',
      start: {
        ...options.start,
        ...{ thread: number, port, state: options.state(), catalog: options.catalog() },
      },
    });
    const leave = connectLedger(client);
    return thread;
  }

  async function bury(thread: Thread, cause: Error | undefined, restartMs: number): Promise<void> {
    const requestIds = await thread.leaveLedger();
    recoverThread(memory, thread.number);
    if (thread.unsettled === undefined) await onDeath(requestIds, cause);
    if (!isServing) return;
    const timer = setTimeout(() => {
      restarts.delete(timer);
      startThread(thread.number, Math.min(restartMs * 2, RESTART_LAST_MS));
      log.info(`server thread ${thread.number} is started again`);
    }, restartMs);
    restarts.add(timer);
  }

  async function openOne(number: number): Promise<void> {
    const thread = startThread(number, RESTART_FIRST_MS);
    if ((await heard(thread, 'listening')) !== undefined) return;
    throw new Error(`Server thread ${number} has ended before it listened.`);
  }

  function tellState(): void {
    const state = options.state();
    const text = JSON.stringify(state);
    if (text === told) return;
    told = text;
    tellAll({ kind: 'state', state });
  }

  const telling = setInterval(tellState, STATE_MS);

  return {
    async open() {
      try {
        // One after the other: the first one finds the port where any will do.
        for (let number = 1; number <= count; number += 1) await openOne(number);
      } catch (error) {
        clearInterval(telling);
        for (const { worker } of threads.values()) worker.terminate();
        throw error;
      }
      isServing = true;
      return port;
    },
    load() {
      const sum = { requestsInFlight: 0, streamsOpen: 0, ledgerPending: 0, limits: OWN_LIMITS };
      for (const { load } of threads.values()) {
        sum.requestsInFlight += load.requestsInFlight;
        sum.streamsOpen += load.streamsOpen;
        sum.ledgerPending += load.ledgerPending;
        sum.limits = addLimitsLoads(sum.limits, load.limits);
      }
      return sum;
    },
    upstreams: (own) =>
      joinUpstreams([own, ...[...threads.values()].map(({ load }) => load.upstreams)]),
    async ask() {
      // Whoever was told what this thread knows finds that the others know it too.
      tellState();
      const asked = [...threads.values()].filter(({ listening }) => listening);
      const answers = asked.map((thread) => heard(thread, 'status'));
      for (const thread of asked) tell(thread, { kind: 'ask' });
      const said = await within(ASK_MS, Promise.all(answers));
      if (said === undefined) throw new Error('A server thread does not answer.');
      const lives = said.flatMap((each): ThreadLive[] =>
        each?.kind === 'status' ? [each.live] : [],
      );
      return {
        requests: lives.flatMap(({ requests }) => requests),
        unwritten: lives.flatMap(({ unwritten }) => unwritten),
        claims: lives.flatMap(({ claims }) => claims),
      };
    },
    look: (catalog) => tellAll({ kind: 'look', ...(catalog === undefined ? {} : { catalog }) }),
    ledgerProblems: () =>
      [...threads.values()]
        .filter(({ listening }) => listening)
        .map(({ load }) => load.ledgerProblem),
    seenAt: () => Math.min(...[...threads.values()].map(({ seenAt }) => seenAt)),
    async drain(hurry) {
      isServing = false;
      clearInterval(telling);
      for (const timer of restarts) clearTimeout(timer);
      const ending = [...threads.values()];
      const drained = ending.map((thread) => heard(thread, 'drained'));
      tellAll({ kind: 'drain' });
      void hurry.then(() => tellAll({ kind: 'hurry' }));
      await within(options.start.config.drainMs + END_GRACE_MS, Promise.all(drained));
      for (const { worker } of ending) worker.terminate();
      return ending.reduce((sum, { unsettled }) => sum + (unsettled ?? 0), 0);
    },
  };
}

/** The build puts the thread beside the program, so this is its place in both. */
function startWorker(): Worker {
  return new Worker(new URL('./server-thread.ts', import.meta.url).href);
}
