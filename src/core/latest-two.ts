// The two accounts that something last happened to, and when. Called where it matters whether more
// than one account is concerned; two places are enough to know that, for any number of accounts.

type LatestTwo = {
  readonly note: (account: string, nowMs: number) => void;
  /** When it last happened to another account than this one. */
  readonly othersAt: (account: string) => number;
  /** When it last happened to another account than the latest. */
  readonly secondAt: () => number;
};

/** Times are milliseconds of a clock that never jumps; what never happened lies before all of them. */
export function createLatestTwo(): LatestTwo {
  let latest: string | undefined;
  let latestAt = Number.NEGATIVE_INFINITY;
  let secondAt = Number.NEGATIVE_INFINITY;
  return {
    note(account, nowMs) {
      if (account !== latest) {
        secondAt = latestAt;
        latest = account;
      }
      latestAt = nowMs;
    },
    othersAt: (account) => (account === latest ? secondAt : latestAt),
    secondAt: () => secondAt,
  };
}
