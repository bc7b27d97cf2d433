// Whose records a page shows: those of the signed-in account, or those of all accounts.

export type Audience = 'account' | 'all';
