// Mounts the dashboard or the console, and loads it at its first visit. Logs failures itself: the
// framework would send their messages to the browser.

import type { DashboardApp } from '../dashboard/edge/app.ts';
import { securityHeaders } from '../dashboard/edge/respond.ts';
import type { Mount } from '../http/exchange.ts';

const UNAVAILABLE = {
  error: {
    code: 'unavailable',
    message: 'The pages cannot be shown at the moment. Try again in a minute.',
  },
};

/** Never rejects. After a failed load, the next visit tries again. */
export function lazyMount(
  load: () => Promise<DashboardApp>,
  onError: (error: unknown) => void,
): Mount {
  let loading: Promise<DashboardApp> | undefined;

  async function loaded(): Promise<DashboardApp> {
    loading ??= load();
    try {
      return await loading;
    } catch (error) {
      loading = undefined;
      throw error;
    }
  }

  return async (request, server) => {
    try {
      const app = await loaded();
      return await app(request, server);
    } catch (error) {
      onError(error);
      const headers = { ...securityHeaders(false), 'cache-control': 'no-store' };
      return Response.json(UNAVAILABLE, { status: 503, headers });
    }
  };
}
