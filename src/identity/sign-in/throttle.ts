// Rate-limits the guessing of credentials. Counted in the database, so that a restart resets nothing,
// and under digests, so that the table shows no addresses; without a sync, because strangers decide how
// often, and streams would wait. Called before a secret is checked: parallel attempts are all counted
// before the first of them is answered. A refused attempt only reads, so that a flood of them does not
// keep the ledger's thread busy.
//
// Three counters, each free at first and then with a delay that doubles up to a limit:
//   here      one name from one network: 10, then 15 s doubling up to 15 minutes;
//   name      one name from anywhere: 10, then 2 s doubling up to 60 s;
//   network   one network, all names: 60, then 15 s doubling up to 15 minutes.
// A fourth one counts right passwords of one name: 30 in an hour, because each of them costs a hash, and
// each sign-in a session and an audit event. Strangers cannot raise it, so it keeps no owner out.
// Each realm has its own: behind a proxy that is not trusted all customers are one network, and their
// failures must not keep an operator of the same machine out. A stranger delays the owner of an address
// by 60 s at most, and not at all on a network where the owner has signed in, signed up or set a
// password within 90 days. Names without an account are counted like all others.

import { eq, lt } from 'drizzle-orm';
import { attempts } from '../../store/sign-in-tables.ts';
import { sweepTable } from '../../store/sweep.ts';
import { networkGroup } from '../address.ts';
import type { Basics } from '../audit.ts';
import { IdentityError } from '../error.ts';
import type { Realm } from '../signed-in.ts';
import { digestOf } from './digest.ts';

const MINUTE_MS = 60_000;
const KNOWN_MS = 90 * 24 * 60 * MINUTE_MS;

type Rule = {
  /** Attempts before the first delay. */
  readonly free: number;
  readonly firstDelayMs: number;
  readonly delayMaxMs: number;
  /** How long attempts are counted together. */
  readonly windowMs: number;
  /** How long after the end of a delay another attempt makes a longer one. */
  readonly memoryMs: number;
};

const QUARTER = { windowMs: 15 * MINUTE_MS, memoryMs: 15 * MINUTE_MS } as const;
const HERE: Rule = { free: 10, firstDelayMs: 15_000, delayMaxMs: 15 * MINUTE_MS, ...QUARTER };
const NAME: Rule = { free: 10, firstDelayMs: 2_000, delayMaxMs: MINUTE_MS, ...QUARTER };
const NETWORK: Rule = { free: 60, firstDelayMs: 15_000, delayMaxMs: 15 * MINUTE_MS, ...QUARTER };
const HOUR_MS = 60 * MINUTE_MS;
const HOURLY = { windowMs: HOUR_MS, memoryMs: 0, firstDelayMs: HOUR_MS, delayMaxMs: HOUR_MS };
const MAIL: Rule = { free: 10, ...HOURLY };
const MAIL_HERE: Rule = { ...MAIL, free: 5 };
const RIGHT: Rule = { free: 30, ...HOURLY };

/** A mail about a change that a signed-in user has made, by what was changed. */
export type Notice = 'password' | 'second factor' | 'deletion';

type Counter = { readonly name: string; readonly rule: Rule };

/** `name` is an e-mail address, a user id or an account id. */
type Attempt = {
  readonly realm: Realm;
  readonly kind: 'password' | 'code' | 'token' | 'redemption';
  readonly name: string;
  readonly address: string;
};

type Entry = {
  /** Whether the owner of the name has been on this network. */
  readonly isKnown: boolean;
  /**
   * It was right: resets the counter of this name on this network. Throws `too_many_attempts` where
   * the name has had too many right passwords; the attempt then counts as failed.
   */
  readonly succeeded: () => Promise<void>;
  /** It was not checked, for a reason that is not the caller's. */
  readonly dropped: () => Promise<void>;
  /** Checks it. Where that rejects, it was not checked. */
  readonly checked: <T>(check: Promise<T>) => Promise<T>;
};

export type Throttle = ReturnType<typeof createThrottle>;

