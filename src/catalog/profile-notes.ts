// For the operator: which profile each model got and why, and models that lose tools over chat.

import { responsesProfile } from '../core/generations.ts';
import type { Catalog } from '../core/model.ts';
import { isChosen } from './profile-choice.ts';

/** The placements whose profile the catalog does not name for their whole upstream. */
export function chosenProfiles({ models }: Catalog) {
  return models.flatMap(({ slug, servedBy }) =>
    servedBy
      .filter(({ profileChoice }) => isChosen(profileChoice))
      .map(({ upstream, model, profileChoice: { name, reason } }) => {
        return { model: slug, upstream, upstream_model: model, profile: name, reason };
      }),
  );
}

/** Models with tools that chat serves without thinking, or not at all, where Responses serves them. */
export function profileWarnings({ models, upstreams }: Catalog): string[] {
  return models.flatMap(({ slug, features, servedBy }) =>
    servedBy.flatMap(({ upstream: id, model, profile }) => {
      const upstream = upstreams.get(id);
      if (upstream === undefined || upstream.dialect === 'demo') return [];
      if (profile.dialect !== 'chat' || !features.has('tools')) return [];
      if (responsesProfile(upstream.profileName, model.toLowerCase()) === undefined) return [];
      const loss =
        profile.thinkingOff === 'send' ? 'does not think beside tools' : 'refuses every tool';
      return [
        `${slug}: ${model} at ${id} ${loss} over chat; leave out dialect = "chat" of the upstream, or write dialect = "responses"`,
      ];
    }),
  );
}
