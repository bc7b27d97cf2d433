// What the build puts into the pages, and what it takes out of them.

/** Where the application lies: `/dashboard` or `/operator`. */
declare const APP_PREFIX: '/dashboard' | '/operator';

declare module '*.css';
