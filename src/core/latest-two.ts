// The two accounts to which something last happened, and when. Two entries suffice to know whether
// more than one account is affected.

/**
 * Times are milliseconds of a monotonic clock. An event that never happened is at minus infinity.
 */
export function createLatestTwo() {
  let latest: string | undefined;
  let latestAt = Number.NEGATIVE_INFINITY;
  let secondAt = Number.NEGATIVE_INFINITY;
  return {
    note(account: string, nowMs: number): void {
      if (account !== latest) {
        secondAt = latestAt;
        latest = account;
      }
      latestAt = nowMs;
    },
    /** The last time it happened to an account other than this one. */
    othersAt: (account: string): number => (account === latest ? secondAt : latestAt),
    /** The last time it happened to an account other than the latest. */
    secondAt: (): number => secondAt,
  };
}
