// `tollgate upstream list|test|disable|enable|reset`: lists where models run, tests them, and takes a
// place out of service without a change of the catalog. A running server applies it within a second.

import type { Command } from 'commander';
import type { Place } from '../catalog/disabled.ts';
import type { Catalog, Upstream } from '../core/model.ts';
import {
  disabledPlaces,
  disablePlace,
  enablePlace,
  placeRecord,
  resetUpstream,
} from '../operations/upstreams.ts';
import { addCommand, addGroup, type Output, type Perform, table } from './command.ts';
import type { Context } from './context.ts';
import { changeOf } from './open-operations.ts';

export function addUpstreamCommands(program: Command, perform: Perform): void {
  const group = addGroup(program, 'upstream', 'list upstreams, and take them out of service');
  perform(addCommand(group, 'list', 'list the upstreams and the models that they serve'), list);
  perform(
    addCommand(
      group,
      'test [upstream] [model]',
      'ask models for short answers, whole and streamed, which the upstreams charge for',
    ),
    async (...args) => (await import('./upstream-test.ts')).testUpstreams(...args),
  );
  perform<DisableOptions>(
    addCommand(group, 'disable <upstream>', 'send no new requests there until it is enabled')
      .option('--model <model>', 'only those for this model')
      .option('--reason <text>', 'why', ''),
    async (context, { model, reason }, upstream = '') => {
      const place = { upstream, model };
      const disabled = await disablePlace(
        await changeOf(context),
        context.catalog(),
        place,
        reason,
      );
      return {
        json: { disabled: placeRecord(disabled) },
        text: `${nameOf(disabled)} is out of service. Running requests there continue.`,
      };
    },
  );
  perform<{ readonly model?: string }>(
    addCommand(group, 'enable <upstream>', 'put it back into service').option(
      '--model <model>',
      'this model at it',
    ),
    async (context, { model }, upstream = '') => {
      const place = { upstream, model };
      const enabled = await enablePlace(await changeOf(context), context.catalog(), place);
      const words = enabled ? 'is in service again.' : 'was in service.';
      return { json: { enabled }, text: `${nameOf(place)} ${words}` };
    },
  );
  perform(
    addCommand(group, 'reset <upstream>', 'reset its failures, so that it is used at once'),
    async (context, _options, upstream = '') => {
      await resetUpstream(await changeOf(context), context.catalog(), upstream);
      return {
        json: { reset: upstream },
        text: `A running server resets the failures of ${upstream} within a second.`,
      };
    },
  );
}

type DisableOptions = { readonly model?: string; readonly reason: string };

async function list(context: Context): Promise<Output> {
  const catalog = context.catalog();
  const disabled = await disabledPlaces(await context.openStore(), catalog);
  const upstreams = [...catalog.upstreams.values()].map((upstream) => ({
    ...placeFacts(upstream),
    models: modelsAt(catalog, upstream.id),
  }));
  const header = ['UPSTREAM', 'DIALECT', 'ADDRESS', 'MODELS', 'OUT OF SERVICE'];
  const rows = upstreams.map(({ id, dialect, base_url, models }) => {
    const out = disabled.filter(({ upstream }) => upstream === id);
    const words = out.map(({ model }) => model ?? 'all').join(', ');
    return [id, dialect, base_url ?? '-', models.join(', ') || '-', words || '-'];
  });
  const gone = disabled.filter(({ known }) => !known);
  return {
    json: { upstreams, disabled: disabled.map(placeRecord) },
    text: [
      table(header, rows),
      ...gone.map((place) => `${nameOf(place)} is out of service, and not in the catalog.`),
    ].join('\n'),
  };
}

function placeFacts(upstream: Upstream) {
  const { id, dialect } = upstream;
  return { id, dialect, base_url: upstream.dialect === 'demo' ? null : upstream.baseUrl } as const;
}

function modelsAt({ models }: Catalog, id: string): string[] {
  return models.flatMap(({ slug, servedBy }) =>
    servedBy.some(({ upstream }) => upstream === id) ? [slug] : [],
  );
}

function nameOf({ upstream, model }: Place): string {
  return model === undefined ? upstream : `${model} at ${upstream}`;
}
