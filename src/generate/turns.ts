// Shares the event loop among counts: a bounded number of characters in each turn of the loop, the
// accounts one after another. A long text delays nothing by more than that, and another account's
// text by no more than that for each such part of its own.

/** Counts about `room` characters of some text and says how many; fewer than `room` were the last. */
export type CountPart = (room: number) => number;

type Waiting = {
  readonly countPart: CountPart;
  readonly done: () => void;
  readonly failed: (error: unknown) => void;
};

export type Turns = {
  /** Whether so many characters may be counted at once, in what is left of this turn. */
  readonly claim: (characters: number) => boolean;
  /** Resolves when all of it is counted. */
  readonly run: (accountId: string, countPart: CountPart) => Promise<void>;
};

export function createTurns(charactersPerTurn: number): Turns {
  /** What each account has waiting. The account whose turn it is comes first. */
  const queues = new Map<string, Waiting[]>();
  let left = charactersPerTurn;
  let isAwaitingTurn = false;

  function awaitTurn(): void {
    if (isAwaitingTurn) return;
    isAwaitingTurn = true;
    setImmediate(() => {
      isAwaitingTurn = false;
      left = charactersPerTurn;
      for (const [accountId, queue] of queues) {
        if (left <= 0) break;
        // To the back, and its first request behind its others.
        queues.delete(accountId);
        runFirst(queue);
        if (queue.length > 0) queues.set(accountId, queue);
      }
      if (queues.size > 0) awaitTurn();
    });
  }

  function runFirst(queue: Waiting[]): void {
    const waiting = queue.shift();
    if (waiting === undefined) return;
    try {
      const counted = waiting.countPart(left);
      if (counted < left) waiting.done();
      else queue.push(waiting);
      left -= counted;
    } catch (error) {
      waiting.failed(error);
    }
  }

  return {
    claim(characters) {
      if (characters > left) return false;
      left -= characters;
      awaitTurn();
      return true;
    },
    run(accountId, countPart) {
      return new Promise((done, failed) => {
        const waiting = { countPart, done, failed };
        const queue = queues.get(accountId);
        if (queue === undefined) queues.set(accountId, [waiting]);
        else queue.push(waiting);
        awaitTurn();
      });
    },
  };
}
