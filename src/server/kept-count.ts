// Decides when a node reads again how much is kept of thinking and answers. The sums are those of
// up to two million rows, and the owner of an account can remove its rows at will, so they are read
// at intervals and not at each removal. Until then a sum is too large, which may drop answers early.

export type KeptCount = {
  /** Rows may have been removed past this node's own stores. */
  readonly outdate: () => void;
  /** Call it at intervals. `isShared`: other nodes add rows, and the leader sweeps them. */
  readonly refresh: (isShared: boolean) => void;
};

export function createKeptCount(recount: () => void): KeptCount {
  let isOutdated = false;
  return {
    outdate() {
      isOutdated = true;
    },
    refresh(isShared) {
      if (!isShared && !isOutdated) return;
      isOutdated = false;
      recount();
    },
  };
}
