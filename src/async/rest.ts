// Leaves a core to more urgent work: a long task rests between portions, so that it uses a share of
// a core.

/** A task that worked for this long rests. */
const WORK_MS = 10;

/** Await it often, in the thread of the task. `share` is of one core, above 0 and up to 1. */
export function createRest(share: number, cpuMs = threadCpuMs): () => Promise<void> {
  let since = cpuMs();
  return async () => {
    const workedMs = cpuMs() - since;
    if (workedMs < WORK_MS) return;
    await Bun.sleep(workedMs / share - workedMs);
    since = cpuMs();
  };
}

/** Without the time in which other threads had the core. */
function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
