// How much memory this process uses, as the system sees it.

/** In bytes; undefined where the system cannot be asked: it takes a file descriptor. */
export function residentBytes(): number | undefined {
  try {
    return process.memoryUsage.rss();
  } catch {
    return undefined;
  }
}
