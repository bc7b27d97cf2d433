// The version of Tollgate. The build writes version and commit into the executable; from source,
// the version comes from package.json.

import { version } from '../package.json';

declare const TOLLGATE_VERSION: string | undefined;
declare const TOLLGATE_COMMIT: string | undefined;

const released = typeof TOLLGATE_VERSION === 'string' ? TOLLGATE_VERSION : version;
const commit = typeof TOLLGATE_COMMIT === 'string' ? TOLLGATE_COMMIT : 'source';

/** Version and build, as in `0.1.0+3379986`; `0.1.0+source` outside a build. */
export const VERSION = `${released}+${commit}`;
