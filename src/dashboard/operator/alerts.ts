// Alerts in the console: grouped by kind and subject, the latest first, and acknowledged.

import { Type } from '@sinclair/typebox';
import { parseInstant } from '../../core/instant.ts';
import type { SignedInOperator } from '../../identity/signed-in.ts';
import { acknowledgeAlert, alertRecord, listAlerts } from '../../operations/alerts.ts';
import type { MachineDependencies } from '../dependencies.ts';
import { DashboardError } from '../edge/error.ts';
import { type List, wholeList } from '../edge/page.ts';
import { type Route, sessionRoute } from '../edge/route.ts';
import type { AlertRecord } from '../records/operator-server.ts';
import { changeOf } from './dependencies.ts';

export function alertRoutes(dependencies: MachineDependencies): readonly Route<SignedInOperator>[] {
  const { store, machine } = dependencies;
  return [
    sessionRoute({
      method: 'GET',
      path: '/alerts',
      permission: 'view',
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
        const lastAt = parseInstant(body.last_at);
        if (lastAt === undefined) {
          throw new DashboardError('invalid_request', 'The field last_at is not a time.', {
            param: 'last_at',
          });
        }
        return alertRecord(
          await acknowledgeAlert(changeOf(dependencies, actor), param('id'), lastAt),
        );
      },
    }),
  ];
}
