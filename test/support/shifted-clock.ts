// Run before a gateway: its wall clock is behind by as many milliseconds as CLOCK_BEHIND_MS says, so
// that what is done now was done days ago. On SIGUSR2 it goes on by a day, and says so.

const DAY_MS = 86_400_000;

const now = Date.now.bind(Date);
let behindMs = Number(process.env['CLOCK_BEHIND_MS'] ?? 0);

Date.now = () => now() - behindMs;

process.on('SIGUSR2', () => {
  behindMs -= DAY_MS;
  process.stdout.write('a day has passed\n');
});

export {};
