// Mounts pages, and loads them at their first visit. Logs failures itself: the framework would send
// their messages to the browser.

import { isHttps, publicUrl } from '../config/urls.ts';
import type { DashboardApp } from '../dashboard/edge/app.ts';
import { securityHeaders } from '../dashboard/edge/respond.ts';
import type { Mount } from '../http/exchange.ts';
import type { Base } from './base.ts';
import type { Observation } from './observation.ts';

const UNAVAILABLE = {
  error: {
    code: 'unavailable',
    message: 'The pages cannot be shown at the moment. Try again in a minute.',
  },
};

export type PageMountOptions = Pick<Base, 'config'> & {
  readonly observation: Pick<Observation, 'log'>;
  /** The actual port of the public listener. */
  readonly port: () => number;
};

/** What mounts of pages have in common; `trouble` is logged where a page fails. */
export function pageMounts({ config, observation, port }: PageMountOptions, trouble: string) {
  return {
    url: () => publicUrl(config, port()),
    headers: () => securityHeaders(isHttps(config)),
    mount: (load: () => Promise<DashboardApp>): Mount =>
      lazyMount(load, (error) => observation.log.error(trouble, error)),
  };
}

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
