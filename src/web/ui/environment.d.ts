// Constants and modules that the build provides to the pages.

/** The path prefix of the application: `/dashboard` or `/operator`. */
declare const APP_PREFIX: '/dashboard' | '/operator';

declare module '*.css';
