// The start page of the console and its live feed, the same for all operators; alerts; and the nodes.

import { Type } from '@sinclair/typebox';
import { isoTime } from '../../core/calendar.ts';
import { acknowledgeAlert, alertRecord, listAlerts } from '../../operations/alerts.ts';
import type { MachineDependencies } from '../dependencies.ts';
import { createFeeds } from '../edge/feed.ts';
import { type List, wholeList } from '../edge/page.ts';
import { type OperatorRoutes, scopedRoute, viewRoute } from '../edge/route.ts';
import { readTime } from '../period.ts';
import type { NodeRecord } from '../records/operator-node.ts';
import {
  alertAnswer,
  alertListAnswer,
  type OperatorOverviewRecord,
} from '../records/operator-server.ts';
import { changeOf } from './dependencies.ts';
import { machineReader, openRecord } from './server.ts';

export function overviewRoutes(dependencies: MachineDependencies): OperatorRoutes {
  const feeds = createFeeds(dependencies);
  const read = machineReader(dependencies);
  return [
    viewRoute({
      path: '/overview',
      async handle(): Promise<OperatorOverviewRecord> {
        const { version, startedAt } = dependencies.machine.node();
        const { data } = await read();
        return { version, started_at: isoTime(startedAt), live: data };
      },
    }),
    viewRoute({
      path: '/open',
      quiet: true,
      handle: () => openRecord(dependencies),
    }),
    viewRoute({
      path: '/feed',
      quiet: true,
      // The feed limit is per operator; the data is the same for all.
      handle: (call) => feeds.open(call, { key: call.who.userId, start: () => read }),
    }),
  ];
}

export function alertRoutes(dependencies: MachineDependencies): OperatorRoutes {
  const { store, machine } = dependencies;
  return [
    scopedRoute({
      method: 'GET',
      path: '/alerts',
      quiet: true,
      name: 'list_alerts',
      scope: 'alerts:read',
      summary: 'Lists alerts of all nodes, newest first.',
      answer: alertListAnswer,
      async handle() {
        await machine.storeAlerts();
        return wholeList((await listAlerts(store.database)).map(alertRecord));
      },
    }),
    scopedRoute({
      method: 'POST',
      path: '/alerts/:id/acknowledge',
      access: 'session',
      name: 'acknowledge_alert',
      scope: 'alerts:write',
      summary: 'Acknowledges an alert unless it was raised again.',
      body: {
        last_at: Type.String({
          maxLength: 40,
          description: '`last_at` of the alert as it was read.',
        }),
      },
      answer: alertAnswer,
      codes: ['alert_raised_again'],
      example: { last_at: '2026-11-29T12:00:00.000Z' },
      async handle({ param, body, actor }) {
        const lastAt = readTime(body.last_at, 'last_at', 'body');
        return alertRecord(
          await acknowledgeAlert(changeOf(dependencies, actor), param('id'), lastAt),
        );
      },
    }),
  ];
}

export function nodeRoutes(dependencies: MachineDependencies): OperatorRoutes {
  const { machine } = dependencies;
  return [
    viewRoute({
      path: '/nodes',
      quiet: true,
      async handle(): Promise<List<NodeRecord>> {
        const own = machine.node();
        const process = {
          runtime: own.runtime,
          resident_bytes: own.residentBytes,
          heap_bytes: own.heapBytes,
          cpu_seconds: tenths(own.cpuSeconds),
          loop_lag_ms: tenths(machine.activity.loopLagMs()),
        };
        const nodes = await machine.nodes();
        return wholeList(
          nodes.map((node) => ({ ...node, process: node.id === own.id ? process : null })),
        );
      },
    }),
  ];
}

function tenths(value: number): number {
  return Math.round(value * 10) / 10;
}
