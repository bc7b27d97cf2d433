// The two accounts that something last happened to, and when. Called where it matters whether more
// than one account is concerned; two places are enough to know that, for any number of accounts.

/** Times are milliseconds of a clock that never jumps; what never happened lies before all of them. */
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
    /** When it last happened to another account than this one. */
    othersAt: (account: string): number => (account === latest ? secondAt : latestAt),
    /** When it last happened to another account than the latest. */
    secondAt: (): number => secondAt,
  };
}
