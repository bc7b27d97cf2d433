// Counts by name, such as the open requests of each account. Names without a count are dropped, so a
// map is as large as what is counted at the moment.

/** Takes `amount` from a count. */
export function takeOff(counts: Map<string, number>, name: string, amount = 1): void {
  const left = (counts.get(name) ?? 0) - amount;
  if (left > 0) counts.set(name, left);
  else counts.delete(name);
}
