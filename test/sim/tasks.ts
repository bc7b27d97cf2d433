// The queue of a simulated world: tasks by their instant, and by a drawn rank among equals. A heap,
// because a cluster has thousands of them waiting.

export type Task = {
  at: number;
  /** Drawn, so that tasks of the same instant run in an order that differs from seed to seed. */
  rank: number;
  /** Tasks of a gateway that has been killed are never run. */
  readonly life: number;
  readonly run: () => void;
  everyMs?: number;
  /** It is no longer awaited; it is dropped when its turn comes. */
  gone: boolean;
};

export type Tasks = {
  readonly add: (task: Task) => void;
  /** The earliest task, still in the queue. */
  readonly first: () => Task | undefined;
  /** Takes the earliest task out. */
  readonly take: () => Task | undefined;
  readonly each: (visit: (task: Task) => void) => void;
};

export function createTasks(): Tasks {
  const heap: Task[] = [];

  function up(index: number): void {
    for (let at = index; at > 0; ) {
      const parent = (at - 1) >> 1;
      if (!swap(at, parent)) return;
      at = parent;
    }
  }

  function down(): void {
    for (let at = 0; ; ) {
      const left = 2 * at + 1;
      const right = left + 1;
      const child = isBefore(heap[right], heap[left]) ? right : left;
      if (!swap(child, at)) return;
      at = child;
    }
  }

  /** Brings two tasks into their order, if they are not. */
  function swap(lower: number, upper: number): boolean {
    const below = heap[lower];
    const above = heap[upper];
    if (below === undefined || above === undefined || !isBefore(below, above)) return false;
    heap[lower] = above;
    heap[upper] = below;
    return true;
  }

  function take(): Task | undefined {
    const first = heap[0];
    const last = heap.pop();
    if (heap.length > 0 && last !== undefined) {
      heap[0] = last;
      down();
    }
    return first;
  }

  return {
    add(task) {
      heap.push(task);
      up(heap.length - 1);
    },
    first() {
      while (heap[0]?.gone === true) take();
      return heap[0];
    },
    take() {
      while (heap[0]?.gone === true) take();
      return take();
    },
    each: (visit) => heap.forEach(visit),
  };
}

function isBefore(left: Task | undefined, right: Task | undefined): boolean {
  if (left === undefined || right === undefined) return right === undefined;
  return left.at < right.at || (left.at === right.at && left.rank < right.rank);
}
