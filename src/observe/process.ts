// How much memory and processor time this process uses, as the system sees it.

/** In bytes; undefined where the system cannot be asked: it takes a file descriptor. */
export function residentBytes(): number | undefined {
  try {
    return process.memoryUsage.rss();
  } catch {
    return undefined;
  }
}

/** Processor time of all threads so far, in seconds. */
export function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000_000;
}
