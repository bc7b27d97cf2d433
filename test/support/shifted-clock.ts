// Run before a gateway: its wall clock is behind by as many milliseconds as CLOCK_BEHIND_MS says, so
// that what is done now was done days ago.

const now = Date.now.bind(Date);
const behindMs = Number(process.env['CLOCK_BEHIND_MS'] ?? 0);

Date.now = () => now() - behindMs;

export {};
