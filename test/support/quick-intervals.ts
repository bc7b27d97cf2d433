// Preloaded by a gateway: what it repeats every second or more, it repeats ten times as often, so that
// no test waits for its periodic work. Timeouts stay as they are. It includes the shifted clock.

import './shifted-clock.ts';

const start = globalThis.setInterval;

globalThis.setInterval = ((task: () => void, ms = 0) =>
  start(task, ms < 1_000 ? ms : ms / 10)) as typeof setInterval;
