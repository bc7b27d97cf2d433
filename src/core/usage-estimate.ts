// The numbers of an estimated usage, as the books, the receipts and explanations have them.

/** How an estimated usage was made: whole numbers, from which `recompute` gives the same usage. */
export type Estimate = {
  /** Our count of a prompt that the upstream had not reported, and the usual report of it. */
  readonly counted?: number;
  readonly ratioPercent?: number;
  /** Output tokens that were read, or that the upstream had reported. */
  readonly seen: number;
  /** How long the upstream worked unseen, and the tokens with which such times ended. */
  readonly quietMs: number;
  readonly quietTokens: number;
  /** Output tokens a second. */
  readonly pace: number;
  /** The most that the answer was allowed to have; absent where it was less. */
  readonly most?: number;
};
