// Shares the event loop among token counts. Short texts are counted immediately, up to a limit per
// turn of the loop. Other texts wait: each turn counts a small part of one, round-robin by account.
// A request takes several turns, and each may be delayed by one part of another account's text.

/**
 * Counts about `most` characters and returns how many. Fewer than `most` means that the text is
 * finished.
 */
type CountPart = (most: number) => number;

type Waiting = {
  readonly countPart: CountPart;
  readonly done: () => void;
  readonly failed: (error: unknown) => void;
};

/** Characters per turn of the loop: `room` for all counts, `part` of it for waiting ones. */
type TurnSizes = { readonly room: number; readonly part: number };

export function createTurns({ room, part }: TurnSizes) {
  /** Waiting counts by account. The account whose turn is next comes first. */
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
        // Moves the account to the back, and its first request behind its other ones.
        queues.delete(accountId);
        waitingLeft -= runFirst(queue, waitingLeft);
        if (queue.length > 0) queues.set(accountId, queue);
      }
      left = room - part + waitingLeft;
      if (queues.size > 0) awaitTurn();
    });
  }

  /** Counts a part of the first waiting text and returns the number of characters. */
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
    /** Whether this turn has room to count that many characters immediately. */
    claim(characters: number): boolean {
      if (characters > left) return false;
      left -= characters;
      awaitTurn();
      return true;
    },
    /** Resolves when the whole text is counted. */
    run(accountId: string, countPart: CountPart): Promise<void> {
      return new Promise((done, failed) => {
        queues.getOrInsert(accountId, []).push({ countPart, done, failed });
        awaitTurn();
      });
    },
  };
}
