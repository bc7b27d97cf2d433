// How long work takes the processor. Other processes of a busy machine lengthen its time, but not this.

/** Begins to measure. Returns a function for the milliseconds that this process has used since. */
export function cpuTimer(): () => number {
  const before = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  };
}