export function createThrottle({ database, clock }: Pick<Basics, 'database' | 'clock'>) {
  const { db } = database;

  async function read(name: string, now: number) {
    const row = await db.select().from(attempts).where(eq(attempts.name, name)).get();
    return row !== undefined && row.endsAt > now ? row : undefined;
  }

  async function write(name: string, failures: number, nextAt: number, endsAt: number) {
    const facts = { failures, nextAt, endsAt };
    await db
      .insert(attempts)
      .values({ name, ...facts })
      .onConflictDoUpdate({ target: attempts.name, set: facts })
      .run();
  }

  async function count({ name, rule }: Counter, now: number): Promise<void> {
    const before = await read(name, now);
    const failures = (before?.failures ?? 0) + 1;
    if (failures < rule.free) {
      await write(name, failures, now, before?.endsAt ?? now + rule.windowMs);
      return;
    }
    const doublings = Math.min(failures - rule.free, 30);
    const delay = Math.min(rule.firstDelayMs * 2 ** doublings, rule.delayMaxMs);
    await write(name, failures, now + delay, now + delay + rule.memoryMs);
  }

  /** For an attempt that turned out not to be a failure. */
  async function uncount({ name, rule }: Counter, now: number): Promise<void> {
    const row = await read(name, now);
    if (row === undefined) return;
    const failures = row.failures - 1;
    await write(name, failures, failures < rule.free ? now : row.nextAt, row.endsAt);
  }

  /** When the next attempt may be made. */
  async function nextAt(counters: readonly Counter[], now: number): Promise<number> {
    const rows = await Promise.all(counters.map(({ name }) => read(name, now)));
    return Math.max(0, ...rows.map((row) => row?.nextAt ?? 0));
  }

  /** Side by side: the ledger waits for as long as the transaction is open. */
  async function each(
    counters: readonly Counter[],
    change: (counter: Counter, now: number) => Promise<void>,
    now = clock(),
  ): Promise<void> {
    await Promise.all(counters.map((counter) => change(counter, now)));
  }

  async function forget(name: string): Promise<void> {
    await db.delete(attempts).where(eq(attempts.name, name)).run();
  }

  const know = (known: string): Promise<void> => write(known, 0, 0, clock() + KNOWN_MS);

  return {
    /**
     * Counts an attempt as failed, until `succeeded` says otherwise. Throws `too_many_attempts`,
     * which counts nothing and makes no delay longer.
     */
    async enter(attempt: Attempt): Promise<Entry> {
      const { realm, kind, name, address } = attempt;
      const network = networkGroup(address);
      const who = `${realm} ${kind} ${name}`;
      const here = { name: digestOf(`here ${who} ${network}`), rule: HERE };
      const anywhere = { name: digestOf(`name ${who}`), rule: NAME };
      const from = { name: digestOf(`network ${realm} ${network}`), rule: NETWORK };
      const known = knownName(attempt);
      const right = { name: rightName(attempt), rule: RIGHT };
      const limited = kind === 'password' ? [right] : [];
      async function requireTurn(now: number): Promise<boolean> {
        const isKnown = (await read(known, now)) !== undefined;
        const counters = isKnown ? [here, from] : [here, anywhere, from];
        refuse(await nextAt([...counters, ...limited], now), now);
        return isKnown;
      }
      const isKnown = await requireTurn(clock());
      await database.quickly(async () => {
        const now = clock();
        await requireTurn(now);
        await each([here, anywhere, from], count, now);
      });
      const dropped = (): Promise<void> =>
        database.quickly(() => each([here, anywhere, from], uncount));
      return {
        isKnown,
        dropped,
        checked: (check) =>
          check.catch(async (error: unknown) => {
            await dropped();
            throw error;
          }),
        succeeded: () =>
          database.quickly(async () => {
            const now = clock();
            // Parallel attempts have all passed the check above.
            refuse(await nextAt(limited, now), now);
            await Promise.all([
              forget(here.name),
              each([anywhere, from], uncount, now),
              each(limited, count, now),
              know(known),
            ]);
          }),
      };
    },

    /**
     * The owner of the address has been on this network, and proved it by a mailed link: strangers
     * delay no password of theirs from there, and sign-ins with a stolen one no longer count.
     */
    know: (owner: Omit<Attempt, 'kind'>): Promise<void> =>
      database.quickly(async () => {
        const attempt = { ...owner, kind: 'password' } as const;
        await Promise.all([know(knownName(attempt)), forget(rightName(attempt))]);
      }),

    /**
     * Counts a request that costs us work, such as one for a mail; each realm and kind by itself. Throws
     * as `enter`.
     */
    async limitNetwork(realm: Realm, address: string, kind = 'asking'): Promise<void> {
      const name = digestOf(`${kind} ${realm} ${networkGroup(address)}`);
      const from = { name, rule: NETWORK };
      const requireTurn = async (now: number) => refuse(await nextAt([from], now), now);
      await requireTurn(clock());
      await database.quickly(async () => {
        const now = clock();
        await requireTurn(now);
        await count(from, now);
      });
    },

    /**
     * Whether one more mail may go to this address; counts it. Five an hour for one network and ten
     * for all. Networks of the owner have ten of their own, so that strangers with two networks
     * cannot keep an owner from a mail; an address that is not signed up has none. Each kind has its
     * own count: a thief of a session can suppress a notice only by repeating that change, after five
     * mails about it. The audit trail has every change.
     */
    async mayMail(
      realm: Realm,
      email: string,
      address: string,
      kind: Notice | 'link' = 'link',
    ): Promise<boolean> {
      const name = `mail ${kind} ${realm} ${email}`;
      const known = knownName({ realm, kind: 'password', name: email, address });
      const isKnown = (await read(known, clock())) !== undefined;
      const counters = [
        { name: digestOf(`${name} ${networkGroup(address)}`), rule: MAIL_HERE },
        { name: digestOf(isKnown ? `${name} known` : name), rule: MAIL },
      ];
      const isFree = async (now: number) => (await nextAt(counters, now)) <= now;
      if (!(await isFree(clock()))) return false;
      return database.quickly(async () => {
        const now = clock();
        if (!(await isFree(now))) return false;
        await each(counters, count, now);
        return true;
      });
    },

    /** Removes expired rows. */
    sweep: (): Promise<void> => sweepTable(database, attempts, lt(attempts.endsAt, clock())),
  };
}

function knownName({ realm, kind, name, address }: Attempt): string {
  return digestOf(`known ${realm} ${kind} ${name} ${networkGroup(address)}`);
}

function rightName({ realm, kind, name }: Attempt): string {
  return digestOf(`right ${realm} ${kind} ${name}`);
}

function refuse(nextAt: number, now: number): void {
  if (nextAt <= now) return;
  const seconds = Math.ceil((nextAt - now) / 1_000);
  throw new IdentityError(
    'too_many_attempts',
    `There were too many attempts. Try again in ${seconds} seconds.`,
    seconds,
  );
}
