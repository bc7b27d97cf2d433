// The server threads as the main thread has them: starts them on one port, tells them what they have
// to know, adds up what they have under way, and replaces one that has died or hangs, whose slots and
// holds it gives back. Made by serve where there is more than one worker.

import { type Backoff, createBackoff } from '../../async/backoff.ts';
import { every } from '../../async/every.ts';
import { withTimeout } from '../../async/timeout.ts';
import { joinUpstreams, type UpstreamState } from '../../core/health.ts';
import type { LedgerLink, LedgerProblem } from '../../ledger/client.ts';
import type { OpenClaimRecord } from '../../limits/contract.ts';
import { addLimitsLoads, OWN_LIMITS } from '../../limits/load.ts';
import { releaseThread } from '../../limits/threads.ts';
import type { Log } from '../../observe/log.ts';
import { type ServerThread, startServerThread } from './handle.ts';
import type {
  FromServerThread,
  SharedState,
  ThreadEvent,
  ThreadLive,
  ThreadLoad,
  ThreadStart,
  ToServerThread,
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
  /** Milliseconds of a clock that never jumps. */
  readonly monotonic: () => number;
  /** Lets a thread write to the ledger; answers what lets go of one that has died. */
  readonly connectLedger: (client: LedgerLink) => () => Promise<readonly string[]>;
  readonly onEvents: (events: readonly ThreadEvent[]) => void;
  /** A thread has died: these requests have lost whoever would have ended them. */
  readonly onDeath: (requestIds: readonly string[], cause: unknown) => Promise<void>;
  /** Something new has taken effect in a thread. */
  readonly onSeen: () => void;
  readonly log: Pick<Log, 'info'>;
  /** In place of a thread that serves, and of the time after which one hangs, for tests. */
  readonly startWorker?: () => Worker;
  readonly hangingMs?: number;
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
  /** Ends them as they are: the server does not start after all. */
  readonly close: () => void;
};

/** One that has listened for so long does not die of its start. */
const STEADY_MS = 10_000;

/** Without a word for so long, a thread hangs and is replaced. */
const HANGING_MS = 15_000;

/** For a thread to end what is left, to settle it and to close what it has open. */
const END_GRACE_MS = 20_000;

/** For an answer that takes a thread no time, unless it hangs. */
const ASK_MS = 2_000;

/** How soon threads know what the main thread has learned, and how often it looks who is silent. */
const LOOK_MS = 100;

