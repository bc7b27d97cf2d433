// Maintenance in the console: while on, every request is rejected with 503 and the message.

import { Type } from '@sinclair/typebox';
import { type OperatorRoutes, scopedRoute } from '../edge/route.ts';
import { type MaintenanceRecord, maintenanceAnswer } from '../records/operator-lists.ts';
import type { PeopleDependencies } from './dependencies.ts';

export function maintenanceRoutes({ store: { settings } }: PeopleDependencies): OperatorRoutes {
  const read = async (): Promise<MaintenanceRecord> => {
    const { on, message = null } = await settings.maintenance();
    return { maintenance: on, message };
  };
  return [
    scopedRoute({
      method: 'GET',
      path: '/maintenance',
      name: 'get_maintenance',
      scope: 'service:read',
      summary: 'Returns whether maintenance is on.',
      answer: maintenanceAnswer,
      handle: read,
    }),
    scopedRoute({
      method: 'POST',
      path: '/maintenance',
      name: 'set_maintenance',
      scope: 'service:write',
      summary: 'Switches maintenance on or off. While it is on, every request gets 503.',
      body: {
        maintenance: Type.Boolean({ description: 'Whether it is on.' }),
        message: Type.Optional(
          Type.String({ maxLength: 1_000, description: 'The message to clients.' }),
        ),
      },
      answer: maintenanceAnswer,
      codes: ['invalid_message'],
      example: { maintenance: true, message: 'Back at 12:00 UTC.' },
      async handle({ body: { maintenance: on, message }, actor }) {
        await settings.setMaintenance(message === undefined ? { on } : { on, message }, actor);
        return read();
      },
    }),
  ];
}
