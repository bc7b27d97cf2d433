// Keeps a test of what is counted by the day away from the end of the day, in UTC.

const DAY_MS = 86_400_000;
/** More than such a test may take. */
const MARGIN_MS = 20_000;

/** Waits for the next day where this one is about to end. */
export async function awayFromMidnight(): Promise<void> {
  const leftMs = DAY_MS - (Date.now() % DAY_MS);
  if (leftMs < MARGIN_MS) await Bun.sleep(leftMs + 10);
}
