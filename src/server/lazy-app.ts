// One of the two applications where the server mounts it: loaded at its first visit. What fails is
// logged and never reaches a browser in its own words: the framework would answer them.

import type { DashboardApp } from '../dashboard/edge/app.ts';
import { securityHeaders } from '../dashboard/edge/respond.ts';
import type { Mount } from '../http/exchange.ts';

const UNAVAILABLE = {
  error: {
    code: 'unavailable',
    message: 'The pages cannot be shown at the moment. Try again in a minute.',
  },
};

/** Never rejects. An application that could not be loaded is loaded anew at the next visit. */
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
