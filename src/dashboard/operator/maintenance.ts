// Maintenance in the console: while on, every request is rejected with 503 and the message.

import { Type } from '@sinclair/typebox';
import { type OperatorRoutes, stepUpRoute, viewRoute } from '../edge/route.ts';
import type { MaintenanceRecord } from '../records/operator-lists.ts';
import type { PeopleDependencies } from './dependencies.ts';

export function maintenanceRoutes({ store: { settings } }: PeopleDependencies): OperatorRoutes {
  const read = async (): Promise<MaintenanceRecord> => {
    const { on, message = null } = await settings.maintenance();
    return { maintenance: on, message };
  };
  return [
    viewRoute({ path: '/maintenance', handle: read }),
    stepUpRoute({
      method: 'POST',
      path: '/maintenance',
      permission: 'service.manage',
      body: {
        maintenance: Type.Boolean(),
        message: Type.Optional(Type.String({ maxLength: 1_000 })),
      },
      async handle({ body: { maintenance: on, message }, actor }): Promise<MaintenanceRecord> {
        await settings.setMaintenance(message === undefined ? { on } : { on, message }, actor);
        return read();
      },
    }),
  ];
}
