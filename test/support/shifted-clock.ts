// Preloaded by a gateway: its wall clock is CLOCK_BEHIND_MS milliseconds behind, so that present
// actions are days old. On SIGUSR2 it advances by a day and prints a line.

const DAY_MS = 86_400_000;

const now = Date.now.bind(Date);
let behindMs = Number(process.env['CLOCK_BEHIND_MS'] ?? 0);

Date.now = () => now() - behindMs;

process.on('SIGUSR2', () => {
  behindMs -= DAY_MS;
  process.stdout.write('a day has passed\n');
});

export {};
