// Alerts in the console: grouped by kind and subject, the latest first, and acknowledged.

import { Type } from '@sinclair/typebox';
import { acknowledgeAlert, alertRecord, listAlerts } from '../../operations/alerts.ts';
import type { MachineDependencies } from '../dependencies.ts';
import { type List, wholeList } from '../edge/page.ts';
import { type OperatorRoutes, sessionRoute, viewRoute } from '../edge/route.ts';
import { readTime } from '../period.ts';
import type { AlertRecord } from '../records/operator-server.ts';
import { changeOf } from './dependencies.ts';

export function alertRoutes(dependencies: MachineDependencies): OperatorRoutes {
  const { store, machine } = dependencies;
  return [
    viewRoute({
      path: '/alerts',
      quiet: true,
      async handle(): Promise<List<AlertRecord>> {
        await machine.storeAlerts();
        return wholeList((await listAlerts(store.database)).map(alertRecord));
      },
    }),
    sessionRoute({
      method: 'POST',
      path: '/alerts/:id/acknowledge',
      permission: 'alerts.acknowledge',
      /** `last_at` of the alert as it was shown. */
      body: { last_at: Type.String({ maxLength: 40 }) },
      async handle({ param, body, actor }): Promise<AlertRecord> {
        const lastAt = readTime(body.last_at, 'last_at', 'body');
        return alertRecord(
          await acknowledgeAlert(changeOf(dependencies, actor), param('id'), lastAt),
        );
      },
    }),
  ];
}
