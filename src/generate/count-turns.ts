// Shares the event loop among counts. Short texts are counted at once, as many as a turn of the loop
// has room for. All others wait: each turn counts a small part of one, the accounts one after another.
// A request takes several turns, so the part is what a long text of another account delays each by.

/** Counts about `most` characters of some text and says how many; fewer than `most` were the last. */
type CountPart = (most: number) => number;

type Waiting = {
  readonly countPart: CountPart;
  readonly done: () => void;
  readonly failed: (error: unknown) => void;
};

/** In characters, for each turn: `room` for all counts, and of it `part` for those that wait. */
type TurnSizes = { readonly room: number; readonly part: number };

export function createTurns({ room, part }: TurnSizes) {
  /** What each account has waiting. The account whose turn it is comes first. */
  const queues = new Map<string, Waiting[]>();
  let left = room;
  let isAwaitingTurn = false;

  function awaitTurn(): void {
    if (isAwaitingTurn) return;
    isAwaitingTurn = true;
    setImmediate(() => {
      isAwaitingTurn = false;
      let waitingLeft = part;
      for (const [accountId, queue] of queues) {
        if (waitingLeft <= 0) break;
        // To the back, and its first request behind its others.
        queues.delete(accountId);
        waitingLeft -= runFirst(queue, waitingLeft);
        if (queue.length > 0) queues.set(accountId, queue);
      }
      left = room - part + waitingLeft;
      if (queues.size > 0) awaitTurn();
    });
  }

  /** How many characters of the first one were counted. */
  function runFirst(queue: Waiting[], most: number): number {
    const waiting = queue.shift();
    if (waiting === undefined) return 0;
    try {
      const counted = waiting.countPart(most);
      if (counted < most) waiting.done();
      else queue.push(waiting);
      return counted;
    } catch (error) {
      waiting.failed(error);
      return 0;
    }
  }

  return {
    /** Whether so many characters may be counted at once, in what is left of this turn. */
    claim(characters: number): boolean {
      if (characters > left) return false;
      left -= characters;
      awaitTurn();
      return true;
    },
    /** Resolves when all of it is counted. */
    run(accountId: string, countPart: CountPart): Promise<void> {
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