export function createServerThreads(options: ServerThreadsOptions): ServerThreads {
  const { count, monotonic, hangingMs = HANGING_MS } = options;
  const threads = new Map<number, ServerThread>();
  const replacer = createReplacer(options, start);
  let port = options.port;
  let told = '';
  let isClosed = false;

  const all = (): ServerThread[] => [...threads.values()];
  const listening = (): ServerThread[] => all().filter((thread) => thread.isListening());
  const tellAll = (message: ToServerThread): void => {
    for (const thread of threads.values()) thread.tell(message);
  };

  /** `restarts` is of this number: its threads that die early are started later and later. */
  function start(number: number, restarts: Backoff): ServerThread {
    const thread = startServerThread({
      start: {
        ...options.start,
        ...{ thread: number, port, state: options.state(), catalog: options.catalog() },
      },
      startWorker: options.startWorker ?? startServingWorker,
      monotonic,
      onSaid: hear,
      onClose(cause, servedMs) {
        threads.delete(number);
        if (isClosed) return;
        if (servedMs >= STEADY_MS) restarts.reset();
        void replacer.replace(thread, leaveLedger, cause, restarts);
      },
    });
    threads.set(number, thread);
    const leaveLedger = options.connectLedger({
      link: (ledgerPort, writer) =>
        thread.tell({ kind: 'ledger', port: ledgerPort, writer }, [ledgerPort, writer]),
      unlink: () => thread.tell({ kind: 'ledger lost' }),
    });
    return thread;
  }

  function hear(said: FromServerThread): void {
    if (said.kind === 'listening') port = said.port;
    if (said.kind === 'events') options.onEvents(said.events);
    if (said.kind === 'seen' && said.hasChanges) options.onSeen();
  }

  async function openOne(number: number): Promise<void> {
    const thread = start(number, createBackoff());
    if ((await thread.heard('listening')) !== undefined) return;
    throw new Error(`Server thread ${number} has ended before it listened.`);
  }

  function tellState(): void {
    const state = options.state();
    const text = JSON.stringify(state);
    if (text === told) return;
    told = text;
    tellAll({ kind: 'state', state });
  }

  const stopLooking = every(LOOK_MS, () => {
    tellState();
    for (const thread of threads.values()) {
      if (thread.silentMs() < hangingMs) continue;
      thread.terminate(new Error(`It has said nothing for ${hangingMs / 1_000} s.`));
    }
  });

  function close(): void {
    isClosed = true;
    replacer.stop();
    stopLooking();
    for (const thread of threads.values()) thread.terminate();
  }

  return {
    async open() {
      try {
        // One after the other: the first one finds the port where any will do.
        for (let number = 1; number <= count; number += 1) await openOne(number);
      } catch (error) {
        close();
        throw error;
      }
      return port;
    },
    load() {
      const sum = { requestsInFlight: 0, streamsOpen: 0, ledgerPending: 0, limits: OWN_LIMITS };
      for (const { requestsInFlight, streamsOpen, ledgerPending, limits } of loadsOf(all())) {
        sum.requestsInFlight += requestsInFlight;
        sum.streamsOpen += streamsOpen;
        sum.ledgerPending += ledgerPending;
        sum.limits = addLimitsLoads(sum.limits, limits);
      }
      return sum;
    },
    upstreams: (own) => joinUpstreams([own, ...loadsOf(all()).map(({ upstreams }) => upstreams)]),
    ask() {
      // Whoever was told what this thread knows finds that the others know it too.
      tellState();
      return askAll(listening());
    },
    look: (catalog) => tellAll({ kind: 'look', ...(catalog === undefined ? {} : { catalog }) }),
    ledgerProblems: () => loadsOf(listening()).map(({ ledgerProblem }) => ledgerProblem),
    seenAt: () => Math.min(...all().map((thread) => thread.seenAt())),
    async drain(hurry) {
      replacer.stop();
      stopLooking();
      const ending = all();
      const drained = ending.map((thread) => thread.heard('drained'));
      tellAll({ kind: 'drain' });
      void hurry.then(() => tellAll({ kind: 'hurry' }));
      await withTimeout(options.start.config.drainMs + END_GRACE_MS, Promise.all(drained));
      for (const thread of ending) thread.terminate();
      return ending.reduce((sum, thread) => sum + (thread.unsettled() ?? 0), 0);
    },
    close,
  };
}

const loadsOf = (threads: readonly ServerThread[]): ThreadLoad[] =>
  threads.map((thread) => thread.load());

async function askAll(threads: readonly ServerThread[]): ReturnType<ServerThreads['ask']> {
  const answers = threads.map((thread) => thread.heard('status'));
  for (const thread of threads) thread.tell({ kind: 'ask' });
  const said = await withTimeout(ASK_MS, Promise.all(answers));
  if (said === undefined) throw new Error('A server thread does not answer.');
  const lives = said.flatMap((each): ThreadLive[] => (each?.kind === 'status' ? [each.live] : []));
  return {
    requests: lives.flatMap(({ requests }) => requests),
    unwritten: lives.flatMap(({ unwritten }) => unwritten),
    claims: lives.flatMap(({ claims }) => claims),
  };
}

/** Gives back what a dead thread has left, and starts another one with its number. */
function createReplacer(
  { start: { memory }, onDeath, log }: ServerThreadsOptions,
  start: (number: number, restarts: Backoff) => void,
) {
  const restarts = new Set<Timer>();
  let isStopped = false;

  return {
    async replace(
      { number, unsettled }: ServerThread,
      leaveLedger: () => Promise<readonly string[]>,
      cause: Error | undefined,
      backoff: Backoff,
    ): Promise<void> {
      // First: it may hold the lock that the other threads wait for.
      releaseThread(memory, number);
      const requestIds = await leaveLedger();
      if (unsettled() === undefined) await onDeath(requestIds, cause);
      if (isStopped) return;
      const timer = setTimeout(() => {
        restarts.delete(timer);
        start(number, backoff);
        log.info(`server thread ${number} is started again`);
      }, backoff.next());
      restarts.add(timer);
    },
    stop(): void {
      isStopped = true;
      for (const timer of restarts) clearTimeout(timer);
    },
  };
}

/** The build puts the thread beside the program, so this is its place in both. */
function startServingWorker(): Worker {
  return new Worker(new URL('./entry.ts', import.meta.url).href);
}
